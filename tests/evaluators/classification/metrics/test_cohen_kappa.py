"""Cohen's kappa: worked by hand, against scikit-learn, and where it is undefined."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import HALF_RIGHT, scored
from tests.oracles.classification import Row
from valor_cli.evaluators.classification.metrics.cohen_kappa import cohen_kappa


def test_worked_by_hand() -> None:
    # Observed 2/4; by chance cat 3/4 * 2/4, dog 0: 3/8. (1/2 - 3/8) / (1 - 3/8).
    assert cohen_kappa(scored(HALF_RIGHT)).value == pytest.approx(1 / 5)


def test_one_label_on_both_sides_says_nothing() -> None:
    found = cohen_kappa(scored([Row(0, [(0, 1.0)]), Row(0, [(0, 0.5)])]))
    assert found.value is None
    assert found.undefined is not None
    assert found.undefined.startswith("0/0")


def test_no_prediction_at_all_is_no_better_than_chance() -> None:
    assert cohen_kappa(scored([Row(0, []), Row(1, [])])).value == 0
