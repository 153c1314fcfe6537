"""Percentile bootstrap (Efron, 1979)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.ranking.exact_sums import exact_parts, weighted_sums

LEAST_DEFINED = 0.95
"""Smallest share of resamples with a value for which an interval is given."""

_WEIGHTS_AT_ONCE = 1 << 21
"""Of units times resamples: 16 MiB, and the values are read once for all of them."""


def resample_weights(units: int, seed: int, number: int) -> NDArray[np.int64]:
    """Counts of each unit in one resample, drawn with replacement.

    Resample `number` depends on the seed and itself only, so any process may draw it.

    Returns:
        (units,) whole numbers that add up to `units`.
    """
    drawn = np.random.default_rng(_source(seed, number)).integers(0, units, units)
    return np.bincount(drawn, minlength=units)


@lru_cache(maxsize=1 << 13)
def _source(seed: int, number: int) -> np.random.SeedSequence:
    """Of a resample's random numbers; to make it takes half as long as to draw 20 units."""
    return np.random.SeedSequence([seed, number])


def cluster_weights(clusters: NDArray[np.int64], seed: int, number: int) -> NDArray[np.int64]:
    """Counts of each unit in one resample of clusters, drawn with replacement.

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
    """The central interval with a `level` share of the resampled values, per column.

    Args:
        resampled: (resamples, values); NaN where a resample has no value.
        level: Share inside, in (0, 1).

    Returns:
        (low, high) for each column; None where too few resamples have a value.
    """
    tails = [(1 - level) / 2, (1 + level) / 2]
    known = ~np.isnan(resampled)
    counts = known.sum(axis=0)
    enough = counts >= max(LEAST_DEFINED * len(resampled), 1)
    ends = np.empty((len(tails), len(counts)))
    # Columns with as many values are looked at together: nearly always all of them.
    for count in np.unique(counts[enough]).tolist():
        at = np.flatnonzero(counts == count)
        defined = resampled.T[at][known.T[at]].reshape(len(at), count)
        ends[:, at] = np.quantile(defined, tails, axis=1)
    pairs = zip(*ends.tolist(), strict=True)
    return [pair if there else None for pair, there in zip(pairs, enough.tolist(), strict=True)]


def mean_intervals(
    values: NDArray[np.float64],
    *,
    resamples: int,
    level: float,
    seed: int,
    clusters: NDArray[np.int64] | None = None,
) -> list[tuple[float, float] | None]:
    """Percentile bootstrap of means over units or clusters.

    The draws are those of `resample_weights` and `cluster_weights`: an interval is the one that
    evidence whose value is the mean would get with that seed. A resample of clusters has as many
    units as it happens to have; its mean is the ratio of two sums. 1,000 resamples of 100,000 units
    take 0.4 s, of ten values 0.5 s.

    Args:
        values: (n, k) of n units, k values each; NaN where a unit has none, which leaves it out of
            the mean and not of the draw.
        resamples, level, seed: Of the bootstrap.
        clusters: (n,) the cluster of each unit, from 0, none empty; None: each is its own.

    Returns:
        (low, high) for each column; None where too few resamples have a value, and where there is
        one unit or cluster alone, of which nothing varies.
    """
    known = ~np.isnan(values)
    # Of clusters only their sums matter; drawing those is drawing their units.
    both = np.hstack([np.where(known, values, 0.0), known.astype(np.float64)])
    if clusters is not None:
        both = cluster_sums(both, clusters)
    if len(both) < 2:
        return [None] * values.shape[1]
    totals = resampled_sums(both, resamples, seed)
    means = np.full((resamples, values.shape[1]), np.nan)
    added, counted = np.hsplit(totals, 2)
    np.divide(added, counted, out=means, where=counted > 0)
    return percentile_intervals(means, level)


def resampled_sums(values: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """(resamples, k) the sums of (n, k) values over units drawn as `resample_weights` does."""
    parts = exact_parts(np.ascontiguousarray(values.T))
    totals = np.zeros((resamples, values.shape[1]))
    at_once = max(1, _WEIGHTS_AT_ONCE // max(len(values), 1))
    for first in range(0, resamples, at_once):
        last = min(first + at_once, resamples)
        totals[first:last] = weighted_sums(_weights(len(values), seed, first, last), parts).T
    return totals


# The pairs of models of a run have the same samples: their draws are made once.
@lru_cache(maxsize=1)
def _weights(units: int, seed: int, first: int, last: int) -> NDArray[np.float64]:
    """(resamples, units) those of some resamples, one after the other."""
    numbers = range(first, last)
    drawn = np.array([resample_weights(units, seed, number) for number in numbers], np.float64)
    drawn.flags.writeable = False
    return drawn


def cluster_sums(values: NDArray[np.float64], clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """(clusters, k) the sums of (n, k); `clusters` as in `cluster_weights`."""
    count = int(clusters.max()) + 1 if len(clusters) else 0
    columns = [np.bincount(clusters, column, count) for column in values.T]
    return np.array(columns, np.float64).reshape(values.shape[1], count).T
