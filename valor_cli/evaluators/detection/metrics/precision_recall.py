"""Precision, recall and F1 of each label at one threshold pair, and their averages.

The score threshold may be set per label, for example to the ones `best_f1` reports; other labels
then use 0.5. Averages are over labels that have ground truth. F1 of a label with ground truth and
no detection follows `zero_division`, where scikit-learn has 0.
"""

from __future__ import annotations

from functools import partial

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import (
    UNNAMED,
    IouThreshold,
    MaxDetections,
    levels_of,
)
from valor_cli.evaluators.parameters import ScoreThreshold, label_threshold
from valor_cli.evaluators.ratios import (
    Average,
    Margins,
    Ratios,
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
    score_threshold: ScoreThreshold = 0.5,
    max_detections: MaxDetections = None,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Precision of each label, and the average over labels.

    A label without any detection at the threshold is 0/0 and follows `zero_division`; one
    without ground truth has its precision reported, too, and enters no average.

    Formula:
        TP / (TP + FP) for each label, at one IoU threshold and one score threshold
        macro: mean over labels; weighted: the same, by ground truths; micro: ΣTP / Σ(TP + FP)

    Pitfalls:
        Models whose scores are spread differently do not compare at one score threshold: see
        `best_f1`. A second detection of an object is a false positive, so low values may be
        duplicates, and those of labels without ground truth enter no average.

    Example:
        10 detections of cats score 0.5 or more, and 8 of them match a cat: 8 / 10 = 0.8.
    """
    margins = _margins(matches, iou_threshold, score_threshold, max_detections)
    return _findings(matches, margins.precision(zero_division), average, score_threshold)


def recall(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: ScoreThreshold = 0.5,
    max_detections: MaxDetections = None,
    average: Average = "macro",
) -> Findings:
    """Recall of each label, and the average over labels.

    A label without ground truth has no recall.

    Formula:
        TP / (TP + FN) for each label, at one IoU threshold and one score threshold
        macro: mean over labels; micro and weighted: ΣTP / Σ(TP + FN), which is the same for both

    Pitfalls:
        It says nothing of false alarms. Detections below the score threshold do not count, so that
        it is not what a model could find at most: that is `average_recall`.

    Example:
        8 of 10 cats are matched by a detection that scores 0.5 or more: 8 / 10 = 0.8.
    """
    margins = _margins(matches, iou_threshold, score_threshold, max_detections)
    return _findings(matches, margins.recall(), average, score_threshold)


def f1(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: ScoreThreshold = 0.5,
    max_detections: MaxDetections = None,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Harmonic mean of precision and recall of each label, and the average over labels.

    A label without any detection at the threshold follows `zero_division`, as its precision does;
    one without ground truth has no value.

    Formula:
        2·TP / (2·TP + FP + FN) = 2·precision·recall / (precision + recall) for each label
        macro: mean over labels; weighted: the same, by ground truths; micro: of the summed counts

    Pitfalls:
        It belongs to one IoU threshold and one score threshold, and 0.5 is seldom a model's best
        score threshold: see `best_f1`. A loose box costs twice, as a false positive and as a false
        negative.

    Example:
        TP 6, FP 2, FN 4: 12 / (12 + 2 + 4) = 0.667, between a precision of 0.75 and a recall of
        0.6.
    """
    margins = _margins(matches, iou_threshold, score_threshold, max_detections)
    return _findings(matches, margins.f1(zero_division), average, score_threshold)


def _margins(
    matches: Matches, iou: float, score: ScoreThreshold, max_detections: int | None
) -> Margins:
    tp, fp, fn = matches.counts(iou, levels_of(matches.labels, score), max_detections)
    return Margins(tp, tp + fp, tp + fn, tp + fn > 0)


def _findings(
    matches: Matches, ratios: Ratios, average: Average, score_threshold: ScoreThreshold
) -> Findings:
    own_threshold = partial(label_threshold, score_threshold, unnamed=UNNAMED)
    return labels_and_average(matches.labels, ratios, average, WORDS, own_threshold)


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
