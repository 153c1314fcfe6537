"""Mean accuracy over labels."""

from __future__ import annotations

from valor_cli.evaluators.ratios import over_labels
from valor_cli.evaluators.segmentation.evidence.confusions import WORDS, Confusions, margins
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def mean_accuracy(confusions: Confusions) -> MetricValue:
    """Mean over labels of pixel recall.

    Labels without ground truth do not enter it.

    Formula:
        Σ recall(L) / number of labels L with ground truth
        recall(L) = pixels of L that are predicted as L / pixels of L

    Pitfalls:
        A label that is painted far beyond its outline keeps its full recall, and only the labels
        that it covers pay: `mean_iou` counts both sides.

    Example:
        Of 1,000 pixels 900 are road and 100 person, and all are predicted as road: (1 + 0) / 2 =
        0.5.
    """
    return over_labels(margins(confusions).recall(), "macro", WORDS)


MEAN_ACCURACY = Metric(
    name="mean_accuracy",
    compute=mean_accuracy,
    reference="sklearn.metrics.balanced_accuracy_score",
    citation="Long et al., Fully Convolutional Networks for Semantic Segmentation, CVPR 2015",
    aliases=("mAcc",),
)
