"""Lay out runs of numbers so that running sums and maxima work on whole rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

WIDTH = 8
"""Neighbours in a column: as many steps walk a column, and an eighth of the numbers is left."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of numbers in columns of eight rows.

    NumPy adds neighbours along an axis one by one. Here a step along all columns is the sum of two
    rows, and what the columns hand on to each other is the same task again, an eighth as large.
    Numbers have the shape (8, columns, lanes); a lane is one resample. The last column of a run
    repeats the run's last number in its empty slots.

    Attributes:
        element: (8, columns) the number in each slot.
        padding: (8, columns) whether it is a repetition.
        run: (columns,) the run of each column.
        first: (f,) columns that begin a run.
        above: The columns' own runs; None where no run has two.
        before, after: (columns,) the slot of `above` that has the column before, or after, in the
            run; where there is none, one slot behind all.
    """

    element: Rows
    padding: NDArray[np.bool_]
    run: Rows
    first: Rows
    above: Runs | None
    before: Rows
    after: Rows

    @classmethod
    def of(cls, lengths: Rows) -> Runs:
        """The layout of consecutive runs, none of them empty."""
        columns = -(-lengths // WIDTH)
        run = np.repeat(np.arange(len(lengths)), columns)
        place = np.arange(len(run)) - (np.cumsum(columns) - columns)[run]
        at = place * WIDTH + np.arange(WIDTH)[:, None]
        begin = np.cumsum(lengths) - lengths
        element = begin[run] + np.minimum(at, (lengths - 1)[run])
        padding = at >= lengths[run]
        first = place == 0
        above = cls.of(columns) if columns.max(initial=0) > 1 else None
        before = after = np.zeros(0, np.int64)
        if above is not None:
            slot, nowhere = above.slots(), above.element.size
            before = np.where(first, nowhere, np.roll(slot, 1))
            after = np.where(np.roll(first, -1), nowhere, np.roll(slot, -1))
        return cls(element, padding, run, np.flatnonzero(first), above, before, after)

    def slots(self) -> Rows:
        """(n,) the slot of each number, counted along the rows."""
        real = np.flatnonzero(~self.padding)
        slot = np.empty(len(real), np.int64)
        slot[self.element.ravel()[real]] = real
        return slot

    def add_up(self, numbers: NDArray[Any]) -> None:
        """Running sums within each run, in place; padding must be 0."""
        for row in range(1, WIDTH):
            numbers[row] += numbers[row - 1]
        if self.above is not None:
            handed = self._handed(self.above, numbers[-1])
            slots = handed[:-1].reshape(*self.above.element.shape, numbers.shape[-1])
            slots[self.above.padding] = 0
            self.above.add_up(slots)
            numbers += handed.take(self.before, axis=0)

    def best_from(self, numbers: NDArray[Any]) -> None:
        """Maximum from each number to the end of its run, in place; numbers are non-negative."""
        for row in range(WIDTH - 2, -1, -1):
            np.maximum(numbers[row], numbers[row + 1], out=numbers[row])
        if self.above is not None:
            handed = self._handed(self.above, numbers[0])
            self.above.best_from(handed[:-1].reshape(*self.above.element.shape, numbers.shape[-1]))
            np.maximum(numbers, handed.take(self.after, axis=0), out=numbers)

    @staticmethod
    def _handed(above: Runs, columns: NDArray[Any]) -> NDArray[Any]:
        """What columns hand on, (slots above + 1, lanes), with a row of zeros behind."""
        handed = np.zeros((above.element.size + 1, columns.shape[1]), columns.dtype)
        columns.take(above.element.ravel(), axis=0, out=handed[:-1], mode="clip")
        return handed
