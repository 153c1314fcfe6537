"""Balanced accuracy: recall of the top label, every true label counting alike."""

from __future__ import annotations

from valor_cli.evaluators.classification.accuracy import NO_SAMPLES
from valor_cli.evaluators.classification.decisions import agreement
from valor_cli.evaluators.classification.scored import Evidence
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def balanced_accuracy(evidence: Evidence) -> MetricValue:
    """Unweighted mean, over labels with ground truth, of how often the top label is right.

    A sample without a prediction counts as wrong. A label that is only predicted enters no mean.
    """
    found = agreement(evidence)
    if not found.total:
        return MetricValue(None, NO_SAMPLES, n=0)
    seen = found.truths > 0
    return MetricValue(float((found.right[seen] / found.truths[seen]).mean()), n=found.total)


BALANCED_ACCURACY = Metric(
    name="balanced_accuracy",
    compute=balanced_accuracy,
    reference="sklearn.metrics.balanced_accuracy_score",
    citation="Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010",
    aliases=("BalancedAccuracy",),
    condensed=True,
)
