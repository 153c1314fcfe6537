"""Precision, recall and F1 of what two sides share: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.kernels.text.shared_grams import overlap_rates


def test_rates_are_zero_where_a_side_has_nothing() -> None:
    rates = overlap_rates(np.array([2, 0, 0]), np.array([4, 0, 3]), np.array([8, 5, 0]))
    assert rates.precision.tolist() == [0.5, 0, 0]
    assert rates.recall.tolist() == [0.25, 0, 0]
    # 2 · 1/2 · 1/4 / (3/4)
    assert rates.f1.tolist() == [pytest.approx(1 / 3), 0, 0]
