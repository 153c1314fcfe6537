"""Label scores by row, dense or sparse, their concatenation, and sets of labels by row.

A row lists labels in an order, each once, with a score; labels that are not listed have score 0.
Both representations have the same methods. They work in blocks of rows that fit the processor's
cache, so that no operation makes a second copy of the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.ranking.dense_scores import DenseScores
from valor_cli.kernels.ranking.sparse_scores import (
    UNLISTED,
    Best,
    Ints,
    RowNumbers,
    SparseScores,
    joined_sparse,
)

__all__ = [
    "UNLISTED",
    "Best",
    "DenseScores",
    "Scores",
    "SparseScores",
    "joined_scores",
    "members_by_label",
    "set_numbers",
    "sets_of_one",
]

Scores: TypeAlias = DenseScores | SparseScores


def joined_scores(parts: Sequence[Scores]) -> Scores:
    """Concatenate rows.

    They stay dense if all list the same labels in the same order.
    """
    dense = [part for part in parts if isinstance(part, DenseScores)]
    if len(dense) == len(parts) and all(
        np.array_equal(part.label, dense[0].label) for part in dense
    ):
        return DenseScores(dense[0].label, np.concatenate([part.score for part in dense]))
    return joined_sparse([part.sparse() for part in parts])


def sets_of_one(label: Ints) -> SparseScores:
    """(n,) rows of one label each."""
    n = len(label)
    return SparseScores(np.arange(n + 1), label.astype(np.int32), np.ones(n))


def set_numbers(sets: SparseScores) -> Ints:
    """(n,) a number for each set, equal where rows have the same labels, in whatever order."""
    label = sets.label[np.lexsort((sets.label, sets.row))].astype(np.int64)
    length, begin = np.diff(sets.start), sets.start[:-1]
    number = np.zeros(len(sets), np.int64)
    # Of sets that are the same up to a position, those with the same label there are too.
    for at in range(int(length.max(initial=0))):
        rows = np.flatnonzero(length > at)
        own = np.full(len(sets), -1)
        own[rows] = label[begin[rows] + at]
        pairs = np.column_stack((number, own))
        number = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    return number


def members_by_label(
    scores: Scores, sets: SparseScores, count: int
) -> Iterator[tuple[RowNumbers, NDArray[np.float64], NDArray[np.bool_]]]:
    """For each label 0 … count - 1, its rows with nonzero scores, these, and whether it is theirs.

    Rows ascend.
    """
    inside = np.zeros(len(sets), np.bool_)
    for (row, score), (own, _) in zip(scores.by_label(count), sets.by_label(count), strict=True):
        inside[own] = True
        yield row, score, inside[row]
        inside[own] = False
