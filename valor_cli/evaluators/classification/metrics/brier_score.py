"""Brier score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import count_of_rows
from valor_cli.evaluators.classification.evidence.probabilities import (
    NEEDS,
    divisors,
    mean_of_rows,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence, Scored
from valor_cli.evaluators.ratios import over_samples
from valor_cli.metric import Metric, Output
from valor_cli.results import MetricValue


def brier_score(evidence: Evidence, *, normalize: bool = False) -> MetricValue:
    """Mean over samples of the summed squared errors of all labels' probabilities.

    From 0 to 2, as Brier defined it (scikit-learn's `scale_by_half: false`). A label that is not
    listed has probability 0. Rows whose sum is 1 but for rounding (1e-3) are divided by it, with
    `normalize` all rows are.

    Formula:
        (1/n) · Σ over samples of Σ over labels L of (p(L) − y(L))²
        p(L): probability of L; y(L): 1 for the true label, else 0; n: samples

    Pitfalls:
        For two labels this is twice the number that most tools print, which looks at one of them
        only. It mixes how well probabilities are calibrated with how well they discriminate
        between labels.

    Example:
        A cat with cat 0.7, dog 0.2, fox 0.1: (0.7 − 1)² + 0.2² + 0.1² = 0.14.
    """
    mean = mean_of_rows(
        evidence,
        ("squared errors", normalize),
        lambda scored: _errors(scored, normalize=normalize),
    )
    return over_samples(mean, count_of_rows(evidence))


def _errors(scored: Scored, *, normalize: bool) -> NDArray[np.float64]:
    """(n,) squared errors of each row's labels, true label included."""
    divisor = divisors(scored, normalize=normalize)
    true = scored.true_score / divisor
    # The squares of a sure row and its true label may differ in the last bit.
    others = np.maximum(scored.squares / divisor**2 - true**2, 0)
    return np.asarray(others + (1 - true) ** 2)


BRIER_SCORE = Metric(
    name="brier_score",
    compute=brier_score,
    reference="sklearn.metrics.brier_score_loss",
    citation="Brier, Verification of forecasts expressed in terms of probability, Monthly Weather "
    "Review, 1950",
    outputs=(Output(better="lower", bounds=(0, None)),),
    needs=NEEDS,
    condensed=True,
    aliases=("BrierScore",),
)
