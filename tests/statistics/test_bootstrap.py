"""The percentile bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.statistics.bootstrap import percentile_intervals, resample_weights


def test_weights_are_drawn_with_replacement() -> None:
    weights = resample_weights(10, seed=1, number=3)
    assert weights.sum() == 10
    assert weights.tolist() == resample_weights(10, seed=1, number=3).tolist()
    assert weights.tolist() != resample_weights(10, seed=1, number=4).tolist()
    assert weights.tolist() != resample_weights(10, seed=2, number=3).tolist()


def test_percentiles_by_hand() -> None:
    # 0 … 100: a tail of 5 % on each side lies below 5 and above 95.
    column = np.arange(101.0)[:, None]
    assert percentile_intervals(column, 0.9) == [pytest.approx((5, 95))]


def test_too_few_resamples_with_a_value() -> None:
    column = np.full((100, 2), np.nan)
    column[:95, 0] = 1
    column[:94, 1] = 1
    assert percentile_intervals(column, 0.95) == [(1, 1), None]


def test_coverage_of_a_mean() -> None:
    # 300 samples of 60 normal values: the true mean 0 is inside 95 % of the intervals, give or
    # take three standard errors (0.038) and the bootstrap's known shortfall in small samples.
    rng = np.random.default_rng(0)
    weights = np.array([resample_weights(60, 0, number) for number in range(400)])
    inside = 0
    for _ in range(300):
        means = weights @ rng.normal(size=60) / 60
        interval = percentile_intervals(means[:, None], 0.95)[0]
        assert interval is not None
        inside += interval[0] <= 0 <= interval[1]
    assert 0.90 <= inside / 300 <= 0.99
