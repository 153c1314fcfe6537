"""Top-k accuracy: worked by hand, against plain loops and scikit-learn, with ties."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from tests.evaluators.classification.asking import plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.metrics.accuracy import accuracy
from valor_cli.evaluators.classification.metrics.top_k_accuracy import Ties, top_k_accuracy


def test_worked_by_hand() -> None:
    rows = [
        Row(0, [(0, 0.2), (1, 0.5), (2, 0.3)]),  # third
        Row(1, [(0, 0.4), (1, 0.4), (2, 0.2)]),  # second, of equal ones; last listed first: first
        Row(2, [(0, 0.0), (1, 1.0), (2, 0.0)]),  # third, of equal zeros; second
        Row(3, [(0, 1.0)]),  # not listed
        Row(0, [(0, 0.0), (1, 0.0)]),  # no prediction
    ]
    found = scored(rows)
    assert [top_k_accuracy(found, k=k).value for k in (1, 2, 3, 9)] == [0, 0.2, 0.6, 0.6]
    assert top_k_accuracy(found, k=2).proportion
    last = [top_k_accuracy(found, k=k, ties="last_listed").value for k in (1, 2, 3, 9)]
    assert last == [0.2, 0.4, 0.6, 0.6]


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_against_plain_loops(seed: int, k: int, partial: bool) -> None:
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        places = [oracle.place(row) for row in read if oracle.top(row) != oracle.NONE]
        hits = sum(place is not None and place < k for place in places)
        assert top_k_accuracy(found, k=k).value == hits / len(read)
        assert top_k_accuracy(found, k=k).n == len(read)
    assert top_k_accuracy(found, k=1).value == accuracy(found).value


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_against_scikit_learn_with_ties(k: int) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    score = rng.integers(0, 4, (100, 5)) / 4
    score[:, 0] += 0.125 * (score.sum(axis=1) == 0)
    truth = rng.integers(0, 5, 100)
    rows = [Row(int(t), list(enumerate(s))) for t, s in zip(truth, score.tolist(), strict=True)]
    expected = sklearn.top_k_accuracy_score(truth, score, k=k, labels=range(5))
    found = top_k_accuracy(scored(rows), k=k, ties="last_listed")
    assert found.value == pytest.approx(expected, abs=1e-15)


def test_no_samples() -> None:
    for ties in get_args(Ties):
        assert top_k_accuracy(scored([]), ties=ties).undefined == "no samples"
