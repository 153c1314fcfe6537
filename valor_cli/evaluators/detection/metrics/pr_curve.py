"""Precision-recall curves of each label, by score threshold or by recall."""

from __future__ import annotations

from typing import Literal

import numpy as np

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import IouThreshold, MaxDetections
from valor_cli.evaluators.parameters import SCORES
from valor_cli.kernels.columns.grouping import nulls, quotient
from valor_cli.kernels.ranking.precision_recall import RECALLS
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricCurve


def pr_curve(
    matches: Matches,
    *,
    thresholds: Literal["scores", "recall"] = "scores",
    pr_curve_iou_threshold: IouThreshold = 0.5,
    max_detections: MaxDetections = None,
) -> Findings:
    """Precision and recall of each label by score threshold, or precision by recall.

    `thresholds: scores` counts true and false positives and false negatives at the scores 0.05,
    0.10 … 0.95; a second detection of an object is a false positive. `thresholds: recall` gives the
    interpolated precision at the 101 recalls 0, 0.01 … 1 and the score that reaches each; its mean
    is the average precision at the same `max_detections`. Points that are 0/0 and scores of recalls
    that are never reached are null. A label without ground truth has no curve along recall, and
    along scores its false positives and precision alone, if it is predicted.

    Formula:
        precision = TP / (TP + FP), recall = TP / (TP + FN), F1 = 2·TP / (2·TP + FP + FN)
        by recall r: the highest precision at a recall of at least r, and the score that reaches r

    Pitfalls:
        Along recall, precision is the best that is still to come and never rises, so the dips of
        the raw curve are gone. Of a model whose scores all lie in a narrow range the 19 thresholds
        show little.

    Example:
        2 objects; detections score 0.9 (right), 0.8 (wrong), 0.7 (right). At 0.75 precision and
        recall are 1/2, at 0.7 precision is 2/3 and recall 1.
    """
    if thresholds == "recall":
        return _by_recall(matches, pr_curve_iou_threshold, max_detections)
    return _by_score(matches, pr_curve_iou_threshold, max_detections)


def _by_score(matches: Matches, iou: float, max_detections: int | None) -> Findings:
    tp, fp, fn = matches.counts_by_score(iou, SCORES, max_detections)
    columns = {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "precision": quotient(tp, tp + fp, np.nan),
        "recall": quotient(tp, tp + fn, np.nan),
        "f1": quotient(2 * tp, np.where(tp + fn, 2 * tp + fp + fn, 0), np.nan),
    }
    seen = np.flatnonzero((matches.ground_truth_count[0] > 0) | (fp[0] > 0))
    return Findings(
        curves=[
            MetricCurve(
                {
                    "score_threshold": SCORES,
                    **{name: nulls(column[:, at]) for name, column in columns.items()},
                },
                label=matches.labels[at],
            )
            for at in seen.tolist()
        ]
    )


def _by_recall(matches: Matches, iou: float, max_detections: int | None) -> Findings:
    precision = matches.precision([iou], max_detections)[0, 0]
    # Precision is 0 exactly where a recall is never reached: a true positive has more.
    scores = np.where(precision > 0, matches.scores([iou], max_detections)[0], np.nan)
    return Findings(
        curves=[
            MetricCurve(
                {
                    "recall": RECALLS.tolist(),
                    "precision": precision[:, at].tolist(),
                    "score": nulls(scores[:, at]),
                },
                label=matches.labels[at],
            )
            for at in np.flatnonzero(matches.ground_truth_count[0]).tolist()
        ]
    )


PR_CURVE = Metric(
    name="pr_curve",
    compute=pr_curve,
    reference="pycocotools.cocoeval.COCOeval.accumulate",
    citation="Everingham et al., The PASCAL Visual Object Classes Challenge, IJCV 2010",
    outputs=(),
    draws="curves",
    aliases=("PrecisionRecallCurve",),
)
