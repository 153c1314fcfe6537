"""The percentile bootstrap: its draws, its percentiles, and the intervals of means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valor_cli.statistics.bootstrap import (
    LEAST_DEFINED,
    cluster_weights,
    mean_intervals,
    percentile_intervals,
    resample_weights,
)


def mean_interval(values: np.ndarray, **options: Any) -> tuple[float, float] | None:
    """That of one value per unit."""
    return mean_intervals(values[:, None], **options)[0]


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


def by_weights(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(resamples, k) the mean of each resample, unit by unit as often as it is drawn."""
    again = [np.repeat(values, row, axis=0) for row in weights]
    return np.array([np.nanmean(one, axis=0) for one in again])


def test_columns_looked_at_together_have_the_bits_of_columns_alone() -> None:
    rng = np.random.default_rng(5)
    for resamples, missing in ((1, 0.0), (2, 0.3), (39, 0.0), (40, 0.03), (200, 0.02), (999, 0.06)):
        values = rng.choice([0.0, -0.0, 1 / 3, 0.1, 2.0], (resamples, 30))
        values[:, ::2] = rng.normal(size=values[:, ::2].shape)
        values[rng.random(values.shape) < missing] = np.nan
        expected = []
        for column in values.T:
            known = column[~np.isnan(column)]
            enough = len(known) >= max(LEAST_DEFINED * resamples, 1)
            expected.append(np.quantile(known, [0.25, 0.75]).tobytes() if enough else None)
        found = percentile_intervals(values, 0.5)
        # Bytes: 0 and -0 are equal, and are not written alike.
        assert [one and np.array(one).tobytes() for one in found] == expected


def test_means_have_the_intervals_of_the_draws() -> None:
    values = np.random.default_rng(5).normal(size=(30, 2))
    values[:4, 1] = np.nan
    weights = np.array([resample_weights(30, 9, number) for number in range(200)])
    expected = percentile_intervals(by_weights(values, weights), 0.9)
    found = mean_intervals(values, resamples=200, level=0.9, seed=9)
    assert found == [pytest.approx(one, abs=1e-12) for one in expected]
    alone = mean_interval(values[:, 1], resamples=200, level=0.9, seed=9)
    assert alone == pytest.approx(found[1], abs=1e-12)


def test_draws_are_made_anew_where_anything_of_them_differs() -> None:
    """They are kept from one call to the next: each of these must give its own again."""
    values = np.random.default_rng(3).normal(size=(20, 1))
    asked: list[tuple[np.ndarray, dict[str, Any]]] = [
        (values, {"resamples": 50, "seed": 1}),
        (values, {"resamples": 50, "seed": 2}),
        (values, {"resamples": 60, "seed": 2}),
        (values[:19], {"resamples": 60, "seed": 2}),
    ]
    found = [mean_intervals(one, level=0.9, **options)[0] for one, options in asked]
    assert len(set(found)) == 4
    assert [mean_intervals(one, level=0.9, **options)[0] for one, options in asked] == found


def test_means_of_many_units_are_drawn_in_parts() -> None:
    values = np.random.default_rng(7).normal(size=(40_000, 1))
    weights = (resample_weights(40_000, 1, number) for number in range(120))
    means = np.array([row @ values / 40_000 for row in weights])
    (expected,) = percentile_intervals(means, 0.8)
    found = mean_interval(values[:, 0], resamples=120, level=0.8, seed=1)
    assert found == pytest.approx(expected, abs=1e-12)


def test_means_of_clusters_have_the_intervals_of_the_draws() -> None:
    random = np.random.default_rng(6)
    clusters = np.r_[np.arange(12), random.integers(0, 12, 40)]
    values = random.normal(size=(52, 2))
    values[::7, 0] = np.nan
    weights = np.array([cluster_weights(clusters, 2, number) for number in range(200)])
    expected = percentile_intervals(by_weights(values, weights), 0.95)
    found = mean_intervals(values, resamples=200, level=0.95, seed=2, clusters=clusters)
    assert found == [pytest.approx(one, abs=1e-12) for one in expected]
    singly = mean_intervals(values, resamples=50, level=0.9, seed=2, clusters=np.arange(52))
    alone = mean_intervals(values, resamples=50, level=0.9, seed=2)
    assert singly == [pytest.approx(one, abs=1e-12) for one in alone]


def test_means_without_values_have_no_interval() -> None:
    options = {"resamples": 40, "level": 0.95, "seed": 0}
    assert mean_interval(np.zeros(0), **options) is None
    assert mean_interval(np.zeros(0), **options, clusters=np.zeros(0, np.int64)) is None
    assert mean_interval(np.full(5, np.nan), **options) is None
    # One of three has a value: 8 of 27 resamples have none.
    assert mean_interval(np.array([1.0, np.nan, np.nan]), **options) is None
    # Of one unit, or one cluster, nothing varies.
    assert mean_interval(np.array([0.5]), **options) is None
    one = np.zeros(2, np.int64)
    assert mean_interval(np.array([0.5, 0.7]), **options, clusters=one) is None


def test_the_interval_of_a_mean_is_that_of_scipy() -> None:
    values = np.random.default_rng(3).exponential(size=80)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    found = mean_interval(values, resamples=20_000, level=0.95, seed=0)
    # Other draws: an end of 20,000 is known to 2 % of the standard error, four times over.
    within = 4 * 0.02 * values.std() / np.sqrt(80)
    assert found == pytest.approx((theirs.low, theirs.high), abs=within)


@given(st.integers(1, 30), st.integers(0, 2**32), st.integers(0, 5000))
def test_resamples_of_clusters_of_one_are_those_of_units(n: int, seed: int, number: int) -> None:
    weights = cluster_weights(np.arange(n), seed, number)
    assert weights.tolist() == resample_weights(n, seed, number).tolist()
    assert weights.sum() == n
