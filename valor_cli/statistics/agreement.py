"""Chance-corrected agreement between raters.

Cohen, A coefficient of agreement for nominal scales, 1960; Cohen, Weighted kappa, 1968; Fleiss,
Measuring nominal scale agreement among many raters, 1971; Krippendorff, Content Analysis, 2004.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.statistics.bootstrap import cluster_sums, percentile_intervals, resampled_sums

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = Literal["linear", "quadratic"] | None

RESAMPLES, LEVEL, SEED = 1000, 0.95, 0
"""Of intervals by bootstrap, unless asked otherwise."""

_NOTHING = 1e-12
"""Mean squared difference of values, of which the largest is 1, that is rounding and none."""


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
    kappa = float(_kappas(matrix, weights))
    return None if np.isnan(kappa) else kappa


def _kappas(matrices: NDArray[np.number], weights: Weights = None) -> Floats:
    """(...,) `cohen_kappa` of each of (..., k, k); NaN where it is None."""
    observed = np.asarray(matrices, np.float64)
    at = np.arange(observed.shape[-1])
    distance = np.abs(np.subtract.outer(at, at)).astype(np.float64)
    counts = {None: np.minimum(distance, 1), "linear": distance, "quadratic": distance**2}
    wrong = counts[weights]
    # Whole numbers throughout: the order of sums makes no difference.
    apart = (observed * wrong).sum((-2, -1)) * observed.sum((-2, -1))
    chance = ((observed.sum(-1) @ wrong) * observed.sum(-2)).sum(-1)
    kappas = np.full(chance.shape, np.nan)
    np.divide(chance - apart, chance, out=kappas, where=chance > 0)
    return kappas


def kappa_interval(
    first: Ints,
    second: Ints,
    categories: int,
    *,
    clusters: Ints | None = None,
) -> tuple[float, float] | None:
    """Percentile bootstrap of `cohen_kappa` over the rated items.

    Args:
        first, second: (n,) categories, from 0.
        categories: How many there are.
        clusters: (n,) the unit of each, from 0, where units are drawn with all their items; None:
            each item is one.

    Returns:
        (low, high); None where too few resamples have a kappa.
    """
    if not len(first):
        return None
    drawn: NDArray[np.number]
    if clusters is None:
        # Things of one cell are alike: to draw how many each cell gets is to draw things, and the
        # order of the things makes no difference.
        shares = confusion(first, second, categories).ravel() / len(first)
        drawn = np.random.default_rng(SEED).multinomial(len(first), shares, RESAMPLES)
    else:
        cells = np.zeros((len(first), categories**2))
        cells[np.arange(len(first)), first * categories + second] = 1
        drawn = resampled_sums(cluster_sums(cells, clusters), RESAMPLES, SEED)
    values = _kappas(drawn.reshape(RESAMPLES, categories, categories))
    return percentile_intervals(values[:, None], LEVEL)[0]


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


def krippendorff_alpha(values: Floats, *, nominal: bool = False) -> float | None:
    """Krippendorff's alpha of values on an interval scale, or of categories.

    Args:
        values: (raters, n); NaN where a rater has none.
        nominal: Whether values are categories, of which any two are equally far apart.

    Returns:
        At most 1; None where all values are the same, or nothing was rated twice.
    """
    alpha = float(_alphas(_unit_sums(values, nominal).sum(0)))
    return None if np.isnan(alpha) else alpha


def _unit_sums(values: Floats, nominal: bool) -> Floats:
    """(n, 1 + 3 k) what `_alphas` needs the sums of, for each thing that was rated twice or more.

    How often it was rated; then of each of k scales the sum of values and of their squares, and the
    squared differences of pairs by rating. Categories are k scales of 0 and 1: any two categories
    are equally far apart on them together.
    """
    paired = values[:, (~np.isnan(values)).sum(0) > 1]
    if not paired.size:
        return np.zeros((0, 1))
    known = ~np.isnan(paired)
    times = known.sum(0)
    if nominal:
        scales: list[NDArray[Any]] = [paired == one for one in np.unique(paired[known])]
    else:
        scales = [(paired - paired[known].min()) / (np.ptp(paired[known]) or 1.0)]
    columns = [times]
    for scale in scales:
        centred = np.where(known, scale - np.mean(scale[known]), 0.0)
        first, second = centred.sum(0), (centred**2).sum(0)
        columns += [first, second, (2 * times * second - 2 * first**2) / (times - 1)]
    return np.array(columns, np.float64).T


def _alphas(sums: Floats) -> Floats:
    """(...,) alpha from (..., 1 + 3 k) sums over things of what `_unit_sums` has; NaN for none."""
    count, of_scales = sums[..., 0], sums[..., 1:].reshape(*sums.shape[:-1], -1, 3)
    first, second, within = np.moveaxis(of_scales, -1, 0)
    among = 2 * count * second.sum(-1) - 2 * (first**2).sum(-1)
    alphas = np.full(among.shape, np.nan)
    np.divide(within.sum(-1) * (count - 1), among, out=alphas, where=among > _NOTHING * count**2)
    return 1 - alphas


def alpha_interval(values: Floats, *, nominal: bool = False) -> tuple[float, float] | None:
    """Percentile bootstrap of `krippendorff_alpha` over the rated items.

    Returns:
        (low, high); None where too few resamples have an alpha.
    """
    sums = _unit_sums(values, nominal)
    if not len(sums):
        return None
    resampled = _alphas(resampled_sums(sums, RESAMPLES, SEED))
    return percentile_intervals(resampled[:, None], LEVEL)[0]


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
