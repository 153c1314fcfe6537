"""The twelve numbers of the COCO detection challenge (Lin et al., Microsoft COCO, 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection import replica_rows
from valor_cli.evaluators.detection.matches import Matches
from valor_cli.evaluators.detection.plan import COCO_IOUS, IouThresholds, Sizes
from valor_cli.evaluators.detection.replicas import Replicas
from valor_cli.evaluators.detection.rows import at_thresholds, in_areas, over_labels
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings

MAX_DETECTIONS = 100


def coco(
    matches: Matches,
    *,
    iou_thresholds: IouThresholds = COCO_IOUS,
    areas: Sizes = ("small", "medium", "large"),
) -> Findings:
    """The 12 COCO numbers: average precision and recall over IoUs, sizes and detection limits.

    AP50 and AP75 exist when their thresholds are among `iou_thresholds`. An area range without
    ground truth has no value, where pycocotools prints -1. In a slice by area the sizes are left
    out: there is only one.
    """
    precision = matches.precision(iou_thresholds, MAX_DETECTIONS)
    values = at_thresholds(matches, precision, iou_thresholds, "AP")
    for limit in (1, 10, MAX_DETECTIONS):
        recalls = matches.recalls(iou_thresholds, limit)
        values.append(over_labels(matches, recalls, output=f"AR@{limit}"))
    if matches.area == "all":
        values += in_areas(matches, areas, iou_thresholds, MAX_DETECTIONS)
    return Findings(values)


def coco_replicas(
    matches: Matches,
    weights: NDArray[np.int64],
    *,
    iou_thresholds: IouThresholds,
    areas: Sizes,
) -> NDArray[np.float64]:
    """(resamples, values) those of `coco`."""
    replicas = Replicas.of(matches, weights)
    precision = replicas.precision(iou_thresholds, MAX_DETECTIONS)
    values = replica_rows.at_thresholds(replicas, precision, iou_thresholds)
    for limit in (1, 10, MAX_DETECTIONS):
        recalls = replicas.recalls(iou_thresholds, limit)
        values.append(replica_rows.over_labels(replicas, recalls))
    if matches.area == "all":
        values += replica_rows.in_areas(replicas, areas, iou_thresholds, MAX_DETECTIONS)
    return replica_rows.side_by_side(values)


COCO = Metric(
    name="coco",
    compute=coco,
    replicas=coco_replicas,
    reference="pycocotools.cocoeval.COCOeval.summarize",
    citation="Lin et al., Microsoft COCO: Common Objects in Context, ECCV 2014",
    outputs=tuple(
        Output(name, "higher")
        for name in (
            *("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge"),
            *("AR@1", "AR@10", "AR@100", "ARsmall", "ARmedium", "ARlarge"),
        )
    ),
)
