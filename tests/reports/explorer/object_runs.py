"""Records of objects to explore: those of the sample data, and large made-up ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tests.program import ROOT
from tests.reports.task_runs import run_of
from valor_cli.api import evaluate
from valor_cli.results import RunResult
from valor_cli.results.objects import ObjectsResult


@cache
def _evaluated() -> RunResult:
    return evaluate(ROOT / "configs" / "object_detection.yaml")


def detection_run(models: Sequence[str] = ("small", "large")) -> RunResult:
    """The objects of the sample data, and nothing else."""
    objects = [one for one in _evaluated().objects if one.model in models]
    return run_of("object_detection", models, objects=objects)


def large_objects(
    model: str, images: int = 5_000, detections: int = 480_000, labels: int = 80
) -> ObjectsResult:
    """Made-up objects, seeded: every ground truth is found with a chance that its score follows."""
    dice = np.random.default_rng(len(model))
    truths = detections // 13
    gt_images = np.sort(dice.integers(0, images, truths))
    of_images = np.sort(dice.integers(0, images, detections))
    scores = np.round(dice.random(detections) ** 3, 6)
    order = np.lexsort((-scores, of_images))
    scores = scores[order]
    gt_boxes = np.round(dice.random((truths, 4)) * (400, 300, 200, 160) + 1, 2)
    gt_labels = dice.integers(0, labels, truths)
    outcomes = dice.integers(1, 6, detections)
    matched_with, nearest = np.full(detections, -1), np.full(detections, -1)
    boxes = np.round(dice.random((detections, 4)) * (400, 300, 200, 160) + 1, 2)
    first = np.searchsorted(of_images, np.arange(images))
    rank = np.arange(truths) - np.searchsorted(gt_images, gt_images)
    at = first[gt_images] + rank
    fits = (at < detections) & (of_images[np.minimum(at, detections - 1)] == gt_images)
    found = fits & (dice.random(truths) < 0.8)
    outcomes[at[found]] = 0
    matched_with[at[found]] = np.flatnonzero(found)
    nearest[at[fits]] = np.flatnonzero(fits)
    outcomes[(nearest < 0) & (outcomes < 5)] = 5
    boxes[at[fits]] = gt_boxes[fits] + np.round(dice.normal(0, 6, (int(fits.sum()), 4)), 2)
    boxes[:, 2:] = np.maximum(boxes[:, 2:], 1)
    boxes[:, :2] = np.maximum(boxes[:, :2], 0)
    found_labels = dice.integers(0, labels, detections)
    found_labels[at[found]] = gt_labels[found]
    return ObjectsResult(
        model,
        {"iou_threshold": 0.5},
        [f"label-{number}" for number in range(labels)],
        list(range(images)),
        [f"{number:012}.jpg" for number in range(images)],
        np.full((images, 2), (640, 480)),
        gt_images,
        gt_labels,
        np.arange(truths),
        gt_boxes,
        np.zeros(truths, bool),
        of_images,
        found_labels,
        scores,
        boxes,
        outcomes,
        matched_with,
        nearest,
        np.where(nearest >= 0, 0.5 + 0.5 * dice.random(detections), 0.0),
    )
