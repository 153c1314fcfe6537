"""Group rows by sample into a `ScoreFile` with one row per sample.

Faults between rows are reported here: duplicate samples, rows of one sample that contradict each
other, and samples without a true label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.column_names import quoted
from valor_cli.data.shapes.scores.columns import Codes, ScoreColumns
from valor_cli.data.table import Problems
from valor_cli.data.tape import Ints
from valor_cli.data.values import describe
from valor_cli.kernels.columns.grouping import begins, spread
from valor_cli.kernels.columns.texts import order_of
from valor_cli.kernels.ranking.scores import DenseScores, Scores, SparseScores, set_numbers


class Named(Struct, frozen=True):
    """Names of codes and columns, for messages.

    Attributes:
        labels: By code.
        keys: Label keys, by code.
        truth: The name of the true label.
        key: The name of the label key.
    """

    labels: Sequence[str]
    keys: Sequence[str]
    truth: str
    key: str


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
        sets = self._columns.truths
        value: NDArray[Any] = truth if sets is None else set_numbers(sets)
        first = self._first(said)
        own = value[np.minimum(first, len(value) - 1)]
        for row in np.flatnonzero(said & (value != own[self.sample])).tolist():
            there = int(first[self.sample[row]])
            expected, found = (self._truth(one) for one in (there, row))
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

    def _truth(self, row: int) -> str:
        """The true label of a row, or all of them."""
        columns, labels = self._columns, self._named.labels
        if columns.truths is not None:
            some = columns.truths.between(row, row + 1).label.tolist()
            return f"[{', '.join(quoted(labels[code]) for code in some)}]"
        return quoted(labels[int(columns.truth[row])]) if columns.truth is not None else ""

    def _who(self, row: int) -> str:
        name = quoted(self._columns.sample_id[row].decode())
        key = None if self._columns.key is None else int(self._columns.key[row])
        of = "" if key is None else f" (label key {quoted(self._named.keys[key])})"
        return f"the sample {name}{of}"

    def _at(self, row: Any) -> str:
        return self._problems.row(int(self._columns.line[row]))


class Samples(NamedTuple):
    """One row for each sample and label key.

    Attributes:
        columns: The rows. `count`, `label` and `score` are in `scores`.
        scores: What they list; None for ground truth alone.
        dropped: How many lines were left out.
    """

    columns: ScoreColumns
    scores: Scores | None
    dropped: int


def one_a_sample(columns: ScoreColumns, named: Named, problems: Problems, *, long: bool) -> Samples:
    """Bring rows together, in the order in which samples first appear; faulty ones are left out.

    Args:
        columns: The rows, in the order of the file.
        named: For messages.
        problems: Where faults are noted.
        long: Whether a row is one label of a sample, so that a sample may have several.
    """
    columns = _keyed(columns, named, problems)
    lost: NDArray[Any] = columns.line[:0]
    if not long:
        # A row that is all of a sample is wrong by itself, whatever another says of the sample.
        alone = RowChecks(columns, np.arange(len(columns)), named, problems)
        alone.missing_labels()
        lost = columns.line[alone.bad]
        columns = columns.take(~alone.bad) if len(lost) else columns
    order, starts = _segments(columns)
    if order is not None:
        columns = columns.take(order)
    checks = RowChecks(columns, _numbered(starts, len(columns)), named, problems)
    if len(starts) < len(columns):
        checks.repeated_samples(long=long)
        checks.contradicted_labels()
        checks.contradicted_metadata()
        checks.repeated_labels()
    checks.missing_labels()
    kept = ~checks.bad
    if not kept.all():
        lost = np.append(lost, columns.line[~kept])
        columns = columns.take(kept)
        starts = np.flatnonzero(begins(checks.sample[kept])) if len(columns) else starts[:0]
    dropped = len(set(lost.tolist()))
    return Samples(_first_rows(columns, starts), _scores(columns, starts), dropped)


def _keyed(columns: ScoreColumns, named: Named, problems: Problems) -> ScoreColumns:
    """Rows without a label key, where others have one: empty, or an error."""
    if columns.key is None or (columns.key >= 0).all():
        return columns
    without = columns.key < 0
    says = np.zeros(len(columns), np.bool_)
    if columns.truth is not None:
        says |= columns.truth >= 0
    if columns.count is not None:
        says |= columns.count > 0
    elif columns.score is not None:
        says[:] = True
    for row in np.flatnonzero(without & says).tolist():
        there = problems.row(int(columns.line[~without][0]))
        message = f"expected a label key as on {there}, found none"
        problems.add(int(columns.line[row]), named.key, message)
    return columns.take(~without)


def _segments(columns: ScoreColumns) -> tuple[Ints | None, Ints]:
    """The order that brings rows of a sample together, and where each sample begins in it.

    None for the order that rows have.
    """
    ids, key = columns.sample_id, columns.key
    new = sample_begins(ids, key)
    starts = np.flatnonzero(new)
    if len(starts) == len(columns):
        heads, head_keys = ids, key
    else:
        heads, head_keys = ids[starts], None if key is None else key[starts]
    order = order_of_samples(heads, head_keys)
    apart = sample_begins(heads[order], None if head_keys is None else head_keys[order])
    if apart.all():
        return None, starts
    order = order_of_samples(ids, key)
    sorted_starts = np.flatnonzero(sample_begins(ids[order], None if key is None else key[order]))
    counts = np.diff(np.append(sorted_starts, len(order)))
    by_appearance = np.argsort(order[sorted_starts], kind="stable")
    counts = counts[by_appearance]
    return order[spread(sorted_starts[by_appearance], counts)], np.cumsum(counts) - counts


def order_of_samples(ids: NDArray[Any], key: Codes | None) -> Ints:
    """The order that brings rows of one id and label key together."""
    order = order_of(ids)
    if key is None:
        return order
    rank = np.empty(len(ids), np.int64)
    rank[order] = np.cumsum(begins(ids[order]))
    return np.lexsort((key, rank))


def sample_begins(ids: NDArray[Any], key: Codes | None) -> NDArray[np.bool_]:
    """(n,) which rows are not of the sample and label key of the row before."""
    return begins(ids) if key is None else begins(ids) | begins(key)


def _numbered(starts: Ints, total: int) -> Ints:
    """The number of the sample of each row."""
    kind = np.int32 if len(starts) < 2**31 else np.int64
    return np.repeat(np.arange(len(starts), dtype=kind), np.diff(np.append(starts, total)))


def _first_rows(columns: ScoreColumns, starts: Ints) -> ScoreColumns:
    """A row for each sample, without what it lists."""
    bare = replace(columns, count=None, label=None, score=None)
    if len(starts) == len(columns):
        return bare
    sample = _numbered(starts, len(columns))
    said: Mapping[str, NDArray[Any]] = {
        name: values[_first_saying(values != None, sample, starts)]  # noqa: E711 - for each value
        for name, values in columns.metadata.items()
    }
    truth, truths = columns.truth, columns.truths
    if truth is not None:
        at = _first_saying(truth >= 0, sample, starts)
        truth = truth[at]
        truths = None if truths is None else truths.take(at)
    return replace(bare.take(starts), truth=truth, truths=truths, metadata=said)


def _first_saying(said: NDArray[np.bool_], sample: Ints, starts: Ints) -> Ints:
    """Of each sample the first row that says something, or its first row."""
    at = starts.copy()
    if not said[at].all():
        rows = np.flatnonzero(said)[::-1]
        at[sample[rows]] = rows
    return at


def _scores(columns: ScoreColumns, starts: Ints) -> Scores | None:
    """What each sample lists: dense where all list the same labels in the same order."""
    score, count, label = columns.score, columns.count, columns.label
    if score is None:
        return None
    if count is None or label is None:
        return DenseScores(np.arange(score.shape[1] if score.ndim == 2 else 0), score)
    counts = np.add.reduceat(count, starts, dtype=np.int64) if len(starts) else count
    width = int(counts[0]) if len(counts) else 0
    if width > 1 and (counts == width).all():
        rows = label.reshape(-1, width)
        if (rows[0] == rows[-1]).all() and (rows == rows[0]).all():
            return DenseScores(rows[0].astype(np.int64), score.reshape(-1, width))
    return SparseScores(np.append(0, np.cumsum(counts)), label.astype(np.int32, copy=False), score)
