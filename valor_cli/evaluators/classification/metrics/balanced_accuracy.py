"""Balanced accuracy."""

from __future__ import annotations

import numpy as np

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, agreement
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.ratios import NO_SAMPLES, mean_over_labels
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def balanced_accuracy(evidence: Evidence) -> MetricValue:
    """Unweighted mean over labels with ground truth of the recall of the top label.

    A sample without a prediction counts as wrong. A label that is only predicted enters no mean.

    Formula:
        mean over labels L with ground truth of right(L) / truths(L)
        truths(L): samples of true label L; right(L): those of them whose top label is L

    Pitfalls:
        A label of three samples weighs as much as one of thousands, so a few rare samples can move
        the value. Guessing has 1 / labels here, not 0.

    Example:
        90 cats, all right, and 10 dogs, none right: (90/90 + 0/10) / 2 = 0.5, where accuracy is
        0.9.
    """
    found = agreement(evidence)
    recalls = quotient(found.right, found.truths, np.nan)
    return mean_over_labels(recalls, found.total, NO_SAMPLES)


BALANCED_ACCURACY = Metric(
    name="balanced_accuracy",
    compute=balanced_accuracy,
    needs=ONE_LABEL,
    reference="sklearn.metrics.balanced_accuracy_score",
    citation="Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010",
    aliases=("BalancedAccuracy",),
    condensed=True,
)
