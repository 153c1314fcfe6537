"""Matthews correlation: worked by hand, against scikit-learn, and where it is undefined."""

from __future__ import annotations

import pytest

from tests.evaluators.classification.asking import HALF_RIGHT, scored, weighed
from tests.oracles.classification import Row
from valor_cli.evaluators.classification.metrics.matthews_corrcoef import matthews_corrcoef


def test_worked_by_hand() -> None:
    # n 4, right 2; truths cat 3, dog 1; predictions cat 2, cow 1, none 1.
    # (4*2 - 3*2) / sqrt((16 - 9 - 1) * (16 - 4 - 1 - 1)) = 2 / sqrt(6 * 10)
    assert matthews_corrcoef(scored(HALF_RIGHT)).value == pytest.approx(2 / 60**0.5)


def test_a_single_label_correlates_with_nothing() -> None:
    one = matthews_corrcoef(scored([Row(0, [(0, 1.0)]), Row(0, [(1, 1.0)])]))
    assert (one.value, one.undefined) == (None, "a single label has ground truth")
    other = matthews_corrcoef(scored([Row(0, [(0, 1.0)]), Row(1, [(0, 1.0)])]))
    assert (other.value, other.undefined) == (None, "a single label is predicted")


def test_large_counts_do_not_overflow() -> None:
    # 3 million samples: the product of the squares has 26 digits.
    rows = [
        Row(0, [(0, 1.0)], weight=1_000_000),
        Row(1, [(1, 1.0)], weight=1_000_000),
        Row(0, [(1, 1.0)], weight=500_000),
        Row(1, [(0, 1.0)], weight=500_000),
    ]
    # (2/3 of the rows right - 1/3 wrong), both sides even.
    assert matthews_corrcoef(weighed(rows)).value == pytest.approx(1 / 3, abs=1e-15)
