"""What an embedder is: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.protocols.identity import ModelIdentity


class Embedder(Protocol):
    """A model that makes vectors of texts.

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
        """Under what its vectors may be kept for later runs; None: not worth keeping.

        It tells apart the bytes of models and all else that changes vectors (pooling, prompt …).
        """

    @property
    def longest(self) -> int | None:
        """Tokens of a text that it sees; None: all, or not known."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """(texts, dimensions) a vector of each, whatever its length; the same in any company.

        Raises:
            NoAnswer: None could be had.
            ValorError: None ever will: a wrong key, a text that the file of vectors lacks.
        """

    def cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than it sees."""

    async def close(self) -> None:
        """Give back what it holds; it may be asked again afterwards."""
