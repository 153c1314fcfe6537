"""Result types shared by dense and sparse score rows."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64] | NDArray[np.bool_]
RowNumbers: TypeAlias = NDArray[np.int64] | NDArray[np.int32]

UNLISTED: Final = 2**31 - 1
"""The place of a label that a row does not list: behind all others."""

SCORES_AT_ONCE: Final = 1 << 17
"""Scores that a block of rows holds: a megabyte of them, which fits the processor's cache."""


class Best(NamedTuple):
    """(n,) top label of each row.

    Attributes:
        label: The label with the highest score, of equal ones the first listed; -1 where that score
            is 0 or nothing is listed, and where it is below the 0 of a label that is not listed.
        score: Its score; 0 where there is none.
        tied: Whether another label has the same score; False where there is none.
    """

    label: Ints
    score: Floats
    tied: NDArray[np.bool_]


def no_best(count: int) -> Best:
    """An empty result for a number of rows."""
    return Best(np.full(count, -1), np.zeros(count), np.zeros(count, bool))


def without_zeros(ascending: Floats) -> Floats:
    """Ascending scores without zeros."""
    begin, end = ascending.searchsorted(0.0), ascending.searchsorted(0.0, side="right")
    return ascending if begin == end else np.delete(ascending, slice(begin, end))


def all_distinct(codes: Ints) -> bool:
    """Whether codes are distinct, except -1 for none."""
    used = codes[codes >= 0]
    return len(np.unique(used)) == len(used)
