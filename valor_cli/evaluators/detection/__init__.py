"""Detection wing: predicted boxes and shapes compared with ground truth."""

from __future__ import annotations

from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.evaluators.detection.evidence.matches import STORED, Matches
from valor_cli.evaluators.detection.evidence.object_outcomes import outcomes_of_objects
from valor_cli.evaluators.detection.evidence.parameters import AREAS, plan_matching
from valor_cli.evaluators.detection.evidence.shards import match_detections, merge_matches
from valor_cli.evaluators.detection.load.dataset import load_detections, load_instances
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.metrics.average_precision import (
    AVERAGE_PRECISION,
    AVERAGE_PRECISION_OVER_IOUS,
    MEAN_AVERAGE_PRECISION,
    MEAN_AVERAGE_PRECISION_OVER_IOUS,
)
from valor_cli.evaluators.detection.metrics.average_recall import (
    AVERAGE_RECALL,
    MEAN_AVERAGE_RECALL,
)
from valor_cli.evaluators.detection.metrics.best_f1 import BEST_F1
from valor_cli.evaluators.detection.metrics.coco import COCO
from valor_cli.evaluators.detection.metrics.coco_keypoints import KEYPOINTS_WING
from valor_cli.evaluators.detection.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.detection.metrics.counts import COUNTS, counted
from valor_cli.evaluators.detection.metrics.detailed_pr_curve import DETAILED_PR_CURVE
from valor_cli.evaluators.detection.metrics.error_breakdown import ERROR_BREAKDOWN
from valor_cli.evaluators.detection.metrics.image_scores import IMAGE_SCORES
from valor_cli.evaluators.detection.metrics.lvis import LVIS_WING
from valor_cli.evaluators.detection.metrics.panoptic_quality import PANOPTIC_WING
from valor_cli.evaluators.detection.metrics.pr_curve import PR_CURVE
from valor_cli.evaluators.detection.metrics.precision_recall import F1, PRECISION, RECALL
from valor_cli.evaluators.detection.names import measure_named
from valor_cli.metric import Stream, Task, Wing

__all__ = ["INSTANCE_SEGMENTATION", "OBJECT_DETECTION"]

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
        BEST_F1,
        PR_CURVE,
        DETAILED_PR_CURVE,
        CONFUSION_MATRIX,
        ERROR_BREAKDOWN,
        IMAGE_SCORES,
    ),
    plan=plan_matching,
    evidence=match_detections,
    merge=merge_matches,
    slices={"area": (tuple(AREAS), Matches.within)},
    stored=STORED,
    objects=outcomes_of_objects,
    counted=counted,
)

_DEFAULTS = (
    "coco",
    "average_precision_over_ious",
    "average_precision",
    "average_recall",
    "counts",
    "precision",
    "recall",
    "f1",
    "pr_curve",
    "confusion_matrix",
    "error_breakdown",
    "image_scores",
)
_PRIMARY = (
    *(("coco", name) for name in ("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge")),
    ("coco", "AR@100"),
    ("mean_average_precision_over_ious", "value"),
    ("mean_average_precision", "value"),
    ("mean_average_recall", "value"),
    ("precision", "value"),
    ("recall", "value"),
    ("f1", "value"),
)


def _detections_in_pieces() -> Stream[DetectionDataset]:
    from valor_cli.evaluators.detection.load.streaming import DETECTIONS

    return DETECTIONS


def _instances_in_pieces() -> Stream[DetectionDataset]:
    from valor_cli.evaluators.detection.load.streaming import INSTANCES

    return INSTANCES


OBJECT_DETECTION = Task(
    name="object_detection",
    description="Boxes with labels and scores, against the boxes that are there.",
    inputs=DetectionInputs,
    options=DetectionOptions,
    load=load_detections,
    stream=_detections_in_pieces,
    wings=(WING, LVIS_WING, KEYPOINTS_WING),
    defaults=_DEFAULTS,
    primary=_PRIMARY,
    by_sample="image_scores",
    named=measure_named,
)

INSTANCE_SEGMENTATION = Task(
    name="instance_segmentation",
    description="Masks or polygons with labels and scores, against those that are there.",
    inputs=DetectionInputs,
    options=DetectionOptions,
    load=load_instances,
    stream=_instances_in_pieces,
    wings=(WING, LVIS_WING, PANOPTIC_WING),
    defaults=_DEFAULTS,
    primary=_PRIMARY,
    by_sample="image_scores",
    named=measure_named,
)
