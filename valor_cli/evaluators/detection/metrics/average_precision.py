"""Average precision per label, and its means over labels and IoU thresholds.

Area under the precision-recall curve, sampled at 101 recalls (Lin et al., Microsoft COCO, 2014);
with `interpolation` at 11 recalls or at every point, as in PASCAL VOC before and from 2010.
Detections of a label count as false positives in every image, also where the label has no ground
truth. A label without ground truth has no value and is not averaged; one with ground truth and no
detection has 0.
"""

from __future__ import annotations

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import (
    COCO_IOUS,
    Interpolation,
    IouThresholds,
    MaxDetections,
)
from valor_cli.evaluators.detection.evidence.rows import means_by_label, over_labels, per_label
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue

REFERENCE = "pycocotools.cocoeval.COCOeval"
CITATION = "Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014"


def average_precision(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = (0.5,),
    max_detections: MaxDetections = 100,
    interpolation: Interpolation = "101_point",
) -> Findings:
    """Area under the precision-recall curve of each label at each IoU threshold.

    Formula:
        mean over the recalls 0, 0.01 … 1 of the highest precision at that recall or a higher one
        precision, recall: of the k detections of the label with the highest scores, k = 1, 2 …

    Pitfalls:
        Scores are ranked over all images together, so those that mean different things in different
        images cost. False positives that score below the last object found cost nothing, so it does
        not say how many there are at the threshold you use.

    Example:
        2 objects; by score the detections are right, wrong, right. Precision is 1 at the 51 recalls
        up to 0.5 and 2/3 at the other 50: (51·1 + 50·2/3) / 101 = 0.835.
    """
    precision = matches.precision(iou_thresholds, max_detections, interpolation)
    return Findings(
        [
            value
            for at, iou in enumerate(iou_thresholds)
            for value in per_label(
                matches, means_by_label(precision[:, at]), at={"iou_threshold": iou}
            )
        ]
    )


def average_precision_over_ious(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    max_detections: MaxDetections = 100,
    interpolation: Interpolation = "101_point",
) -> Findings:
    """Mean over IoU thresholds of the average precision of each label.

    Formula:
        mean over the IoU thresholds t of AP(t)
        AP(t): as `average_precision`, with matches of IoU ≥ t

    Pitfalls:
        Half of the default thresholds ask for an IoU of 0.75 or more: a model that finds every
        object but draws loose boxes scores low, and so does one whose ground truth is drawn
        loosely.

    Example:
        AP is 0.8 at the five thresholds 0.50 to 0.70 and 0 at the five others: 5·0.8 / 10 = 0.4.
    """
    precision = matches.precision(iou_thresholds, max_detections, interpolation)
    return Findings(per_label(matches, means_by_label(precision)))


def mean_average_precision(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = (0.5,),
    max_detections: MaxDetections = 100,
    interpolation: Interpolation = "101_point",
) -> Findings:
    """Mean over labels with ground truth of average precision, at each IoU threshold.

    Formula:
        Σ AP(L, t) / number of labels L with ground truth, at each IoU threshold t
        AP(L, t): as `average_precision`

    Pitfalls:
        With the default threshold of 0.5 this is what COCO calls AP50; its AP is
        `mean_average_precision_over_ious`. A label of 3 objects moves it as much as one of 3,000.

    Example:
        Cat has 0.9, dog 0.5, and fox has no ground truth: (0.9 + 0.5) / 2 = 0.7.
    """
    precision = matches.precision(iou_thresholds, max_detections, interpolation)
    return Findings(
        [
            over_labels(matches, precision[:, at], at={"iou_threshold": iou})
            for at, iou in enumerate(iou_thresholds)
        ]
    )


def mean_average_precision_over_ious(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    max_detections: MaxDetections = 100,
    interpolation: Interpolation = "101_point",
) -> MetricValue:
    """Mean over labels with ground truth and over IoU thresholds of average precision.

    Formula:
        mean over labels L with ground truth and IoU thresholds t of AP(L, t)
        AP(L, t): as `average_precision`

    Pitfalls:
        It is far below the mAP at an IoU of 0.5 of the same detections, so say which of the two a
        number is. It shows neither which labels are bad nor whether objects are missed or boxes
        are loose: `error_breakdown` does.

    Example:
        Over the IoU thresholds cat has 0.8 and dog 0.4: (0.8 + 0.4) / 2 = 0.6.
    """
    return over_labels(matches, matches.precision(iou_thresholds, max_detections, interpolation))


AVERAGE_PRECISION = Metric(
    name="average_precision",
    compute=average_precision,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("AP",),
)
AVERAGE_PRECISION_OVER_IOUS = Metric(
    name="average_precision_over_ious",
    compute=average_precision_over_ious,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("APAveragedOverIOUs",),
)
MEAN_AVERAGE_PRECISION = Metric(
    name="mean_average_precision",
    compute=mean_average_precision,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("mAP",),
)
MEAN_AVERAGE_PRECISION_OVER_IOUS = Metric(
    name="mean_average_precision_over_ious",
    compute=mean_average_precision_over_ious,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("mAPAveragedOverIOUs",),
)
