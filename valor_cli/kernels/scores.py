"""Scores of labels, row by row, for all labels or for some; and what is read off them.

A row lists labels in an order, each once, with a score; a label that it does not list has score 0.
Both kinds of rows answer the same questions. They work in blocks of rows that fit the processor's
cache, so that a question costs no second copy of the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.columns import spread as ranges

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64] | NDArray[np.bool_]

UNLISTED: Final = 2**31 - 1
"""The place of a label that a row does not list: behind all others."""

SCORES_AT_ONCE: Final = 1 << 17
"""Scores that a block of rows holds: a megabyte of them."""


class Best(NamedTuple):
    """(n,) what each row puts first.

    Attributes:
        label: The label with the highest score, of equal ones the first listed; -1 where that score
            is 0 or nothing is listed.
        score: Its score; 0 where there is none.
        tied: Whether another label has the same score; False where there is none.
    """

    label: Ints
    score: Floats
    tied: NDArray[np.bool_]


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

    def take(self, rows: Rows) -> DenseScores:
        """Some rows, by a mask or by their numbers, in that order."""
        return DenseScores(self.label, self.score[rows])

    def relabelled(self, codes: Ints) -> DenseScores:
        """Label l is called codes[l]; where that is -1 it leaves. Others stay distinct."""
        label = codes[self.label]
        kept = label >= 0
        score = self.score if kept.all() else self.score[:, kept]
        return DenseScores(label[kept], score)

    def spread(self, rows: Ints, count: int) -> DenseScores:
        """`count` rows, of which rows[i] is row i; the others have nothing but zeros."""
        score = np.zeros((count, len(self.label)))
        score[rows] = self.score
        return DenseScores(self.label, score)

    def last_listed_first(self) -> DenseScores:
        """The same rows, with the labels of each in the opposite order."""
        return DenseScores(self.label[::-1], self.score[:, ::-1])

    def best(self) -> Best:
        """The label that each row puts first."""
        found = _no_best(len(self))
        if len(self.label):
            for rows in self._blocks():
                score = self.score[rows]
                at = score.argmax(axis=1)
                highest = score[np.arange(len(score)), at]
                equal = (np.ascontiguousarray(score.T) == highest).sum(axis=0)
                listed = highest != 0
                found.label[rows] = np.where(listed, self.label[at], -1)
                found.score[rows] = np.where(listed, highest, 0.0)
                found.tied[rows] = listed & (equal > 1)
        return found

    def of(self, label: Ints) -> Floats:
        """(n,) the score of that label in each row, 0 where it is not listed."""
        column = self._columns(label)
        found = np.zeros(len(self))
        listed = np.flatnonzero(column >= 0)
        found[listed] = self.score[listed, column[listed]]
        return found

    def place_of(self, label: Ints) -> Ints:
        """(n,) how many labels stand before it: by score, of equal ones in the order listed."""
        column, score = self._columns(label), self.of(label)
        place = np.full(len(self), UNLISTED)
        order = np.arange(len(self.label))[:, None]
        for rows in self._blocks():
            scores = np.ascontiguousarray(self.score[rows].T)
            before = scores > score[rows]
            before |= (scores == score[rows]) & (order < column[rows])
            place[rows] = np.where(column[rows] >= 0, before.sum(axis=0), UNLISTED)
        return place

    def total(self) -> Floats:
        """(n,) sum of the scores."""
        found = np.zeros(len(self))
        for rows in self._blocks():
            found[rows] = np.ascontiguousarray(self.score[rows]).sum(axis=1)
        return found

    def squares(self) -> Floats:
        """(n,) sum of the squares of the scores."""
        found = np.zeros(len(self))
        for rows in self._blocks():
            score = np.ascontiguousarray(self.score[rows])
            found[rows] = (score * score).sum(axis=1)
        return found

    def by_label(self, count: int) -> Iterator[tuple[int, Ints, Floats]]:
        """Scores other than 0: label, rows and scores; labels ascending, and rows of each.

        A label without such a score does not come. `count` labels there are at most.
        """
        for column in np.argsort(self.label).tolist():
            score = self.score[:, column]
            rows = np.flatnonzero(score)
            if len(rows):
                yield int(self.label[column]), rows, score[rows]

    def sparse(self) -> SparseScores:
        """The same rows, with the labels of each written out."""
        rows, width = self.score.shape
        label = np.tile(self.label.astype(np.int32), rows)
        return SparseScores(np.arange(rows + 1) * width, label, self.score.ravel())

    def _blocks(self) -> Iterator[slice]:
        step = max(SCORES_AT_ONCE // max(len(self.label), 1), 1)
        for first in range(0, len(self), step):
            yield slice(first, min(first + step, len(self)))

    def _columns(self, label: Ints) -> Ints:
        """(n,) the column of a label for each row; -1 where it has none."""
        highest = max(int(label.max(initial=-1)), int(self.label.max(initial=-1)))
        column = np.full(highest + 2, -1)
        column[self.label] = np.arange(len(self.label))
        return np.asarray(column[label])


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

    def take(self, rows: Rows) -> SparseScores:
        """Some rows, by a mask or by their numbers, in that order."""
        count = np.diff(self.start)
        entries: NDArray[Any]
        if rows.dtype == bool:
            entries = np.repeat(rows, count)
        else:
            entries = ranges(self.start[:-1][rows], count[rows])
        return SparseScores(_starts(count[rows]), self.label[entries], self.score[entries])

    def relabelled(self, codes: Ints) -> SparseScores:
        """Label l is called codes[l]; where that is -1 it leaves. Others stay distinct."""
        label = codes.astype(np.int32)[self.label]
        kept = label >= 0
        if kept.all():
            return replace(self, label=label)
        start = np.append(0, np.cumsum(kept))[self.start]
        return SparseScores(start, label[kept], self.score[kept])

    def spread(self, rows: Ints, count: int) -> SparseScores:
        """`count` rows, of which rows[i] is row i; the others list nothing."""
        length = np.zeros(count, np.int64)
        length[rows] = np.diff(self.start)
        ordered = self if (rows[1:] > rows[:-1]).all() else self.take(np.argsort(rows))
        return replace(ordered, start=_starts(length))

    def last_listed_first(self) -> SparseScores:
        """The same rows, with the labels of each in the opposite order."""
        mirrored = np.repeat(self.start[:-1] + self.start[1:] - 1, np.diff(self.start))
        entries = mirrored - np.arange(len(self.label))
        return SparseScores(self.start, self.label[entries], self.score[entries])

    def best(self) -> Best:
        """The label that each row puts first."""
        found = _no_best(len(self))
        for piece in self._pieces():
            highest = np.zeros(piece.size)
            listing = piece.length > 0
            if listing.any():
                first = (np.cumsum(piece.length) - piece.length)[listing]
                highest[listing] = np.maximum.reduceat(piece.score, first)
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
        """(n,) the score of that label in each row, 0 where it is not listed."""
        found = np.zeros(len(self))
        for piece in self._pieces():
            at = np.flatnonzero(piece.label == label[piece.rows][piece.row])
            found[piece.rows][piece.row[at]] = piece.score[at]
        return found

    def place_of(self, label: Ints) -> Ints:
        """(n,) how many labels stand before it: by score, of equal ones in the order listed."""
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

    def by_label(self, count: int) -> Iterator[tuple[int, Ints, Floats]]:
        """Scores other than 0: label, rows and scores; labels ascending, and rows of each.

        A label without such a score does not come. `count` labels there are at most.
        """
        # A stable sort of 16-bit numbers is a radix sort.
        label = self.label.astype(np.uint16) if count <= 1 << 16 else self.label
        row = np.repeat(np.arange(len(self)), np.diff(self.start))
        score = self.score
        counted = score != 0
        if not counted.all():
            label, row, score = label[counted], row[counted], score[counted]
        order = np.argsort(label, kind="stable")
        ends = np.cumsum(np.bincount(label, minlength=count)).tolist()
        row, score = row[order], score[order]
        for one, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            if begin < end:
                yield one, row[begin:end], score[begin:end]

    def sparse(self) -> SparseScores:
        """These rows."""
        return self

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
        """How many rows there are."""
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


Scores: TypeAlias = DenseScores | SparseScores


def joined_scores(parts: Sequence[Scores]) -> Scores:
    """The rows of several parts, one part after the other.

    They stay dense if all list the same labels in the same order.
    """
    dense = [part for part in parts if isinstance(part, DenseScores)]
    if len(dense) == len(parts) and all(
        np.array_equal(part.label, dense[0].label) for part in dense
    ):
        return DenseScores(dense[0].label, np.concatenate([part.score for part in dense]))
    rows = [part.sparse() for part in parts]
    return SparseScores(
        _starts(np.concatenate([np.diff(part.start) for part in rows])),
        np.concatenate([part.label for part in rows]),
        np.concatenate([part.score for part in rows]),
    )


def _starts(length: Ints) -> Ints:
    """Where each of some rows begins, and where the last ends."""
    start = np.zeros(len(length) + 1, np.int64)
    np.cumsum(length, out=start[1:])
    return start


def _no_best(count: int) -> Best:
    return Best(np.full(count, -1), np.zeros(count), np.zeros(count, bool))
