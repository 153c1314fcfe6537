"""Sum unit weights over rows for several resamples at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Whole = NDArray[np.signedinteger]

WORD = 8
"""Bytes of a machine word: so many resamples stand side by side, or a multiple."""

ROWS_AT_ONCE = 1 << 14
"""Rows of weights that stay in the cache."""

_BITS: Mapping[int, type[np.unsignedinteger]] = {
    8: np.uint8,
    16: np.uint16,
    32: np.uint32,
    64: np.uint64,
}


@dataclass(frozen=True, slots=True)
class Lanes:
    """Weights of units in several resamples, one lane each, adjacent in memory.

    Taking a unit's row serves all lanes, and one addition of machine words adds as many lanes as
    fit a word, as long as no sum outgrows its lane.

    Attributes:
        table: (2 * units + 2, lanes) the weights, a row of zeros (row `units`), then all that
            negative, in the same order.
        units: How many units there are.
        count: How many lanes are resamples; behind them stand lanes of zeros.
        most: The largest weight.
    """

    table: Whole
    units: int
    count: int
    most: int

    @classmethod
    def of(cls, weights: NDArray[np.int64]) -> Lanes:
        """Lanes of (resamples, units) non-negative weights."""
        count, units = weights.shape
        most = int(weights.max(initial=0))
        kind = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if _holds(kind, most))
        table = np.zeros((2 * units + 2, -(-count // WORD) * WORD), kind)
        table[:units, :count] = weights.T
        np.negative(table[: units + 1], out=table[units + 1 :])
        return cls(table, units, count, most)

    @property
    def width(self) -> int:
        """Number of lanes."""
        return len(self.table[0])

    def sums(self, unit: Rows, starts: Rows) -> NDArray[np.unsignedinteger]:
        """(pieces, lanes) summed weights of consecutive units.

        Args:
            unit: (n,) units.
            starts: (pieces,) ascending, where each piece of `unit` begins; none is empty, and the
                last one ends with `unit`.
        """
        longest = int(np.diff(starts, append=len(unit)).max(initial=0))
        size = next(bits for bits in _BITS if longest * self.most < 1 << bits)
        lane = _BITS[max(size, 8 * self.table.itemsize)]
        weights = self.table[: self.units + 1].astype(lane)
        found = np.empty((len(starts), self.width), lane)
        words = found.view(np.uint64)
        for pieces, rows in _cut(starts, len(unit)):
            taken = weights.take(unit[rows], axis=0).view(np.uint64)
            np.add.reduceat(taken, starts[pieces] - rows.start, axis=0, out=words[pieces])
        return found

    def tallies(self, group: Rows, unit: Rows, length: int) -> NDArray[np.int64]:
        """(lanes, length) summed weights of each group's units.

        Args:
            group: (n,) ascending groups.
            unit: (n,) the units.
            length: How many groups there are.
        """
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        found = np.zeros((self.width, length), np.int64)
        found[:, group[starts]] = self.sums(unit, starts).T
        return found


def _holds(kind: type[np.signedinteger], most: int) -> bool:
    return most <= np.iinfo(kind).max


def _cut(starts: Rows, length: int) -> Iterator[tuple[slice, slice]]:
    """Slices of the pieces, and of their rows, whose weights stay in the cache."""
    ends = np.append(starts[1:], length)
    first = 0
    while first < len(starts):
        begin = int(starts[first])
        last = max(int(np.searchsorted(ends, begin + ROWS_AT_ONCE, side="right")), first + 1)
        yield slice(first, last), slice(begin, int(ends[last - 1]))
        first = last
