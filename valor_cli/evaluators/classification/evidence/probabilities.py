"""Convert scores to probabilities, and average over rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, count_of_rows
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.kernels.ranking.exact_sums import exact_parts, exact_sums, weighted_sums

Floats = NDArray[np.float64]

PROBABILITIES: Final = "probabilities"
"""The need for scores from 0 to 1."""

NEEDS: Final = (*ONE_LABEL, PROBABILITIES)
"""What metrics of probabilities need: scores from 0 to 1, of which one label is right."""

ROUNDING: Final = 1e-3
"""How far from 1 the sum of a row may lie to be rounding, and divided away."""


def sums_to_one(total: Floats) -> NDArray[np.bool_]:
    """(n,) whether each row sums to 1, up to rounding.

    Args:
        total: (n,) sums of scores.
    """
    # 0.999 is meant to pass, and 1 - 0.999 is a little above 0.001.
    return np.asarray(np.abs(total - 1) <= ROUNDING * (1 + 1e-9))


def divisors(scored: Scored, *, normalize: bool) -> Floats:
    """(n,) divisors that convert the scores of each row to probabilities.

    Its sum, where that is 1 but for rounding or `normalize` asks for it; else 1. Rows of zeros
    stay as they are.
    """
    total = scored.total
    wanted = total > 0 if normalize else sums_to_one(total)
    return np.where(wanted, total, 1.0)


def mean_of_rows(evidence: Evidence, name: Hashable, values: Callable[[Scored], Floats]) -> Floats:
    """(replicas,) mean over rows, of an exact sum; NaN without rows.

    Args:
        evidence: The rows, or what was condensed of them.
        name: What is summed, as in `tally`.
        values: The rows to a number, (n,), for each.
    """

    def found(scored: Scored) -> Floats:
        return scored.once(("values of rows", name), lambda: values(scored))

    if isinstance(evidence, Scored) and evidence.resampled:
        rows = evidence
        parts = rows.once(("parts of rows", name), lambda: exact_parts(found(rows)[None]))
        (totals,) = weighted_sums(rows.row_weights, parts)
    else:
        totals = evidence.tally(name, lambda scored: exact_sums(found(scored))).rounded()
    return quotient(totals, count_of_rows(evidence), np.nan)
