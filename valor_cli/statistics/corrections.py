"""Corrections of p-values for multiple tests."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction: adjusted p-values that bound the chance of any false alarm.

    Holm, A simple sequentially rejective multiple test procedure, 1979; as
    `statsmodels.stats.multitest.multipletests` with `method="holm"`. It asks nothing of how the
    tests depend on each other.

    Args:
        p: Of each test, 0..1; None: there was no test, and it does not count.

    Returns:
        Adjusted p-values in the same order, 0..1; None where there was no test.
    """
    made = sorted((one, at) for at, one in enumerate(p) if one is not None)
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for rank, (one, at) in enumerate(made):
        # No test may look surer than one with a smaller p-value.
        largest = max(largest, min(1.0, one * (len(made) - rank)))
        adjusted[at] = largest
    return adjusted
