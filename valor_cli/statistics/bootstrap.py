"""The percentile bootstrap (Efron, 1979): how a value varies over resampled units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEAST_DEFINED = 0.95
"""Smallest share of resamples with a value for which an interval is given."""


def resample_weights(units: int, seed: int, number: int) -> NDArray[np.int64]:
    """How often each unit stands in one resample, drawn with replacement.

    Resample `number` depends on the seed and itself only, so any process may draw it.

    Returns:
        (units,) whole numbers that add up to `units`.
    """
    drawn = np.random.default_rng([seed, number]).integers(0, units, units)
    return np.bincount(drawn, minlength=units)


def cluster_weights(clusters: NDArray[np.int64], seed: int, number: int) -> NDArray[np.int64]:
    """How often each unit stands in one resample of clusters, drawn with replacement.

    A cluster is drawn with all of its units (Davison and Hinkley, 1997, section 3.8).

    Args:
        clusters: (units,) the cluster of each, from 0, none empty.
        seed, number: As in `resample_weights`, which it equals where each unit is its own cluster.

    Returns:
        (units,) whole numbers.
    """
    count = int(clusters.max()) + 1 if len(clusters) else 0
    return resample_weights(count, seed, number)[clusters]


def percentile_intervals(
    resampled: NDArray[np.float64], level: float
) -> list[tuple[float, float] | None]:
    """The central interval that holds `level` of the resampled values, per column.

    Args:
        resampled: (resamples, values); NaN where a resample has no value.
        level: Share inside, in (0, 1).

    Returns:
        (low, high) for each column; None where too few resamples have a value.
    """
    tails = [(1 - level) / 2, (1 + level) / 2]
    intervals: list[tuple[float, float] | None] = []
    for column in resampled.T:
        defined = column[~np.isnan(column)]
        if len(defined) < max(LEAST_DEFINED * len(column), 1):
            intervals.append(None)
        else:
            low, high = np.quantile(defined, tails).tolist()
            intervals.append((low, high))
    return intervals
