"""Precision, recall and F1 of each label at one threshold pair, and their averages.

Averages run over labels that have ground truth: macro is the plain mean, weighted the mean by
number of ground truths, micro the ratio of the summed counts. F1 of a label that has ground truth
and no detection follows `zero_division`, where scikit-learn has 0.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.matches import Matches
from valor_cli.evaluators.detection.plan import IouThreshold, MaxDetections, ZeroDivision
from valor_cli.evaluators.detection.rows import NO_GROUND_TRUTH
from valor_cli.kernels.columns import quotient
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue

Average = Literal["macro", "micro", "weighted"]
Amounts = NDArray[np.int64]

REFERENCE = "pycocotools.cocoeval.COCOeval.evaluateImg, its matches counted"
CITATION = "van Rijsbergen, Information Retrieval, 1979"
NO_PREDICTIONS = "0/0: no prediction at this threshold; zero_division stands in"


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
    tp, fp, fn = _counts(matches, iou_threshold, score_threshold, max_detections)
    ratios = _Ratios(tp, tp + fp, tp + fp > 0, tp + fn, zero_division)
    return _findings(matches, ratios, average, needs_truth=False)


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
    tp, _, fn = _counts(matches, iou_threshold, score_threshold, max_detections)
    ratios = _Ratios(tp, tp + fn, tp + fn > 0, tp + fn, 0.0)
    return _findings(matches, ratios, average, needs_truth=True)


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
    tp, fp, fn = _counts(matches, iou_threshold, score_threshold, max_detections)
    ratios = _Ratios(2 * tp, 2 * tp + fp + fn, tp + fp > 0, tp + fn, zero_division)
    return _findings(matches, ratios, average, needs_truth=True)


class _Ratios(NamedTuple):
    """Columns over labels: part / whole where defined, else `instead`."""

    part: Amounts
    whole: Amounts
    defined: NDArray[np.bool_]
    truths: Amounts
    instead: float

    @property
    def values(self) -> NDArray[np.float64]:
        """(labels,) the ratios."""
        return quotient(self.part, np.where(self.defined, self.whole, 0), self.instead)


def _counts(
    matches: Matches, iou: float, score: float, max_detections: int | None
) -> tuple[Amounts, Amounts, Amounts]:
    found = matches.counts(iou, [score], max_detections)
    return found.tp[0], found.fp[0], found.fn[0]


def _findings(
    matches: Matches, ratios: _Ratios, average: Average, *, needs_truth: bool
) -> Findings:
    """A value per label, then the average over labels with ground truth."""
    values: list[MetricValue] = []
    for label, value, defined, n in zip(
        matches.labels,
        ratios.values.tolist(),
        ratios.defined.tolist(),
        ratios.truths.tolist(),
        strict=True,
    ):
        if not n and (needs_truth or not defined):
            values.append(MetricValue(None, NO_GROUND_TRUTH, label=label, n=n))
        else:
            why = None if defined else NO_PREDICTIONS
            values.append(MetricValue(value, why, label=label, n=n))
    return Findings([*values, _average(ratios, average)])


def _average(ratios: _Ratios, average: Average) -> MetricValue:
    seen = ratios.truths > 0
    n = int(ratios.truths.sum())
    if not n:
        return MetricValue(None, "no label has ground truth", n=n)
    if not ratios.defined[seen].any():
        return MetricValue(ratios.instead, NO_PREDICTIONS, n=n)
    if average == "micro":
        return MetricValue(float(ratios.part[seen].sum() / ratios.whole[seen].sum()), n=n)
    weights = ratios.truths[seen] if average == "weighted" else None
    return MetricValue(float(np.average(ratios.values[seen], weights=weights)), n=n)


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
