"""Segmentation wing: predicted label maps compared with ground truth."""

from __future__ import annotations

from valor_cli.evaluators.segmentation.evidence.confusions import (
    Cells,
    Confusions,
    CountingPlan,
    ImageLabels,
    Overlaps,
    counted,
    plan_counting,
)
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions, merge_confusions
from valor_cli.evaluators.segmentation.load.dataset import load_segmentation
from valor_cli.evaluators.segmentation.load.images import overlays
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.evaluators.segmentation.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.segmentation.metrics.image_scores import IMAGE_SCORES
from valor_cli.evaluators.segmentation.metrics.iou import (
    BOUNDARY_IOU,
    FREQUENCY_WEIGHTED_IOU,
    IOU,
    MEAN_IOU,
)
from valor_cli.evaluators.segmentation.metrics.pixel_accuracy import PIXEL_ACCURACY
from valor_cli.evaluators.segmentation.metrics.precision_recall import (
    F1,
    MEAN_ACCURACY,
    PRECISION,
    RECALL,
)
from valor_cli.metric import Task, Wing

__all__ = ["SEMANTIC_SEGMENTATION"]

WING = Wing(
    metrics=(
        MEAN_IOU,
        IOU,
        PRECISION,
        RECALL,
        F1,
        PIXEL_ACCURACY,
        MEAN_ACCURACY,
        FREQUENCY_WEIGHTED_IOU,
        BOUNDARY_IOU,
        CONFUSION_MATRIX,
        IMAGE_SCORES,
    ),
    plan=plan_counting,
    evidence=count_confusions,
    merge=merge_confusions,
    one_sided=Confusions.one_sided,
    counted=counted,
    stored=(Confusions, CountingPlan, Cells, ImageLabels, Overlaps),
)

SEMANTIC_SEGMENTATION = Task(
    name="semantic_segmentation",
    description="Label maps, a label for every pixel, against those that are right.",
    inputs=SegmentationInputs,
    load=load_segmentation,
    wings=(WING,),
    defaults=(
        "mean_iou",
        "iou",
        "precision",
        "recall",
        "f1",
        "pixel_accuracy",
        "mean_accuracy",
        "frequency_weighted_iou",
        "confusion_matrix",
        "image_scores",
    ),
    primary=(
        ("mean_iou", "value"),
        ("pixel_accuracy", "value"),
        ("mean_accuracy", "value"),
        ("frequency_weighted_iou", "value"),
        ("f1", "value"),
    ),
    by_sample="image_scores",
    overlays=overlays,
)
