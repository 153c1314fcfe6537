"""Log loss: worked by hand, against plain loops and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.evaluators.classification.asking import plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.metrics.log_loss import log_loss


def test_worked_by_hand() -> None:
    found = log_loss(scored([Row(0, [(0, 0.25), (1, 0.75)]), Row(1, [(0, 0.5), (1, 0.5)])]))
    # -ln(1/4) and -ln(1/2): three times ln 2 over two samples.
    assert found.value == pytest.approx(1.5 * math.log(2), abs=1e-15)
    assert found.n == 2


@pytest.mark.parametrize("listed", [[], [(1, 1.0)], [(0, 0.0), (1, 1.0)], [(0, 0.0), (1, 0.0)]])
def test_a_certain_error_is_dear_but_finite(listed: list[tuple[int, float]]) -> None:
    assert log_loss(scored([Row(0, listed)])).value == pytest.approx(52 * math.log(2))


def test_rounding_is_divided_away_and_more_only_if_asked() -> None:
    rounded = scored([Row(0, [(0, 0.5), (1, 0.499)])])
    assert log_loss(rounded).value == pytest.approx(-math.log(0.5 / 0.999), abs=1e-15)
    far = scored([Row(0, [(0, 0.5), (1, 0.3)])])
    assert log_loss(far).value == pytest.approx(-math.log(0.5), abs=1e-15)
    assert log_loss(far, normalize=True).value == pytest.approx(-math.log(0.5 / 0.8), abs=1e-15)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_against_plain_loops(seed: int, partial: bool, normalize: bool) -> None:
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        expected = oracle.log_loss(read, normalize=normalize)
        assert log_loss(found, normalize=normalize).value == pytest.approx(expected, abs=1e-12)


def test_against_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    score, truth = rng.dirichlet(np.full(5, 0.05), 300), rng.integers(0, 5, 300)
    rows = [Row(int(t), list(enumerate(s))) for t, s in zip(truth, score.tolist(), strict=True)]
    expected = sklearn.log_loss(truth, score, labels=range(5))
    assert log_loss(scored(rows)).value == pytest.approx(expected, abs=1e-12)


def test_no_samples() -> None:
    assert log_loss(scored([])).undefined == "no samples"
