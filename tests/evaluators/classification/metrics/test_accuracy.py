"""Accuracy: worked by hand, against scikit-learn."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import LABELS, plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.metrics.accuracy import accuracy


def test_worked_by_hand() -> None:
    # Right; wrong; wrong, for of equal scores the first listed counts; none; right.
    rows = [
        Row(0, [(0, 0.6), (1, 0.4)]),
        Row(0, [(0, 0.4), (1, 0.6)]),
        Row(1, [(0, 0.5), (1, 0.5)]),
        Row(1, [(0, 0.0), (1, 0.0)]),
        Row(1, [(1, 0.001)]),
    ]
    found = accuracy(scored(rows))
    assert (found.value, found.n) == (0.4, 5)
    # Of 5 samples, each right or wrong: Wilson's interval is that of 2 of 5.
    assert found.proportion


def test_a_top_label_needs_no_positive_score() -> None:
    # Logits: the highest is what counts.
    assert accuracy(scored([Row(0, [(0, -1.0), (1, -2.0)])], LABELS[:2])).value == 1


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_against_scikit_learn(seed: int, partial: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        expected = sklearn.accuracy_score([row.truth for row in read], list(map(oracle.top, read)))
        assert accuracy(found).value == pytest.approx(expected, abs=1e-15)
        assert accuracy(found).n == len(read)


def test_no_samples() -> None:
    assert accuracy(scored([])).value is None
    assert accuracy(scored([])).undefined == "no samples"
    assert accuracy(weighed([Row(0, [], weight=0)])).undefined == "no samples"
