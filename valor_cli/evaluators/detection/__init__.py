"""Detection: boxes found in images, held against the boxes that are there."""

from __future__ import annotations

from valor_cli.evaluators.detection.average_precision import (
    AVERAGE_PRECISION,
    AVERAGE_PRECISION_OVER_IOUS,
    MEAN_AVERAGE_PRECISION,
    MEAN_AVERAGE_PRECISION_OVER_IOUS,
)
from valor_cli.evaluators.detection.average_recall import AVERAGE_RECALL, MEAN_AVERAGE_RECALL
from valor_cli.evaluators.detection.coco import COCO
from valor_cli.evaluators.detection.counts import COUNTS
from valor_cli.evaluators.detection.inputs import DetectionInputs
from valor_cli.evaluators.detection.loading import load_detections
from valor_cli.evaluators.detection.matches import Matches
from valor_cli.evaluators.detection.plan import AREAS, plan_matching
from valor_cli.evaluators.detection.pr_curve import PR_CURVE
from valor_cli.evaluators.detection.precision_recall import F1, PRECISION, RECALL
from valor_cli.evaluators.detection.shards import match_detections, merge_matches
from valor_cli.metric import Task, Wing

__all__ = ["OBJECT_DETECTION"]

WING = Wing(
    metrics=(
        COCO,
        AVERAGE_PRECISION,
        AVERAGE_PRECISION_OVER_IOUS,
        MEAN_AVERAGE_PRECISION,
        MEAN_AVERAGE_PRECISION_OVER_IOUS,
        AVERAGE_RECALL,
        MEAN_AVERAGE_RECALL,
        COUNTS,
        PRECISION,
        RECALL,
        F1,
        PR_CURVE,
    ),
    plan=plan_matching,
    evidence=match_detections,
    merge=merge_matches,
    slices={"area": (tuple(AREAS), Matches.within)},
)

OBJECT_DETECTION = Task(
    name="object_detection",
    description="Boxes with labels and scores, against the boxes that are there.",
    inputs=DetectionInputs,
    load=load_detections,
    wings=(WING,),
    defaults=(
        "coco",
        "average_precision_over_ious",
        "average_precision",
        "average_recall",
        "counts",
        "precision",
        "recall",
        "f1",
        "pr_curve",
    ),
    primary=(
        *(("coco", name) for name in ("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge")),
        ("coco", "AR@100"),
        ("mean_average_precision_over_ious", "value"),
        ("mean_average_precision", "value"),
        ("mean_average_recall", "value"),
        ("precision", "value"),
        ("recall", "value"),
        ("f1", "value"),
    ),
)
