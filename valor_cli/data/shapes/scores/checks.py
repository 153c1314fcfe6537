"""Check that the rows of one sample agree with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.column_names import quoted
from valor_cli.data.shapes.scores.columns import Codes, ScoreColumns
from valor_cli.data.tape import Ints
from valor_cli.data.values import Problems, describe
from valor_cli.kernels.columns.texts import begins


class Named(Struct, frozen=True):
    """Names of codes and columns, for messages.

    Attributes:
        labels: By code.
        keys: Label keys, by code.
        truth: The name of the true label.
        key: The name of the label key.
        place: How a line is named: "line {row}".
    """

    labels: Sequence[str]
    keys: Sequence[str]
    truth: str
    key: str
    place: str = "line {row}"


class RowChecks:
    """Checks of the adjacent rows of a sample.

    Attributes:
        sample: (n,) the number of the sample of each row, ascending.
        bad: (n,) rows that cannot be used.
    """

    def __init__(
        self, columns: ScoreColumns, sample: Ints, named: Named, problems: Problems
    ) -> None:
        self.sample = sample
        self.bad = np.zeros(len(columns), np.bool_)
        self._columns = columns
        self._named = named
        self._problems = problems

    def repeated_samples(self, *, long: bool) -> None:
        """Report samples on several lines, where a line is a whole sample."""
        count = self._columns.count
        if long and count is not None and count.max(initial=0) <= 1:
            return
        first = self._first(np.ones(len(self.sample), np.bool_))
        again = np.ones(len(self.sample), np.bool_)
        again[first] = False
        if long and count is not None:
            many = np.zeros(len(first), np.bool_)
            np.logical_or.at(many, self.sample, count > 1)
            again &= many[self.sample]
        for row in np.flatnonzero(again).tolist():
            there = self._at(first[self.sample[row]])
            self._note(row, "", f"{self._who(row)} is also on {there}")

    def contradicted_labels(self) -> None:
        """Report rows whose true label differs from the first."""
        truth = self._columns.truth
        if truth is None:
            return
        said = (truth >= 0) & ~self.bad
        first = self._first(said)
        own = truth[np.minimum(first, len(truth) - 1)]
        for row in np.flatnonzero(said & (truth != own[self.sample])).tolist():
            there = int(first[self.sample[row]])
            expected, found = (
                quoted(self._named.labels[code]) for code in (truth[there], truth[row])
            )
            message = (
                f"expected {expected} for {self._who(row)} as on {self._at(there)}, found {found}"
            )
            self._note(row, self._named.truth, message)

    def contradicted_metadata(self) -> None:
        """Report rows whose metadata differs from the first."""
        for name, values in self._columns.metadata.items():
            said = np.array([value is not None for value in values.tolist()]) & ~self.bad
            first = self._first(said)[self.sample]
            wrong = said & (values != values[np.minimum(first, len(values) - 1)])
            for row in np.flatnonzero(wrong).tolist():
                message = (
                    f"expected {describe(values[first[row]])} for {self._who(row)} as on "
                    f"{self._at(first[row])}, found {describe(values[row])}"
                )
                self._note(row, name, message)

    def repeated_labels(self) -> None:
        """Report labels that an earlier row of the sample lists."""
        count, label = self._columns.count, self._columns.label
        if count is None or label is None:
            return
        # Most files have none of these: then one column of numbers is all that it takes.
        cell = self._cells(count, label)
        if self.bad.any():
            cell = cell[~np.repeat(self.bad, count)]
        cell.sort()
        if begins(cell).all():
            return
        row = np.repeat(np.arange(len(count)), count)
        listed = np.flatnonzero(~self.bad[row])
        row, cell = row[listed], self._cells(count, label)[listed]
        order = np.argsort(cell, kind="stable")
        new = begins(cell[order])
        # The row that listed it first, for every label listed.
        first = row[order][np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))]
        for at in np.flatnonzero(~new & (first != row[order])).tolist():
            one = int(row[order][at])
            name = quoted(self._named.labels[int(label[listed[order[at]]])])
            message = f"{self._who(one)} has the label {name} on {self._at(first[at])} too"
            self._note(one, "", message)

    def _cells(self, count: Codes, label: Codes) -> Ints:
        """(e,) a number for each sample and label."""
        cell = np.repeat(self.sample, count).astype(np.int64)
        cell *= int(label.max(initial=0)) + 1
        cell += label
        return cell

    def missing_labels(self) -> None:
        """Report samples without a true label, in a file that has true labels."""
        truth = self._columns.truth
        if truth is None or (truth >= 0).all():
            return
        never = self._first(truth >= 0) == len(truth)
        for row in self._first(np.ones(len(truth), np.bool_))[never].tolist():
            message = f"expected the true label of {self._who(row)}, found nothing"
            self._note(row, self._named.truth, message)
        # Nor can a sample be used whose label is only on rows that cannot.
        left = self._first((truth >= 0) & ~self.bad) == len(truth)
        self.bad |= left[self.sample]

    def _first(self, where: NDArray[np.bool_]) -> Ints:
        """The first row of each sample at which something holds; the number of rows for none."""
        if where.all():
            return np.flatnonzero(begins(self.sample))
        n = len(where)
        first = np.full(int(self.sample[-1]) + 1 if n else 0, n)
        rows = np.flatnonzero(where)[::-1]
        # Of several rows of a sample, the last written stays.
        first[self.sample[rows]] = rows
        return first

    def _note(self, row: int, key: str, message: str) -> None:
        if not self.bad[row]:
            self._problems.add(int(self._columns.line[row]), key, message)
        self.bad[row] = True

    def _who(self, row: int) -> str:
        name = quoted(self._columns.sample_id[row].decode())
        key = None if self._columns.key is None else int(self._columns.key[row])
        of = "" if key is None else f" (label key {quoted(self._named.keys[key])})"
        return f"the sample {name}{of}"

    def _at(self, row: Any) -> str:
        return self._named.place.format(row=self._columns.line[row])
