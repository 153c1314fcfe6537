"""Average precision per label, and its means over labels and IoU thresholds.

Area under the precision-recall curve, sampled at 101 recalls (Lin et al., Microsoft COCO, 2014);
with `interpolation` at 11 recalls or at every point, as PASCAL VOC has it before and from 2010.
Detections of a label count as false positives in every image, also where the label has no ground
truth. A label without ground truth has no value and enters no mean; one with ground truth and no
detection has 0.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection import replica_rows
from valor_cli.evaluators.detection.matches import Matches
from valor_cli.evaluators.detection.plan import (
    COCO_IOUS,
    Interpolation,
    IouThresholds,
    MaxDetections,
)
from valor_cli.evaluators.detection.replicas import Replicas
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


def average_precision_replicas(
    matches: Matches,
    weights: NDArray[np.int64],
    *,
    over_ious: bool,
    over_labels: bool,
    iou_thresholds: IouThresholds,
    max_detections: MaxDetections,
    interpolation: Interpolation,
) -> NDArray[np.float64]:
    """(resamples, values) those of the metric that takes its mean over these."""
    replicas = Replicas.of(matches, weights)
    precision = replicas.precision(iou_thresholds, max_detections, interpolation)
    parts = [precision] if over_ious else precision.swapaxes(0, 1)
    if over_labels:
        return replica_rows.side_by_side(
            [replica_rows.over_labels(replicas, part) for part in parts]
        )
    return replica_rows.side_by_side([replica_rows.means_by_label(part) for part in parts])


AVERAGE_PRECISION = Metric(
    name="average_precision",
    compute=average_precision,
    replicas=partial(average_precision_replicas, over_ious=False, over_labels=False),
    reference=REFERENCE,
    citation=CITATION,
    aliases=("AP",),
)
AVERAGE_PRECISION_OVER_IOUS = Metric(
    name="average_precision_over_ious",
    compute=average_precision_over_ious,
    replicas=partial(average_precision_replicas, over_ious=True, over_labels=False),
    reference=REFERENCE,
    citation=CITATION,
    aliases=("APAveragedOverIOUs",),
)
MEAN_AVERAGE_PRECISION = Metric(
    name="mean_average_precision",
    compute=mean_average_precision,
    replicas=partial(average_precision_replicas, over_ious=False, over_labels=True),
    reference=REFERENCE,
    citation=CITATION,
    aliases=("mAP",),
)
MEAN_AVERAGE_PRECISION_OVER_IOUS = Metric(
    name="mean_average_precision_over_ious",
    compute=mean_average_precision_over_ious,
    replicas=partial(average_precision_replicas, over_ious=True, over_labels=True),
    reference=REFERENCE,
    citation=CITATION,
    aliases=("mAPAveragedOverIOUs",),
)
