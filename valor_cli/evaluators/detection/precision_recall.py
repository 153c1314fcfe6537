"""Precision, recall and F1 of each label at one threshold pair, and their averages.

Averages run over labels that have ground truth. F1 of a label that has ground truth and no
detection follows `zero_division`, where scikit-learn has 0.
"""

from __future__ import annotations

from valor_cli.evaluators.detection.matches import Matches
from valor_cli.evaluators.detection.plan import IouThreshold, MaxDetections
from valor_cli.evaluators.ratios import (
    Average,
    Margins,
    Words,
    ZeroDivision,
    labels_and_average,
)
from valor_cli.metric import Metric
from valor_cli.results import Findings

REFERENCE = "pycocotools.cocoeval.COCOeval.evaluateImg, its matches counted"
CITATION = "van Rijsbergen, Information Retrieval, 1979"
NO_PREDICTIONS = "0/0: no prediction at this threshold; zero_division stands in"
WORDS = Words(NO_PREDICTIONS, NO_PREDICTIONS)


def precision(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: float = 0.5,
    max_detections: MaxDetections = None,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """True positives among the detections of each label, and the average over labels.

    A label without any detection at the threshold is 0/0 and follows `zero_division`; one
    without ground truth has its precision reported, if it has detections, and enters no average.
    """
    margins = _margins(matches, iou_threshold, score_threshold, max_detections)
    return labels_and_average(matches.labels, margins.precision(zero_division), average, WORDS)


def recall(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: float = 0.5,
    max_detections: MaxDetections = None,
    average: Average = "macro",
) -> Findings:
    """Ground truths of each label that were found, and the average over labels.

    A label without ground truth has no recall.
    """
    margins = _margins(matches, iou_threshold, score_threshold, max_detections)
    return labels_and_average(matches.labels, margins.recall(), average, WORDS)


def f1(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: float = 0.5,
    max_detections: MaxDetections = None,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Harmonic mean of precision and recall of each label, and the average over labels.

    A label without any detection at the threshold follows `zero_division`, as its precision does;
    one without ground truth has no value.
    """
    margins = _margins(matches, iou_threshold, score_threshold, max_detections)
    return labels_and_average(matches.labels, margins.f1(zero_division), average, WORDS)


def _margins(matches: Matches, iou: float, score: float, max_detections: int | None) -> Margins:
    found = matches.counts(iou, [score], max_detections)
    tp, fp, fn = found.tp[0], found.fp[0], found.fn[0]
    return Margins(tp, tp + fp, tp + fn, tp + fn > 0)


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
    citation=CITATION,
    aliases=("F1",),
)
