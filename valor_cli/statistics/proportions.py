"""Wilson's interval of a proportion."""

from __future__ import annotations

from math import sqrt


def wilson_interval(successes: float, n: int, level: float) -> tuple[float, float] | None:
    """Wilson's score interval of a proportion of independent trials.

    Wilson, Probable inference, the law of succession, and statistical inference, JASA 1927;
    without continuity correction, as `statsmodels.stats.proportion.proportion_confint`.

    Args:
        successes: How many of the trials, 0..n.
        n: How many trials.
        level: Confidence, in (0, 1).

    Returns:
        (low, high) within 0..1, around the proportion; None without trials.
    """
    if n <= 0:
        return None
    # Its import takes 10 ms, and a run without intervals needs none of it.
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(max(share * (1 - share), 0) / n + z * z / (4 * n * n))
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)
