"""Paired significance tests and effect sizes for two models on the same samples.

McNemar, Note on the sampling error of the difference between correlated proportions, 1947;
Fisher, The Design of Experiments, 1935, section 21 (sign permutation); Koehn, Statistical
significance tests for machine translation evaluation, 2004 (paired bootstrap); Cohen,
Statistical Power Analysis for the Behavioral Sciences, 1988 (effect sizes).
"""

from __future__ import annotations

from math import isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.statistics.bootstrap import cluster_sums

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

ALL_SIGNS = 14
"""With at most so many differences other than 0, every pattern of signs is tried (16,384)."""

MOST_DRAWS = 9_999
LEAST_DRAWS = 1_999
MOST_SIGNS = 50_000_000
"""Units times draws, at which there are fewer draws."""

_SIGNS_AT_ONCE = 1 << 20

_TIE = 1e-12
"""Share of the sum of absolute differences within which two sums are one: the same differences
added in another order differ by rounding, and a tie that is missed makes p too small."""


def mcnemar(wins: int, losses: int) -> float:
    """McNemar's exact test: two-sided p-value that wins and losses are equally likely.

    As `statsmodels.stats.contingency_tables.mcnemar` with `exact=True`, which is
    `scipy.stats.binomtest(wins, wins + losses)` wherever there is something to test.

    Args:
        wins, losses: Samples that one model alone, and the other alone, got right. Those that both
            or neither got right say nothing.

    Returns:
        0..1, to 1e-12 of itself at any size (0 where a double cannot hold it); 1 without wins and
        losses.
    """
    trials, fewer = wins + losses, min(wins, losses)
    if wins == losses:
        return 1.0
    middle = trials // 2
    # Below 20 standard deviations and more, probabilities are 0 to a double. From the middle down,
    # each is the one above it times (k + 1) / (trials - k): no factorial, no overflow.
    lowest = max(0, middle - 20 * (isqrt(trials) + 1))
    k = np.arange(middle - 1, lowest - 1, -1, dtype=np.float64)
    likely = np.concatenate([[1.0], np.cumprod((k + 1) / (trials - k))])
    half = float(likely.sum()) - (0.5 if trials % 2 == 0 else 0.0)
    return min(1.0, float(likely[middle - fewer :].sum()) / half)


def cohens_g(wins: int, losses: int) -> float | None:
    """Cohen's g, the effect size of McNemar's test: the share of wins less 1/2.

    Args:
        wins, losses: As in `mcnemar`.

    Returns:
        -0.5..0.5; None without wins and losses.
    """
    trials = wins + losses
    return wins / trials - 0.5 if trials else None


def cohens_d(differences: Floats) -> float | None:
    """Cohen's d of paired differences (d_z): their mean in standard deviations (ddof 1).

    Args:
        differences: (n,); NaN where a pair is missing.

    Returns:
        None with fewer than two pairs, or where all differences are the same.
    """
    known = differences[~np.isnan(differences)]
    if len(known) < 2 or np.ptp(known) == 0:
        return None
    # In parts of the largest: squares of the smallest doubles are 0, those of large ones infinite.
    known = known / np.abs(known).max()
    return float(known.mean() / known.std(ddof=1))


def bootstrap_p(differences: Floats, observed: float) -> float | None:
    """The paired bootstrap's two-sided p-value of a difference of two values.

    The larger of two counts of resamples, (count + 1) / (resamples + 1) each: how often a
    difference, moved so that their mean is 0, is as far from 0 as the one observed (Davison and
    Hinkley, 1997, section 4.4); and twice how often it is not on the side of 0 that most are on.
    The second is what the percentile interval says: without it, where differences are skewed, a
    small p-value could stand beside an interval that holds 0.

    Args:
        differences: (resamples,) of the same draws for both models; NaN where one has no value.
        observed: The difference on all samples.

    Returns:
        Above 0, at most 1; None where no resample has a difference.
    """
    known = differences[~np.isnan(differences)]
    if not len(known):
        return None
    as_far = int((np.abs(known - known.mean()) >= abs(observed)).sum())
    beyond = 2 * min(int((known <= 0).sum()), int((known >= 0).sum()))
    return min(1.0, (max(as_far, beyond) + 1) / (len(known) + 1))


def sign_permutation(differences: Floats, *, seed: int, clusters: Ints | None = None) -> Floats:
    """Two-sided p-value of each mean paired difference, by random sign changes.

    Were the two models alike, each difference could as well have the other sign; where samples
    belong together, all of a cluster's change at once. With at most `ALL_SIGNS` differences other
    than 0 every pattern of signs is tried, as `scipy.stats.permutation_test` does with
    `permutation_type="samples"`; with more, (count + 1) / (draws + 1) of random patterns:
    `MOST_DRAWS`, or fewer (never below `LEAST_DRAWS`) where units times draws pass `MOST_SIGNS`.
    The p-value of a column does not depend on the columns beside it.

    Args:
        differences: (n, k) of n samples, k values each; NaN where a pair is missing.
        seed: Of the random patterns.
        clusters: (n,) the cluster of each sample, from 0, none empty; None: each is its own.

    Returns:
        (k,) 0..1; 1 where all differences are 0, NaN where there is no pair.
    """
    known = ~np.isnan(differences)
    sums = np.where(known, differences, 0.0)
    if clusters is not None:
        sums = cluster_sums(sums, clusters)
    counted = (sums != 0).sum(0)
    p = np.full(sums.shape[1], np.nan)
    for column in np.flatnonzero(counted <= ALL_SIGNS):
        own = sums[:, column]
        p[column] = _of_all_signs(own[own != 0])
    many = counted > ALL_SIGNS
    if many.any():
        p[many] = _of_random_signs(sums[:, many], seed)
    p[~known.any(0)] = np.nan
    return p


def _of_all_signs(differences: Floats) -> float:
    """The share of all patterns of signs under which the sum is as far from 0."""
    patterns = np.arange(1 << len(differences), dtype=np.int64)
    kept = (patterns[:, None] >> np.arange(len(differences))) & 1
    return float(_as_far(kept.astype(np.float64), differences[:, None])[0] / len(patterns))


def _of_random_signs(differences: Floats, seed: int) -> Floats:
    units = len(differences)
    draws = min(MOST_DRAWS, max(LEAST_DRAWS, MOST_SIGNS // units))
    random = np.random.default_rng(seed)
    at_once = max(1, _SIGNS_AT_ONCE // units)
    words = -(-units // 64)
    count = np.zeros(differences.shape[1])
    for first in range(0, draws, at_once):
        # Whole words of 64 signs for each draw: however many draws are made at once, the same.
        shape = (min(at_once, draws - first), words)
        bits = random.integers(0, 2**64, shape, np.uint64).astype("<u8", copy=False)
        kept = np.unpackbits(bits.view(np.uint8), axis=1, count=units, bitorder="little")
        count += _as_far(kept.astype(np.float64), differences)
    found: Floats = (count + 1) / (draws + 1)
    return found


def _as_far(kept: Floats, differences: Floats) -> Floats:
    """(k,) in how many patterns the sum with changed signs is as far from 0 as without.

    Args:
        kept: (patterns, n) 1 where a difference keeps its sign, 0 where it changes.
        differences: (n, k).
    """
    observed = differences.sum(0)
    least = np.abs(observed) - _TIE * np.abs(differences).sum(0)
    # Signs are 2 kept - 1.
    changed = np.abs(2 * (kept @ differences) - observed)
    found: Floats = (changed >= least).sum(0).astype(np.float64)
    return found
