"""Precision, recall and F1 of the pixels of each label, and their averages.

F1 of a label that has ground truth and is never predicted follows `zero_division`, where
scikit-learn has 0.
"""

from __future__ import annotations

from valor_cli.evaluators.segmentation.confusions import Confusions
from valor_cli.evaluators.segmentation.plan import ZeroDivision
from valor_cli.evaluators.segmentation.rows import Average, Ratios, over_labels, per_label
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
    pixels = confusions.overlaps()
    predicted = pixels.prediction > 0
    ratios = Ratios(
        pixels.both, pixels.prediction, pixels.truth, predicted, zero_division, needs_truth=False
    )
    return _findings(confusions, ratios, average)


def recall(confusions: Confusions, *, average: Average = "macro") -> Findings:
    """Pixels of each label's ground truth that are predicted right, and the average over labels.

    A label without ground truth has no recall.
    """
    pixels = confusions.overlaps()
    ratios = Ratios.of_truth(pixels.both, pixels.truth, pixels.truth)
    return _findings(confusions, ratios, average)


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
    pixels = confusions.overlaps()
    whole = pixels.truth + pixels.prediction
    predicted = pixels.prediction > 0
    ratios = Ratios(2 * pixels.both, whole, pixels.truth, predicted, zero_division)
    return _findings(confusions, ratios, average)


def _findings(confusions: Confusions, ratios: Ratios, how: Average) -> Findings:
    """A value per label, then the average."""
    return Findings([*per_label(confusions.labels, ratios), over_labels(ratios, how)])


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
