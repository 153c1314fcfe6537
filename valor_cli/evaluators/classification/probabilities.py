"""Scores as probabilities: what each row is divided by."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.scored import Scored

Floats = NDArray[np.float64]

NEEDS: Final = ("ground_truth", "predictions", "probabilities")
"""What metrics of probabilities need: scores from 0 to 1."""

ROUNDING: Final = 1e-3
"""How far from 1 the sum of a row may lie to be rounding, and divided away."""


def sums_to_one(total: Floats) -> NDArray[np.bool_]:
    """(n,) whether the sum of a row is 1 but for rounding of its numbers.

    Args:
        total: (n,) sums of scores.
    """
    # 0.999 is meant to pass, and 1 - 0.999 is a little above 0.001.
    return np.asarray(np.abs(total - 1) <= ROUNDING * (1 + 1e-9))


def divisors(scored: Scored, *, normalize: bool) -> Floats:
    """(n,) what turns each row's scores to probabilities when they are divided by it.

    Its sum, where that is 1 but for rounding or `normalize` asks for it; else 1. Rows of zeros
    stay as they are.
    """
    total = scored.total
    wanted = total > 0 if normalize else sums_to_one(total)
    return np.where(wanted, total, 1.0)


def mean_of_rows(scored: Scored, values: Floats) -> float:
    """The mean over rows, each as often as it counts; there is one at least."""
    return float(np.average(values, weights=scored.row_weights))


def count_of_rows(scored: Scored) -> int:
    """How many rows there are, each as often as it counts."""
    weights = scored.row_weights
    return len(scored.truth) if weights is None else int(weights.sum())
