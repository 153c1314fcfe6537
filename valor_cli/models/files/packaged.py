"""List the models that are installed as packages."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from valor_cli.errors import ConfigError, MissingExtraError
from valor_cli.models.files.minilm import SHA256, minilm_file
from valor_cli.models.files.smollm2 import INSTALL, smollm2_file
from valor_cli.models.protocols.identity import Unavailable
from valor_cli.models.settings.models import MINILM, SMOLLM2


class PackagedModel(Struct, frozen=True):
    """A model installed as a package.

    Attributes:
        name: As configs call it.
        state: In words, whether it is there.
        broken: Whether what is there is another file.
    """

    name: str
    state: str
    broken: bool = False


def packaged_models() -> Iterator[PackagedModel]:
    """The models that need no network; none is loaded."""
    yield _minilm()
    try:
        yield PackagedModel(SMOLLM2, f"{smollm2_file().name} is there")
    except Unavailable:
        yield PackagedModel(SMOLLM2, f"not installed; install: {INSTALL}")


def _minilm() -> PackagedModel:
    try:
        minilm_file()
    except MissingExtraError as lack:
        return PackagedModel(MINILM, f"not installed; install: {lack.hint}")
    except ConfigError as fault:
        told = "; ".join(map(str, fault.problems))
        return PackagedModel(MINILM, f"{told}; run: {fault.hint}", broken=True)
    return PackagedModel(MINILM, f"as released (sha256 {SHA256[:12]})")
