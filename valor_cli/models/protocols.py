"""Protocols of embedders, token encoders and classifiers; what identifies a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

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


class Embedder(Protocol):
    """A model that embeds texts. Backends inherit what is usual of all else than `embed`.

    Attributes:
        name: As results call it.
        identity: Which model it is.
        remote: Whether asking it leaves this machine.
        keeps: The cache key of its vectors, which tells apart the bytes of models and all else that
            changes vectors (pooling, prompt …); None if caching is not worthwhile.
        longest: Maximum number of tokens; None if unlimited or unknown.
    """

    name: str
    identity: ModelIdentity
    remote: bool = False
    keeps: str | None = None
    longest: int | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """(texts, dimensions) vectors, independent of the other texts.

        Raises:
            NoAnswer: None could be had.
            ValorError: None ever will: a wrong key, a text that the file of vectors lacks.
        """

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated, as far as is known."""
        return 0

    async def close(self) -> None:
        """Release resources; it can be used again afterwards."""
        return


ENCODING = "encoding tokens"
"""What a run is at meanwhile, for those who watch it."""


class TokenStates(NamedTuple):
    """Tokens of a text with their vectors.

    Attributes:
        ids: (tokens,) in the model's vocabulary, special tokens included.
        special: (tokens,) which of them are special: they stand for no word.
        states: (tokens, dimensions) the hidden states of one layer, not of unit length.
    """

    ids: NDArray[np.int64]
    special: NDArray[np.bool_]
    states: NDArray[np.floating[Any]]


class TokenEncoder(Protocol):
    """A model that returns a contextual vector for every token.

    Attributes:
        identity: Which model it is.
        layer: Whose hidden states these are, counted from the embeddings, which are 0.
        longest: Tokens of a text that it sees, special ones included.
    """

    identity: ModelIdentity
    layer: int
    longest: int

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        """Token states of each text, in order; long texts are truncated.

        Raises:
            Stopped: The run ends.
        """

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""


class Pair(NamedTuple):
    """A premise, and a hypothesis that it may support."""

    premise: str
    hypothesis: str


class Classifier(Protocol):
    """A model that returns label probabilities.

    Attributes:
        identity: Which model it is.
        labels: As the model calls them, in its order.
        exclusive: Whether one label holds alone, so that the probabilities sum to 1.
        window: Tokens that it sees at once, special ones included.
    """

    identity: ModelIdentity
    labels: tuple[str, ...]
    exclusive: bool
    window: int

    def of_texts(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """(windows, labels) probabilities of each text; one window unless it is longer.

        Raises:
            Stopped: The run ends.
        """

    def of_pairs(self, pairs: Sequence[Pair]) -> list[NDArray[np.float64]]:
        """(hypothesis windows, premise windows, labels) probabilities of each pair.

        Raises:
            Stopped: The run ends.
        """


Architecture = Literal["causal", "encoder_decoder"]


class Passage(NamedTuple):
    """A target text and its prompt."""

    prompt: str
    target: str
