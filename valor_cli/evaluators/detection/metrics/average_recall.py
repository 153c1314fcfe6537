"""Average recall per label, and its mean over labels.

Recall averaged over IoU thresholds (Hosang et al., 2015; COCO's AR with `max_detections`). A label
without ground truth has no value and is not averaged; one that is never detected has 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import (
    COCO_IOUS,
    IouThresholds,
    MaxDetections,
    RecallScores,
)
from valor_cli.evaluators.detection.evidence.rows import means_by_label, over_labels, per_label
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue

REFERENCE = "pycocotools.cocoeval.COCOeval"
CITATION = "Hosang et al., What makes for effective detection proposals?, TPAMI 2016"


def average_recall(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    recall_score_threshold: RecallScores = 0.0,
    max_detections: MaxDetections = None,
) -> Findings:
    """Mean over IoU thresholds of the recall of each label.

    Detections count from `recall_score_threshold` on: for scores below 0, such as logits, lower it.
    Of several score thresholds the value is the mean over them, too.
    `max_detections` keeps only the best so many per image and label, as COCO's AR@1, AR@10 and
    AR@100 do.

    Formula:
        mean over the IoU thresholds t of TP(t) / ground truths
        TP(t): ground truths of the label that a detection matches with IoU ≥ t

    Pitfalls:
        False positives cost nothing: a model that puts boxes everywhere does well. All detections
        count by default, where COCO's AR counts the best 100 of an image and label:
        `max_detections: 100`.

    Example:
        2 objects, found with IoUs of 0.92 and 0.62: recall is 1 at 3 thresholds (0.50 to 0.60), 0.5
        at 6 (0.65 to 0.90) and 0 at 0.95, and (3·1 + 6·0.5) / 10 = 0.6.
    """
    recalls = _recalls(matches, iou_thresholds, recall_score_threshold, max_detections)
    return Findings(per_label(matches, means_by_label(recalls)))


def mean_average_recall(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    recall_score_threshold: RecallScores = 0.0,
    max_detections: MaxDetections = None,
) -> MetricValue:
    """Mean over labels with ground truth of average recall.

    Formula:
        Σ AR(L) / number of labels L with ground truth
        AR(L): as `average_recall`

    Pitfalls:
        As for `average_recall`, false positives cost nothing, so read it beside a precision. A
        label of 3 objects moves it as much as one of 3,000.

    Example:
        Cat has 0.6, dog 0.4, and fox has no ground truth: (0.6 + 0.4) / 2 = 0.5.
    """
    recalls = _recalls(matches, iou_thresholds, recall_score_threshold, max_detections)
    return over_labels(matches, recalls)


def _recalls(
    matches: Matches,
    ious: tuple[float, ...],
    scores: RecallScores,
    max_detections: int | None,
) -> NDArray[np.float64]:
    """(replicas, scores * ious, labels) recalls, of all score thresholds."""
    levels = scores if isinstance(scores, tuple) else (scores,)
    each = [matches.recalls(ious, max_detections, level) for level in levels]
    return each[0] if len(each) == 1 else np.concatenate(each, axis=1)


AVERAGE_RECALL = Metric(
    name="average_recall",
    compute=average_recall,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("AR", "ARAveragedOverIOUs"),
)
MEAN_AVERAGE_RECALL = Metric(
    name="mean_average_recall",
    compute=mean_average_recall,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("mAR", "mARAveragedOverIOUs"),
)
