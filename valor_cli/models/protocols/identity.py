"""Identify a model by its name and the hash of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from valor_cli.errors import ConfigError, Problem
from valor_cli.results import Scalar

_AT_ONCE = 1 << 20


class ModelIdentity(Struct, frozen=True):
    """The identity of a model that values depend on.

    Attributes:
        name: As results call it: an id of a hub, or the name of a folder or file.
        sha256: Of its files; None of a model behind an API, whose bytes nobody sees.
    """

    name: str
    sha256: str | None = None

    @property
    def shown(self) -> str:
        """Short form for messages: "minilm-int8 (sha256 8199be6f1434)"."""
        return self.name if self.sha256 is None else f"{self.name} (sha256 {self.sha256[:12]})"

    @property
    def beside(self) -> Mapping[str, Scalar]:
        """Parameters recorded with every value that uses the model."""
        return {"model": self.name, "model_sha256": self.sha256}


class Unavailable(Exception):  # noqa: N818  # what it says of the model
    """A model is not on this machine; the message has the command that downloads it."""


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal digits.

    Raises:
        ConfigError: It cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(_AT_ONCE):
                digest.update(part)
    except OSError as error:
        problem = Problem(str(path), f"cannot be read: {error.strerror or error}")
        raise ConfigError(problem) from None
    return digest.hexdigest()


def sha256_of_files(paths: Iterable[Path]) -> str:
    """SHA-256 of the names and bytes of several files, independent of their folder.

    Raises:
        ConfigError: One cannot be read.
    """
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda one: one.name):
        digest.update(f"{path.name}\0{sha256_of(path)}\n".encode())
    return digest.hexdigest()
