"""Protocol of embedders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.protocols.identity import ModelIdentity


class Embedder(Protocol):
    """A model that embeds texts.

    Attributes:
        name: As results call it.
        remote: Whether asking it leaves this machine.
        identity: Which model it is.
    """

    name: str
    remote: bool
    identity: ModelIdentity

    @property
    def keeps(self) -> str | None:
        """The cache key of its vectors; None if caching is not worthwhile.

        It tells apart the bytes of models and all else that changes vectors (pooling, prompt …).
        """

    @property
    def longest(self) -> int | None:
        """Maximum number of tokens; None if unlimited or unknown."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """(texts, dimensions) vectors, independent of the other texts.

        Raises:
            NoAnswer: None could be had.
            ValorError: None ever will: a wrong key, a text that the file of vectors lacks.
        """

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""

    async def close(self) -> None:
        """Release resources; it can be used again afterwards."""
