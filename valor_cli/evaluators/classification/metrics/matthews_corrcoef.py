"""Matthews correlation coefficient for any number of labels."""

from __future__ import annotations

import math

import numpy as np

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, agreement
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.ratios import over_samples
from valor_cli.kernels.columns.grouping import exact_quotient
from valor_cli.metric import Metric, Output
from valor_cli.results import MetricValue


def matthews_corrcoef(evidence: Evidence) -> MetricValue:
    """Correlation of true and top labels: 1 if perfect, 0 if no better than chance.

    No prediction is one more predicted label. With a single label on either side there is nothing
    to correlate, and no value, where scikit-learn has 0.

    Formula:
        (n·c − Σ t(L)·p(L)) / √((n² − Σ t(L)²) · (n² − Σ p(L)²)), sums over labels L
        n: samples; c: right ones; t(L), p(L): how often L is true, how often it is predicted

    Pitfalls:
        It is no share of right answers: 0 is what chance gives, and below 0 is worse than chance.
        On data where almost every sample has the same label, a few samples decide it.

    Example:
        6 of 8 cats and 3 of 4 dogs are right, so 7 cats and 5 dogs are predicted: (12·9 − (8·7 +
        4·5)) / √((144 − 80)·(144 − 74)) = 32 / 66.93 = 0.478, where accuracy is 0.75.
    """
    margins = agreement(evidence)
    # Whole numbers of any size: products of squares overflow 64 bits from 100,000 samples on.
    n, truths, predictions = (
        one.astype(object) for one in (margins.total, margins.truths, margins.predictions)
    )
    covariance = n * margins.correct - (truths * predictions).sum(axis=1)
    of_truths, of_predictions = (n * n - (one * one).sum(axis=1) for one in (truths, predictions))
    none = "a single label is predicted" if of_truths[0] else "a single label has ground truth"
    roots = np.array([math.sqrt(one) for one in of_truths * of_predictions])
    return over_samples(exact_quotient(covariance, roots), margins.total, none=none)


MATTHEWS_CORRCOEF = Metric(
    name="matthews_corrcoef",
    compute=matthews_corrcoef,
    needs=ONE_LABEL,
    reference="sklearn.metrics.matthews_corrcoef",
    citation="Gorodkin, Comparing two K-category assignments by a K-category correlation "
    "coefficient, Computational Biology and Chemistry, 2004",
    outputs=(Output(bounds=(-1, 1)),),
    aliases=("MCC", "mcc"),
    condensed=True,
)
