"""One-sided tests that one mean is lower than another.

Welch's test alone does not suit slices of data: thirty samples that all fail have no variance and
look certain beside the rest, however few of the rest pass. Student's test, which gives both sets
the pooled variance, errs the other way where a slice varies more than the rest. The larger of the
two p-values is used; it is wrong only where both are, which is rare.
"""

from __future__ import annotations

from math import exp, lgamma
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.statistics.student import student_below

Floats: TypeAlias = NDArray[np.float64]

_EQUAL = 1e-12
"""Share of the mean square below which values are one value, and means one mean: the rest is of
rounding."""


class Moments(NamedTuple):
    """Counts, sums and sums of squares of several sets of values, (k,) each.

    The values should be near 0 as a whole: the variance is a difference of the two sums.
    """

    n: Floats
    total: Floats
    squares: Floats

    @property
    def mean(self) -> Floats:
        """(k,) means; NaN for empty sets."""
        return np.divide(self.total, self.n, out=self._none(), where=self.n > 0)

    @property
    def variance(self) -> Floats:
        """(k,) sample variances (ddof 1), at least 0; NaN for fewer than two values."""
        enough = self.n > 1
        square = np.divide(self.total**2, self.n, out=self._none(), where=enough)
        found = np.divide(self.squares - square, self.n - 1, out=self._none(), where=enough)
        return np.maximum(found, 0)

    def _none(self) -> Floats:
        return np.full(len(self.n), np.nan)

    def of(self, chosen: NDArray[np.bool_]) -> Moments:
        """Select sets."""
        return Moments(self.n[chosen], self.total[chosen], self.squares[chosen])


def lower_means(inside: Moments, outside: Moments, *, below: float) -> Floats:
    """(k,) one-sided p-value of the test that the mean inside is lower than the mean outside.

    It is the larger of those of Welch's test and of Student's, as `scipy.stats.ttest_ind` has them
    with `alternative="less"`. Where neither set varies, it is how likely chance alone parts the
    values so: one way of all there are to choose as many.

    Args:
        inside, outside: Of each pair of sets.
        below: Only p-values below this are computed, which takes a hundredth of the time.

    Returns:
        1 wherever it is not below that; NaN where one of both has fewer than two values.
    """
    means, variances = (inside.mean, outside.mean), (inside.variance, outside.variance)
    sizes = (inside.n, outside.n)
    whole = inside.n + outside.n
    squares = np.divide(inside.squares + outside.squares, whole, out=0 * whole, where=whole > 0)
    one_value = variances[0] + variances[1] <= _EQUAL * squares
    p = np.where(np.isnan(variances[0] + variances[1]), np.nan, 1.0)
    # Of equal t, Student's distribution has more below it than the normal one.
    limit = _normal_quantile(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = means[0] - means[1]
        welch = difference / np.sqrt(variances[0] / sizes[0] + variances[1] / sizes[1])
        pooled = _pooled(sizes, variances)
        student = difference / np.sqrt(pooled * (1 / sizes[0] + 1 / sizes[1]))
        lower = (difference < 0) & (difference**2 > _EQUAL * squares)
        chosen = np.where(one_value, lower, np.maximum(welch, student) < limit)
    for at in np.flatnonzero(chosen & ~np.isnan(p)).tolist():
        n, m = float(sizes[0][at]), float(sizes[1][at])
        if one_value[at]:
            p[at] = exp(lgamma(n + 1) + lgamma(m + 1) - lgamma(n + m + 1))
            continue
        parts = float(variances[0][at]) / n, float(variances[1][at]) / m
        freedom = sum(parts) ** 2 / (parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))
        p[at] = max(
            student_below(float(welch[at]), freedom), student_below(float(student[at]), n + m - 2)
        )
    return np.where(p < below, p, np.where(np.isnan(p), np.nan, 1.0))


def _pooled(sizes: tuple[Floats, Floats], variances: tuple[Floats, Floats]) -> Floats:
    """(k,) the variance of both sets around their own means."""
    inside, outside = ((n - 1) * one for n, one in zip(sizes, variances, strict=True))
    return np.asarray((inside + outside) / (sizes[0] + sizes[1] - 2), np.float64)


def _normal_quantile(part: float) -> float:
    """Where the normal distribution has that part below it."""
    # Its import costs 5 ms, which most runs can save.
    from statistics import NormalDist

    return NormalDist().inv_cdf(part) if part < 1 else float("inf")
