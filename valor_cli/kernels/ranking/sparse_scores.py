"""Score rows that each list some labels, and what dense and sparse rows answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import blocks, offsets, order_of_codes
from valor_cli.kernels.columns.grouping import spread as ranges

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64] | NDArray[np.bool_]
RowNumbers: TypeAlias = NDArray[np.int64] | NDArray[np.int32]

UNLISTED: Final = 2**31 - 1
"""The place of a label that a row does not list: behind all others."""

SCORES_AT_ONCE: Final = 1 << 17
"""Scores that a block of rows holds: a megabyte of them, which fits the processor's cache."""

ENTRIES_GROUPED: Final = 1 << 20
"""Entries that are grouped by label together, unless that would take too many passes."""

PASSES: Final = 8
"""Passes over all entries to group them by label, at most."""


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

    @property
    def row(self) -> Ints:
        """(e,) the row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def take(self, rows: Rows) -> SparseScores:
        """Select rows by a mask or by numbers, in that order."""
        count = np.diff(self.start)
        entries: NDArray[Any]
        if rows.dtype == bool:
            entries = np.repeat(rows, count)
        else:
            entries = ranges(self.start[:-1][rows], count[rows])
        return SparseScores(offsets(count[rows]), self.label[entries], self.score[entries])

    def between(self, low: int, high: int) -> SparseScores:
        """Rows in a range, without copying."""
        first, last = self.start[low], self.start[high]
        start = self.start[low : high + 1] - first
        return SparseScores(start, self.label[first:last], self.score[first:last])

    def relabelled(self, codes: Ints, *, highest: bool = False) -> SparseScores:
        """Rename label l to codes[l]; -1 drops it.

        Scores of labels that become one are added, or the highest of them counts, and stand where
        the first of them is listed.
        """
        label = codes.astype(np.int32)[self.label]
        if not all_distinct(codes):
            return self._merged(label, highest=highest)
        kept = label >= 0
        if kept.all():
            return replace(self, label=label)
        start = offsets(kept)[self.start]
        return SparseScores(start, label[kept], self.score[kept])

    def _merged(self, label: NDArray[np.int32], *, highest: bool) -> SparseScores:
        """Rows that list these labels instead, some of them more than once."""
        row = self.row
        kept = np.flatnonzero(label >= 0)
        cell = row[kept] * (int(label.max(initial=0)) + 1) + label[kept]
        _, first, group = np.unique(cell, return_index=True, return_inverse=True)
        if highest:
            total = np.full(len(first), -np.inf)
            np.maximum.at(total, group, self.score[kept])
        else:
            total = np.bincount(group, self.score[kept], len(first)).astype(np.float64)
        order = np.argsort(first)
        entry = kept[first[order]]
        start = offsets(np.bincount(row[entry], minlength=len(self)))
        return SparseScores(start, label[entry], total[order])

    def spread(self, rows: Ints, count: int) -> SparseScores:
        """`count` rows, with row i at rows[i] and empty rows elsewhere."""
        length = np.zeros(count, np.int64)
        length[rows] = np.diff(self.start)
        ordered = self if (rows[1:] > rows[:-1]).all() else self.take(np.argsort(rows))
        return replace(ordered, start=offsets(length))

    def without_zeros(self) -> SparseScores:
        """The rows without labels of score 0."""
        kept = self.score != 0
        return SparseScores(offsets(kept)[self.start], self.label[kept], self.score[kept])

    def last_listed_first(self) -> SparseScores:
        """The rows with the order of labels reversed."""
        mirrored = np.repeat(self.start[:-1] + self.start[1:] - 1, np.diff(self.start))
        entries = mirrored - np.arange(len(self.label))
        return SparseScores(self.start, self.label[entries], self.score[entries])

    def best(self, choices: Ints | None = None) -> Best:
        """The top label of each row.

        Args:
            choices: (n,) how many labels there are for each row to list; None for those that it
                lists. A label that is not listed has score 0, which goes before scores below 0.
        """
        found = no_best(len(self))
        for piece in self._pieces():
            highest = np.zeros(piece.size)
            listing = piece.length > 0
            if listing.any():
                first = (np.cumsum(piece.length) - piece.length)[listing]
                highest[listing] = np.maximum.reduceat(piece.score, first)
            if choices is not None:
                highest[(highest < 0) & (piece.length < choices[piece.rows])] = 0
            at = np.flatnonzero((piece.score == highest[piece.row]) & (piece.score != 0))
            row = piece.row[at]
            leading = np.ones(len(row), bool)
            leading[1:] = row[1:] != row[:-1]
            label = np.full(piece.size, -1)
            label[row[leading]] = piece.label[at[leading]]
            found.label[piece.rows] = label
            found.score[piece.rows] = highest
            found.tied[piece.rows] = np.bincount(row, minlength=piece.size) > 1
        return found

    def of(self, label: Ints) -> Floats:
        """(n,) score of that label in each row, 0 if not listed."""
        found = np.zeros(len(self))
        for piece in self._pieces():
            at = np.flatnonzero(piece.label == label[piece.rows][piece.row])
            found[piece.rows][piece.row[at]] = piece.score[at]
        return found

    def place_of(self, label: Ints, choices: Ints | None = None) -> Ints:
        """(n,) rank of the label: by score, ties in listed order.

        Args:
            label: (n,) of each row.
            choices: As for `best`.
        """
        place = np.full(len(self), UNLISTED)
        for piece in self._pieces():
            at = np.flatnonzero(piece.label == label[piece.rows][piece.row])
            listed = piece.row[at]
            score, entry = np.zeros(piece.size), np.zeros(piece.size, np.int64)
            score[listed], entry[listed] = piece.score[at], at
            own = score[piece.row]
            before = piece.score > own
            before |= (piece.score == own) & (np.arange(len(own)) < entry[piece.row])
            counts = np.bincount(piece.row[before], minlength=piece.size)
            if choices is not None:
                counts += np.where(score < 0, choices[piece.rows] - piece.length, 0)
            place[piece.rows][listed] = counts[listed]
        return place

    def total(self) -> Floats:
        """(n,) sum of the scores."""
        found = np.zeros(len(self))
        for piece in self._pieces():
            found[piece.rows] = piece.sums(piece.score)
        return found

    def squares(self) -> Floats:
        """(n,) sum of the squares of the scores."""
        found = np.zeros(len(self))
        for piece in self._pieces():
            found[piece.rows] = piece.sums(piece.score * piece.score)
        return found

    def listed(self, count: int) -> NDArray[np.bool_]:
        """(count,) whether any row lists each label."""
        found = np.zeros(count, bool)
        for label, _ in self._entries():
            found[label] = True
        return found

    def above_zero(self, count: int) -> NDArray[np.bool_]:
        """(count,) whether any row scores each label above 0."""
        found = np.zeros(count, bool)
        for label, score in self._entries():
            found[label[score > 0]] = True
        return found

    def by_label(self, count: int) -> Iterator[tuple[RowNumbers, Floats]]:
        """For each label 0 … count - 1, its rows with nonzero scores, and the scores.

        Rows ascend. No other labels are listed.
        """
        row = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start))
        for entries in self._grouped(count):
            yield row[entries], self.score[entries]

    def ascending(self, count: int) -> Iterator[Floats]:
        """For each label 0 … count - 1, its nonzero scores in ascending order."""
        for entries in self._grouped(count):
            score = self.score[entries]
            score.sort()
            yield score

    def sparse(self) -> SparseScores:
        """These rows."""
        return self

    def _grouped(self, count: int) -> Iterator[Ints]:
        """Of each label, where it stands with a score other than 0, ascending.

        Entries of many labels are sorted together, of so few that what it takes is small beside
        the scores.
        """
        label = self.label.astype(np.min_scalar_type(count))
        # What has no score is called as no label is, and never asked for.
        label[self.score == 0] = count
        each = np.zeros(count + 1, np.int64)
        for first in range(0, len(label), ENTRIES_GROUPED):
            each += np.bincount(label[first : first + ENTRIES_GROUPED], minlength=count + 1)
        each = each[:count]
        for labels in blocks(each, max(ENTRIES_GROUPED, -(-int(each.sum()) // PASSES))):
            entries = np.flatnonzero((label >= labels.start) & (label < labels.stop))
            code = label[entries] - label.dtype.type(labels.start)
            entries = entries[order_of_codes(code, labels.stop - labels.start)]
            ends = np.cumsum(each[labels]).tolist()
            for begin, end in zip([0, *ends[:-1]], ends, strict=True):
                yield entries[begin:end]

    def _entries(self) -> Iterator[tuple[NDArray[np.int32], Floats]]:
        """Labels listed and their scores, a block at a time."""
        step = SCORES_AT_ONCE
        for first in range(0, len(self.label), step):
            yield self.label[first : first + step], self.score[first : first + step]

    def _pieces(self) -> Iterator[_Piece]:
        length = np.diff(self.start)
        # A row counts as one more, so that a long stretch of empty rows is cut too.
        for rows in blocks(length + 1, SCORES_AT_ONCE):
            entries = slice(self.start[rows.start], self.start[rows.stop])
            row = np.repeat(np.arange(rows.stop - rows.start), length[rows])
            yield _Piece(rows, length[rows], row, self.label[entries], self.score[entries])


class _Piece(NamedTuple):
    """A block of rows.

    Attributes:
        rows: Which they are.
        length: (b,) how many labels each lists.
        row: (e,) the row of each label listed, counted from the first of the block.
        label, score: (e,) as in `SparseScores`.
    """

    rows: slice
    length: Ints
    row: Ints
    label: NDArray[np.int32]
    score: Floats

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.length)

    def sums(self, values: Floats) -> Floats:
        """(b,) sums over what each row lists, to the last bit those of dense rows that list it.

        Rows of one length are added up together: NumPy adds numbers of a row in an order of its
        own, and the last bit decides on which side of a bin's edge a probability falls.
        """
        found = np.zeros(self.size)
        first = np.cumsum(self.length) - self.length
        for length in np.flatnonzero(np.bincount(self.length)).tolist():
            rows = np.flatnonzero(self.length == length)
            if len(rows) == self.size:
                return np.asarray(values.reshape(self.size, length).sum(axis=1))
            found[rows] = values[first[rows, None] + np.arange(length)].sum(axis=1)
        return found


def joined_sparse(parts: Sequence[SparseScores]) -> SparseScores:
    """Concatenate rows."""
    return SparseScores(
        offsets(np.concatenate([np.diff(part.start) for part in parts])),
        np.concatenate([part.label for part in parts]),
        np.concatenate([part.score for part in parts]),
    )
