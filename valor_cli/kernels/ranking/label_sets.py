"""Sets of labels by row: sparse rows in which a label that is listed belongs to the set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.ranking.score_answers import Ints, RowNumbers
from valor_cli.kernels.ranking.scores import Scores
from valor_cli.kernels.ranking.sparse_scores import SparseScores


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
