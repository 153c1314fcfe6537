"""Cumulative distribution function of Student's t."""

from __future__ import annotations

from math import exp, lgamma, log, log1p


def student_below(t: float, freedom: float) -> float:
    """Cumulative distribution function of Student's t: the probability of a value of at most t.

    Args:
        t: Any number.
        freedom: Degrees of freedom, above 0, whole or not.

    Returns:
        0..1, to 1e-11 of `scipy.stats.t.cdf`.
    """
    # Abramowitz and Stegun, 26.5.27 and 26.7.1: one tail is half of an incomplete beta function,
    # of x in either of two forms; the continued fraction of the one below its mean converges.
    square = t * t
    if not square:
        return 0.5
    half = freedom / 2
    x = freedom / (freedom + square)
    rest = square / (freedom + square)
    if x < (half + 1) / (half + 2.5):
        tail = _beta_below(x, rest, half, 0.5) / 2
    else:
        tail = (1 - _beta_below(rest, x, 0.5, half)) / 2
    return tail if t < 0 else 1 - tail


def _beta_below(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function of x, where `rest` is 1 - x."""
    if x == 0:
        return 0.0
    logs = a * (log(x) if x < 0.5 else log1p(-rest)) + b * (log(rest) if x > 0.5 else log1p(-x))
    return exp(logs - _log_beta(a, b)) / a * _fraction(x, a, b)


def _log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function, where one of both is 1/2."""
    large = max(a, b)
    if large < 100:
        return lgamma(a) + lgamma(b) - lgamma(a + b)
    # The difference of two large lgamma would lose digits: the series of gamma(a + 1/2) / gamma(a).
    inverse = 1 / large
    series = 1 + inverse * (
        -1 / 8 + inverse * (1 / 128 + inverse * (5 / 1024 - inverse * 21 / 32768))
    )
    return lgamma(0.5) - log(large) / 2 - log(series)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method.

    Press et al., Numerical Recipes, 3rd edition, section 6.4.
    """
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d or tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for factor in (even, odd):
            d = 1 / ((1 + factor * d) or tiny)
            c = (1 + factor / c) or tiny
            step = c * d
            value *= step
        if abs(step - 1) < 1e-15:
            break
    return value
