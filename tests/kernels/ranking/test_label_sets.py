"""Sets of labels by row."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.kernels.ranking.label_sets import members_by_label, set_numbers, sets_of_one
from valor_cli.kernels.ranking.scores import DenseScores
from valor_cli.kernels.ranking.sparse_scores import SparseScores, starts


def sets(*rows: list[int]) -> SparseScores:
    label = [one for row in rows for one in row]
    length = np.array([len(row) for row in rows], np.int64)
    return SparseScores(starts(length), np.array(label, np.int32), np.ones(len(label)))


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_equal_where_sets_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(5)[: rng.integers(0, 5)].tolist() for _ in range(60)]
    number = set_numbers(sets(*rows)).tolist()
    for one, own in zip(rows, number, strict=True):
        for other, theirs in zip(rows, number, strict=True):
            assert (own == theirs) == (set(one) == set(other))


def test_no_sets_have_no_numbers() -> None:
    assert set_numbers(sets()).tolist() == []
    assert set_numbers(sets([], [])).tolist() == [0, 0]


def test_members() -> None:
    scores = DenseScores(np.arange(2), np.array([[0.5, 0.0], [0.25, 1.0], [0.0, 0.5]]))
    found = members_by_label(scores, sets([0, 2], [], [1]), 3)
    assert [(rows.tolist(), score.tolist(), own.tolist()) for rows, score, own in found] == [
        ([0, 1], [0.5, 0.25], [True, False]),
        ([1, 2], [1.0, 0.5], [False, True]),
        ([], [], []),
    ]


def test_a_label_each() -> None:
    found = sets_of_one(np.array([2, 0]))
    assert (found.start.tolist(), found.label.tolist()) == ([0, 1, 2], [2, 0])
