"""Balanced accuracy: worked by hand, against scikit-learn, and where it is undefined."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import plain, repeated, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from valor_cli.evaluators.classification.balanced_accuracy import balanced_accuracy

# Truth cat, cat, cat, dog; top label cat, cat, none, cow.
ROWS = [
    Row(0, [(0, 0.9), (1, 0.1)]),
    Row(0, [(0, 0.5), (1, 0.5)]),
    Row(0, []),
    Row(1, [(2, 0.7), (1, 0.3)]),
]


def test_worked_by_hand() -> None:
    # cat: 2 of 3 right; dog: 0 of 1; cow, which is predicted only, enters no mean.
    assert balanced_accuracy(scored(ROWS)).value == pytest.approx(1 / 3)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_against_scikit_learn(seed: int, partial: bool) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rows = random_rows(seed, partial=partial)
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        expected = sklearn.balanced_accuracy_score(
            [row.truth for row in read], list(map(oracle.top, read))
        )
        assert balanced_accuracy(found).value == pytest.approx(expected, abs=1e-14)
        assert balanced_accuracy(found).n == len(read)


def test_a_label_without_ground_truth_enters_no_mean() -> None:
    assert balanced_accuracy(scored([Row(0, [(0, 1.0)]), Row(0, [(1, 1.0)])])).value == 0.5


def test_no_samples() -> None:
    assert balanced_accuracy(scored([])).undefined == "no samples"
    assert balanced_accuracy(scored([])).value is None
