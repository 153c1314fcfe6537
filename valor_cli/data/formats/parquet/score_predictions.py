"""Read the predicted labels and scores of Parquet rows.

Anything unusual is only detected here; the slow path says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from valor_cli.data.formats.parquet.columns import (
    Bools,
    Floats,
    Ints,
    fields,
    lists,
    named,
    numbers,
    stored,
)
from valor_cli.data.formats.parquet.score_header import ParquetHeader
from valor_cli.data.shapes.scores.rows import every
from valor_cli.kernels.columns.vocabulary import holding_twice


class Predicted(NamedTuple):
    """The predictions of some rows.

    Attributes:
        sound: (n,) which rows have nothing unusual.
        score: (n, classes), or (e,) of the labels listed.
        counts: (n,) how many labels each row lists; None for all classes.
        place: (e,) positions of these in `names`, row after row.
        names: Distinct.
    """

    sound: Bools
    score: Floats
    counts: Ints | None = None
    place: Ints | None = None
    names: Sequence[bytes] = ()

    def take(self, rows: Bools) -> Predicted:
        """Select rows."""
        if rows.all():
            return self
        if self.counts is None or self.place is None:
            return self._replace(sound=self.sound[rows], score=self.score[rows])
        kept = np.repeat(rows, self.counts)
        return self._replace(
            sound=self.sound[rows],
            score=self.score[kept],
            counts=self.counts[rows],
            place=self.place[kept],
        )


def by_class(header: ParquetHeader, rows: Any) -> Predicted:
    """Predictions from one column per class; a row of nulls has no prediction."""
    score = np.empty((rows.num_rows, len(header.columns.classes)))
    said = np.zeros(rows.num_rows, np.bool_)
    for at, (_, position) in enumerate(header.columns.classes):
        score[:, at], there = numbers(header.column(rows, position))
        said |= there
    score[~said] = 0.0
    return Predicted(every(np.isfinite(score)), score)


def by_pairs(header: ParquetHeader, rows: Any) -> Predicted:
    """Predictions from columns of labels, optionally with scores."""
    n, pairs = rows.num_rows, header.columns.pairs
    score, index = np.ones((n, len(pairs))), np.empty((n, len(pairs)), np.int64)
    sound = np.ones(n, np.bool_)
    names: dict[bytes, int] = {}
    for at, (label_at, score_at) in enumerate(pairs):
        index[:, at] = _joint(*named(header.column(rows, label_at)), names)
        if score_at >= 0:
            value, there = numbers(header.column(rows, score_at))
            score[:, at] = value
            # What lists no label may have no score.
            sound &= np.where(index[:, at] >= 0, np.isfinite(value), ~there)
    listed = index >= 0
    if len(pairs) > 1:
        sound &= ~holding_twice(np.where(listed, index, -1 - np.arange(len(pairs))))
    return Predicted(sound, score[listed], listed.sum(axis=1), index[listed], list(names))


def by_lists(header: ParquetHeader, rows: Any, classes: Sequence[str]) -> Predicted:
    """Predictions from a column of lists, in any form of `ParquetHeader`."""
    column = header.column(rows, header.listed)
    if header.kinds[header.listed] == "struct":
        return _by_field(column)
    count, inside = lists(column)
    sound = np.ones(len(count), np.bool_)
    row = np.repeat(np.arange(len(count)), count)
    names: dict[bytes, int] = {}
    if header.inside[0]:
        held = fields(inside)
        index = _joint(*named(held[header.inside[0]]), names)
        score, _ = numbers(held[header.inside[1]])
        _mark_repeated(sound, row, index, len(names))
    else:
        score, _ = numbers(inside)
        names = {name.encode(): at for at, name in enumerate(classes)}
        sound &= (count == 0) | (count == len(classes))
        index = np.where(sound[row], np.arange(len(row)) - (np.cumsum(count) - count)[row], 0)
    sound[row[(index < 0) | ~np.isfinite(score)]] = False
    return Predicted(sound, score, count, index, list(names))


def _by_field(column: Any) -> Predicted:
    """Of a struct with a field for each label; those that are null are not listed."""
    held = fields(stored(column))
    score = np.empty((len(column), len(held)))
    listed = np.zeros(score.shape, np.bool_)
    for at, values in enumerate(held.values()):
        score[:, at], listed[:, at] = numbers(values)
    fine = every(np.isfinite(score) | ~listed)
    names = [name.encode() for name in held]
    if not all(names):
        fine &= ~listed[:, names.index(b"")]
    index = np.broadcast_to(np.arange(len(held)), score.shape)
    return Predicted(fine, score[listed], listed.sum(axis=1), index[listed], names)


def _joint(index: Ints, own: Sequence[bytes], names: dict[bytes, int]) -> Ints:
    """Positions in one column's names as those in the names of several, to which they are added."""
    joint = [names.setdefault(name, len(names)) for name in own]
    return np.array([*joint, -1], np.int64)[index]


def _mark_repeated(sound: Bools, row: Ints, index: Ints, names: int) -> None:
    """Rows that list a label twice become unsound."""
    cell = np.sort(row * (names + 1) + index + 1)
    sound[cell[1:][cell[1:] == cell[:-1]] // (names + 1)] = False
