"""What an embedder is: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """A model that makes vectors of texts.

    Attributes:
        name: As results call it.
        remote: Whether asking it leaves this machine.
    """

    name: str
    remote: bool

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) a vector of each.

        Raises:
            NoAnswer: None could be had.
            ValorError: None ever will: a wrong key, a text that the file of vectors lacks.
        """

    async def close(self) -> None:
        """Give back what it holds."""
