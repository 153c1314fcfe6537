"""Mean accuracy: the mean of the labels' recalls."""

from __future__ import annotations

from valor_cli.evaluators.ratios import over_labels
from valor_cli.evaluators.segmentation.confusions import Confusions
from valor_cli.evaluators.segmentation.rows import WORDS, margins
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def mean_accuracy(confusions: Confusions) -> MetricValue:
    """Mean over labels of the part of their ground truth pixels that is predicted right.

    Labels without ground truth do not enter it.
    """
    return over_labels(margins(confusions).recall(), "macro", WORDS)


MEAN_ACCURACY = Metric(
    name="mean_accuracy",
    compute=mean_accuracy,
    reference="sklearn.metrics.balanced_accuracy_score",
    citation="Long et al., Fully Convolutional Networks for Semantic Segmentation, CVPR 2015",
    aliases=("mAcc",),
)
