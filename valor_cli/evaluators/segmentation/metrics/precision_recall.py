"""Pixel precision, recall and F1 of each label, and their averages.

F1 of a label with ground truth that is never predicted follows `zero_division`, where scikit-learn
has 0.
"""

from __future__ import annotations

from valor_cli.evaluators.ratios import Average, ZeroDivision, labels_and_average, over_labels
from valor_cli.evaluators.segmentation.evidence.confusions import (
    WORDS,
    Confusions,
    margins,
)
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue

CITATION = "van Rijsbergen, Information Retrieval, 1979"
REFERENCE = "sklearn.metrics.precision_recall_fscore_support"


def precision(
    confusions: Confusions,
    *,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Pixel precision of each label, and the average over labels.

    A label that is never predicted is 0/0 and follows `zero_division`; one without ground truth
    has its precision reported, if it is predicted, and enters no average.

    Formula:
        TP / (TP + FP) for each label, in pixels of all images
        macro: mean over labels; weighted: the same, by ground truth; micro: ΣTP / Σ(TP + FP)

    Pitfalls:
        It says nothing of what is missed: a label predicted for a single pixel, rightly, has 1.
        Pixels predicted as labels without ground truth enter no average.

    Example:
        80 pixels are predicted as road, and 60 of them are road: 60 / 80 = 0.75.
    """
    ratios = margins(confusions).precision(zero_division)._replace(stands_in=False)
    return labels_and_average(confusions.labels, ratios, average, WORDS)


def recall(confusions: Confusions, *, average: Average = "macro") -> Findings:
    """Pixel recall of each label, and the average over labels.

    A label without ground truth has no recall.

    Formula:
        TP / (TP + FN) for each label, in pixels of all images
        macro: mean over labels; micro and weighted: ΣTP / Σ(TP + FN), which is the same for both

    Pitfalls:
        It says nothing of pixels that are wrongly predicted as the label: one that is painted
        everywhere has 1. The macro average is `mean_accuracy`.

    Example:
        100 pixels are road, and 60 of them are predicted as road: 60 / 100 = 0.6.
    """
    ratios = margins(confusions).recall()
    return labels_and_average(confusions.labels, ratios, average, WORDS)


def f1(
    confusions: Confusions,
    *,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Harmonic mean of precision and recall (the Dice coefficient), per label and on average.

    A label that is never predicted follows `zero_division`, as its precision does; one without
    ground truth has no value.

    Formula:
        2·TP / (2·TP + FP + FN) for each label, in pixels of all images
        macro: mean over labels; weighted: the same, by ground truth; micro: of the summed counts

    Pitfalls:
        It is higher than IoU of the same pixels, F1 = 2·IoU / (1 + IoU): do not compare the two.
        Many papers take the mean of each image's Dice; here pixels of all images are one pool.

    Example:
        100 pixels are road, 80 are predicted as road, and 60 are both: 120 / (100 + 80) = 0.667.
    """
    ratios = margins(confusions).f1(zero_division)
    return labels_and_average(confusions.labels, ratios, average, WORDS)


PRECISION = Metric(
    name="precision",
    compute=precision,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("Precision",),
)
RECALL = Metric(
    name="recall",
    compute=recall,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("Recall",),
)
F1 = Metric(
    name="f1",
    compute=f1,
    reference=REFERENCE,
    citation="Dice, Measures of the amount of ecologic association between species, Ecology, 1945",
    aliases=("F1", "dice"),
)


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
