"""Precision, recall and F1 of the pixels of each label, and their averages.

F1 of a label that has ground truth and is never predicted follows `zero_division`, where
scikit-learn has 0.
"""

from __future__ import annotations

from valor_cli.evaluators.ratios import Average, ZeroDivision, labels_and_average
from valor_cli.evaluators.segmentation.confusions import Confusions
from valor_cli.evaluators.segmentation.rows import WORDS, margins
from valor_cli.metric import Metric
from valor_cli.results import Findings

CITATION = "van Rijsbergen, Information Retrieval, 1979"
REFERENCE = "sklearn.metrics.precision_recall_fscore_support"


def precision(
    confusions: Confusions,
    *,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Right pixels among those predicted as each label, and the average over labels.

    A label that is never predicted is 0/0 and follows `zero_division`; one without ground truth
    has its precision reported, if it is predicted, and enters no average.
    """
    ratios = margins(confusions).precision(zero_division)
    return labels_and_average(confusions.labels, ratios, average, WORDS)


def recall(confusions: Confusions, *, average: Average = "macro") -> Findings:
    """Pixels of each label's ground truth that are predicted right, and the average over labels.

    A label without ground truth has no recall.
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
