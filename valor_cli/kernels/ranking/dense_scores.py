"""Score rows that all list the same labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.ranking import sparse_scores
from valor_cli.kernels.ranking.sparse_scores import (
    UNLISTED,
    Best,
    Floats,
    Ints,
    RowNumbers,
    Rows,
    SparseScores,
    all_distinct,
    no_best,
    without_zeros,
)


@dataclass(frozen=True, slots=True)
class DenseScores:
    """Rows that list the same labels in the same order.

    Attributes:
        label: (k,) int64, distinct, in the order listed.
        score: (n, k) float64.
    """

    label: Ints
    score: Floats

    def __len__(self) -> int:
        return len(self.score)

    def take(self, rows: Rows) -> DenseScores:
        """Select rows by a mask or by numbers, in that order."""
        return DenseScores(self.label, self.score[rows])

    def between(self, low: int, high: int) -> DenseScores:
        """Rows in a range, without copying."""
        return DenseScores(self.label, self.score[low:high])

    def relabelled(self, codes: Ints, *, highest: bool = False) -> DenseScores:
        """Rename label l to codes[l]; -1 drops it.

        Scores of labels that become one are added, or the highest of them counts, and stand where
        the first of them is listed.
        """
        label = codes[self.label]
        if not all_distinct(codes):
            return self._merged(label, highest=highest)
        kept = label >= 0
        score = self.score if kept.all() else self.score[:, kept]
        return DenseScores(label[kept], score)

    def _merged(self, label: Ints, *, highest: bool) -> DenseScores:
        """Rows that list these labels instead, some of them more than once."""
        names = list(dict.fromkeys(label[label >= 0].tolist()))
        score = np.zeros((len(self), len(names)))
        for at, name in enumerate(names):
            columns = np.flatnonzero(label == name)
            if highest:
                score[:, at] = self.score[:, columns].max(axis=1)
                continue
            for column in columns.tolist():
                score[:, at] += self.score[:, column]
        return DenseScores(np.array(names, np.int64), score)

    def spread(self, rows: Ints, count: int) -> DenseScores:
        """`count` rows, with row i at rows[i] and zeros elsewhere."""
        score = np.zeros((count, len(self.label)))
        score[rows] = self.score
        return DenseScores(self.label, score)

    def last_listed_first(self) -> DenseScores:
        """The rows with the order of labels reversed."""
        return DenseScores(self.label[::-1], self.score[:, ::-1])

    def best(self, choices: Ints | None = None) -> Best:
        """The top label of each row.

        Args:
            choices: (n,) how many labels there are for each row to list; None for those that it
                lists. A label that is not listed has score 0, which goes before scores below 0.
        """
        found = no_best(len(self))
        width = len(self.label)
        # A product and a maximum of numbers as narrow as may be: many times faster than argmax.
        narrow = np.min_scalar_type(width)
        behind = np.arange(width, 0, -1, dtype=narrow)[:, None]
        for rows, score in self._columns_at_once():
            highest = score.max(axis=0)
            equal = score == highest
            first = width - (equal * behind).max(axis=0).astype(np.int64)
            listed = highest != 0
            if choices is not None:
                listed &= (highest > 0) | (width >= choices[rows])
            found.label[rows] = np.where(listed, self.label[first], -1)
            found.score[rows] = np.where(listed, highest, 0.0)
            found.tied[rows] = listed & (equal.sum(axis=0, dtype=narrow) > 1)
        return found

    def of(self, label: Ints) -> Floats:
        """(n,) score of that label in each row, 0 if not listed."""
        if not len(self.label):
            return np.zeros(len(self))
        column = self._columns(label)
        found = self.score[np.arange(len(self)), column]
        found[column < 0] = 0
        return np.asarray(found)

    def place_of(self, label: Ints, choices: Ints | None = None) -> Ints:
        """(n,) rank of the label: by score, ties in listed order.

        Args:
            label: (n,) of each row.
            choices: As for `best`.
        """
        column, own = self._columns(label), self.of(label)
        place = np.zeros(len(self), np.int64)
        order = np.arange(len(self.label))[:, None]
        for rows, score in self._columns_at_once():
            before = score > own[rows]
            before |= (score == own[rows]) & (order < column[rows])
            place[rows] = before.sum(axis=0, dtype=np.min_scalar_type(len(self.label)))
        if choices is not None:
            place += np.where(own < 0, np.maximum(choices - len(self.label), 0), 0)
        place[column < 0] = UNLISTED
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

    def listed(self, count: int) -> NDArray[np.bool_]:
        """(count,) whether any row lists each label."""
        found = np.zeros(count, bool)
        found[self.label] = len(self) > 0
        return found

    def above_zero(self, count: int) -> NDArray[np.bool_]:
        """(count,) whether any row scores each label above 0."""
        found = np.zeros(count, bool)
        found[self.label] = (self.score > 0).any(axis=0)
        return found

    def by_label(self, count: int) -> Iterator[tuple[RowNumbers, Floats]]:
        """For each label 0 … count - 1, its rows with nonzero scores, and the scores.

        Rows ascend. No other labels are listed.
        """
        every = np.arange(len(self))
        for column in self._columns(np.arange(count)).tolist():
            if column < 0:
                yield every[:0], np.zeros(0)
                continue
            score = np.ascontiguousarray(self.score[:, column])
            if score.all():
                yield every, score
            else:
                rows = np.flatnonzero(score)
                yield rows, score[rows]

    def ascending(self, count: int) -> Iterator[Floats]:
        """For each label 0 … count - 1, its nonzero scores in ascending order."""
        for column in self._columns(np.arange(count)).tolist():
            score = np.zeros(0) if column < 0 else self.score[:, column].copy()
            score.sort()
            yield without_zeros(score)

    def sparse(self) -> SparseScores:
        """The rows in sparse form."""
        rows, width = self.score.shape
        label = np.tile(self.label.astype(np.int32), rows)
        return SparseScores(np.arange(rows + 1) * width, label, self.score.ravel())

    def _blocks(self) -> Iterator[slice]:
        step = max(sparse_scores.SCORES_AT_ONCE // max(len(self.label), 1), 1)
        for first in range(0, len(self), step):
            yield slice(first, min(first + step, len(self)))

    def _columns_at_once(self) -> Iterator[tuple[slice, Floats]]:
        """Some rows at a time, and (k, rows) their scores; nothing where there are no labels."""
        for rows in self._blocks() if len(self.label) else ():
            yield rows, np.ascontiguousarray(self.score[rows].T)

    def _columns(self, label: Ints) -> Ints:
        """(n,) the column of a label for each row; -1 where it has none."""
        highest = max(int(label.max(initial=-1)), int(self.label.max(initial=-1)))
        column = np.full(highest + 2, -1)
        column[self.label] = np.arange(len(self.label))
        return np.asarray(column[label])
