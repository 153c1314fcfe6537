"""Average precision per label, and its means over labels and IoU thresholds.

Area under the precision-recall curve, sampled at 101 recalls (Lin et al., Microsoft COCO, 2014);
with `interpolation` at 11 recalls or at every point, as PASCAL VOC has it before and from 2010.
Detections of a label count as false positives in every image, also where the label has no ground
truth. A label without ground truth has no value and enters no mean; one with ground truth and no
detection has 0.
"""

from __future__ import annotations

from valor_cli.evaluators.detection.matches import Matches
from valor_cli.evaluators.detection.plan import (
    COCO_IOUS,
    Interpolation,
    IouThresholds,
    MaxDetections,
)
from valor_cli.evaluators.detection.rows import means_by_label, over_labels, per_label
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
    """Area under the precision-recall curve of each label at each IoU threshold."""
    precision = matches.precision(iou_thresholds, max_detections, interpolation)
    return Findings(
        [
            value
            for curve, iou in zip(precision, iou_thresholds, strict=True)
            for value in per_label(matches, means_by_label(curve), at={"iou_threshold": iou})
        ]
    )


def average_precision_over_ious(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    max_detections: MaxDetections = 100,
    interpolation: Interpolation = "101_point",
) -> Findings:
    """Mean over IoU thresholds of the average precision of each label."""
    precision = matches.precision(iou_thresholds, max_detections, interpolation)
    return Findings(per_label(matches, means_by_label(precision)))


def mean_average_precision(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = (0.5,),
    max_detections: MaxDetections = 100,
    interpolation: Interpolation = "101_point",
) -> Findings:
    """Mean over labels with ground truth of average precision, at each IoU threshold."""
    precision = matches.precision(iou_thresholds, max_detections, interpolation)
    return Findings(
        [
            over_labels(matches, curve, at={"iou_threshold": iou})
            for curve, iou in zip(precision, iou_thresholds, strict=True)
        ]
    )


def mean_average_precision_over_ious(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    max_detections: MaxDetections = 100,
    interpolation: Interpolation = "101_point",
) -> MetricValue:
    """Mean over labels with ground truth and over IoU thresholds of average precision."""
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
