"""Texts and their vectors come in; what was kept under one model goes out, to later runs too."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class VectorStore:
    """The vectors that one model made of texts; a context manager."""

    @classmethod
    def open(cls, model: str) -> Self:
        """Open the store of a model, or make it; `model` says which, and how it is used."""
        return cls()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""

    def find(self, texts: Sequence[str]) -> dict[str, NDArray[np.floating[Any]]]:
        """The vectors of those texts that have one."""
        return {}

    def keep(self, texts: Sequence[str], vectors: NDArray[np.floating[Any]]) -> None:
        """Have them for later runs; on disk when it returns."""
