"""Brier score: worked by hand, against plain loops and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.classification.asking import plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.metrics.brier_score import brier_score


def test_worked_by_hand() -> None:
    rows = [
        Row(0, [(0, 0.7), (1, 0.2), (2, 0.1)]),  # .09 + .04 + .01
        Row(1, [(0, 1.0), (1, 0.0)]),  # 1 + 1
        Row(1, []),  # 1
    ]
    assert brier_score(scored(rows)).value == pytest.approx(3.14 / 3, abs=1e-15)


def test_a_sure_and_right_row_has_no_error() -> None:
    # 0.1 * 0.1 is no tidy number, but rounds away.
    assert brier_score(scored([Row(0, [(0, 0.1)])]), normalize=True).value == 0
    assert brier_score(scored([Row(0, [(0, 1 / 3), (1, 0.0)])]), normalize=True).value == 0


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_against_plain_loops(seed: int, partial: bool, normalize: bool) -> None:
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        expected = oracle.brier(read, 5, normalize=normalize)
        assert brier_score(found, normalize=normalize).value == pytest.approx(expected, abs=1e-12)


def test_against_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    score, truth = rng.dirichlet(np.full(5, 0.05), 300), rng.integers(0, 5, 300)
    rows = [Row(int(t), list(enumerate(s))) for t, s in zip(truth, score.tolist(), strict=True)]
    expected = sklearn.brier_score_loss(truth, score, labels=range(5), scale_by_half=False)
    assert brier_score(scored(rows)).value == pytest.approx(expected, abs=1e-12)


def test_no_samples() -> None:
    assert brier_score(scored([])).undefined == "no samples"
