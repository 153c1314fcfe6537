"""Scores of labels, row by row, for all labels or for some; and what is read off them.

A row lists labels in an order, each once, with a score; a label that it does not list has score 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

UNLISTED: Final = 2**31 - 1
"""The place of a label that a row does not list: behind all others."""


@dataclass(frozen=True, slots=True)
class DenseScores:
    """Rows that all list the same labels in the same order.

    Attributes:
        label: (k,) int64, distinct, in the order listed.
        score: (n, k) float64.
    """

    label: Ints
    score: Floats

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, slots=True)
class SparseScores:
    """Rows that list some labels each.

    Attributes:
        start: (n + 1,) int64: row i lists start[i] … start[i + 1] - 1.
        label: (e,) int32, distinct in each row, in the order listed.
        score: (e,) float64.
    """

    start: Ints
    label: NDArray[np.int32]
    score: Floats

    def __len__(self) -> int:
        return len(self.start) - 1


Scores: TypeAlias = DenseScores | SparseScores
