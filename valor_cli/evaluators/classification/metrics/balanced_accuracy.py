"""Balanced accuracy."""

from __future__ import annotations

import numpy as np

from valor_cli.evaluators.classification.evidence.decisions import ONE_LABEL, agreement
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.classification.metrics.accuracy import NO_SAMPLES
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric
from valor_cli.results import LabelMean, MetricValue


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
    if not found.total:
        return MetricValue(None, NO_SAMPLES, n=0)
    seen = found.truths > 0
    recalls = quotient(found.right, found.truths, np.nan)
    over = LabelMean(recalls, seen)
    return MetricValue(float(recalls[seen].mean()), n=found.total, over=over)


BALANCED_ACCURACY = Metric(
    name="balanced_accuracy",
    compute=balanced_accuracy,
    needs=ONE_LABEL,
    reference="sklearn.metrics.balanced_accuracy_score",
    citation="Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010",
    aliases=("BalancedAccuracy",),
    condensed=True,
)
