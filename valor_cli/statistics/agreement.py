"""Chance-corrected agreement between raters.

Cohen, A coefficient of agreement for nominal scales, 1960; Cohen, Weighted kappa, 1968; Fleiss,
Measuring nominal scale agreement among many raters, 1971; Krippendorff, Content Analysis, 2004.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.statistics.bootstrap import percentile_intervals

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = Literal["linear", "quadratic"] | None


def confusion(first: Ints, second: Ints, categories: int) -> Ints:
    """(categories, categories) counts of items rated i by the first and j by the second rater."""
    pairs = np.bincount(first * categories + second, minlength=categories**2)
    return pairs.reshape(categories, categories)


def cohen_kappa(matrix: NDArray[np.number], weights: Weights = None) -> float | None:
    """Cohen's kappa of two raters; scikit-learn's `cohen_kappa_score`.

    Args:
        matrix: (k, k) as `confusion` has it; categories in their order where weighted.
        weights: How much a disagreement counts by the distance of the categories; None: all alike.

    Returns:
        -1..1; None where both raters say one category alone, or nothing.
    """
    observed = np.asarray(matrix, np.float64)
    total = observed.sum()
    if not total:
        return None
    expected = np.outer(observed.sum(1), observed.sum(0)) / total
    distance = np.abs(np.subtract.outer(np.arange(len(observed)), np.arange(len(observed))))
    wrong = distance.astype(np.float64)
    if weights is None:
        wrong = np.minimum(wrong, 1)
    elif weights == "quadratic":
        wrong = wrong**2
    chance = float((wrong * expected).sum())
    return None if chance == 0 else 1 - float((wrong * observed).sum()) / chance


def kappa_interval(
    first: Ints,
    second: Ints,
    categories: int,
    *,
    weights: Weights = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Percentile bootstrap of `cohen_kappa` over the rated items.

    Args:
        first, second: (n,) categories, from 0.
        categories: How many there are.
        weights: As in `cohen_kappa`.
        resamples, level, seed: Of the bootstrap.

    Returns:
        (low, high); None where too few resamples have a kappa.
    """
    if not len(first):
        return None
    # Things of one cell are alike: to draw how many each cell gets is to draw things, and the
    # order of the things makes no difference.
    shares = confusion(first, second, categories).ravel() / len(first)
    drawn = np.random.default_rng(seed).multinomial(len(first), shares, resamples)
    values = np.full((resamples, 1), np.nan)
    for number, cells in enumerate(drawn):
        kappa = cohen_kappa(cells.reshape(categories, categories), weights)
        if kappa is not None:
            values[number] = kappa
    return percentile_intervals(values, level)[0]


def fleiss_kappa(counts: Ints) -> float | None:
    """Fleiss' kappa of two or more raters.

    Args:
        counts: (n, categories) how many raters put a thing into a category; rows add up to the
            number of raters, which is 2 at least.

    Returns:
        -1..1; None where all ratings are of one category, or there are none.
    """
    if not len(counts):
        return None
    raters = int(counts[0].sum())
    alike = (counts * (counts - 1)).sum(1) / (raters * (raters - 1))
    shares = counts.sum(0) / counts.sum()
    chance = float((shares**2).sum())
    return None if chance == 1 else (float(alike.mean()) - chance) / (1 - chance)


def krippendorff_alpha(values: Floats) -> float | None:
    """Krippendorff's alpha of values on an interval scale.

    Args:
        values: (raters, n); NaN where a rater has none.

    Returns:
        At most 1; None where all values are the same, or nothing was rated twice.
    """
    rated = (~np.isnan(values)).sum(0)
    paired = values[:, rated > 1]
    known = ~np.isnan(paired)
    pooled = paired[known]
    if not len(pooled):
        return None
    times = known.sum(0)
    # Sum of squared differences of all ordered pairs: 2 n Σx² - 2 (Σx)², about the mean.
    centred = np.where(known, paired - pooled.mean(), 0.0)
    within = 2 * times * (centred**2).sum(0) - 2 * centred.sum(0) ** 2
    observed = float((within / (times - 1)).sum()) / len(pooled)
    whole = pooled - pooled.mean()
    among = float(2 * len(pooled) * (whole**2).sum() - 2 * whole.sum() ** 2)
    expected = among / (len(pooled) * (len(pooled) - 1))
    return None if expected == 0 else 1 - observed / expected


def spearman(first: Floats, second: Floats) -> float | None:
    """Spearman's rank correlation, ties with their mean rank; None where one side is constant."""
    ranks = [_ranks(first), _ranks(second)]
    if len(first) < 2 or any(np.ptp(one) == 0 for one in ranks):
        return None
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: Floats = (last - (counts - 1) / 2)[place]
    return mean
