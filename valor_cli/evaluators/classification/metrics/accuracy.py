"""Accuracy."""

from __future__ import annotations

import numpy as np

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, agreement
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.ratios import over_samples
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def accuracy(evidence: Evidence) -> MetricValue:
    """The share of samples whose top label is correct.

    The top label has the highest score, of equal ones it is the first listed; no threshold. A
    sample without a prediction counts as wrong.

    Formula:
        right / n
        right: samples whose top label is their true one; n: all samples

    Pitfalls:
        Where labels are unequal it mostly says how the largest one does: who always answers that
        label has its share of the samples. Look at `balanced_accuracy` or `matthews_corrcoef`
        beside it.

    Example:
        90 of 100 samples are cats, and all 100 are called cats: 90 / 100 = 0.9.
    """
    found = agreement(evidence)
    # A sample has one row of a label key: these are independent, and right or wrong.
    share = quotient(found.correct, found.total, np.nan)
    return over_samples(share, found.total, proportion=True)


ACCURACY = Metric(
    name="accuracy",
    compute=accuracy,
    needs=ONE_LABEL,
    reference="sklearn.metrics.accuracy_score",
    citation="ISO 5725-1:1994, Accuracy of measurement methods and results",
    aliases=("Accuracy",),
    condensed=True,
)
