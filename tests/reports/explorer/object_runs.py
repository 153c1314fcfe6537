"""Records of objects to explore: real detections matched plainly, and large made-up ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from tests.reports.task_runs import run_of
from valor_cli.results import RunResult
from valor_cli.results.objects import OUTCOMES, ObjectsResult

SAMPLES = Path(__file__).parents[3] / "sample_data" / "object_detection"

FLOOR = 0.1
"""IoU below which a detection is background."""


def detection_run(
    models: Sequence[str] = ("small", "large"), result: RunResult | None = None
) -> RunResult:
    """The detections of the sample data, matched at IoU 0.5, joined to a run or alone."""
    truth = json.loads((SAMPLES / "ground_truth.json").read_text(encoding="utf-8"))
    found = []
    for model in models:
        name = model if (SAMPLES / f"{model}.json").exists() else "small"
        detections = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))
        detections = detections if isinstance(detections, list) else detections["annotations"]
        found.append(matched(model, truth, detections))
    run = result or run_of("object_detection", models)
    return replace(run, objects=found)


def matched(
    model: str, truth: Mapping[str, Any], detections: Sequence[Mapping[str, Any]]
) -> ObjectsResult:
    """Every object of COCO data with its outcome at IoU 0.5, one image after the other."""
    names = {one["id"]: one["name"] for one in truth["categories"]}
    code = {category: number for number, category in enumerate(names)}
    rows: dict[str, list[Any]] = {name: [] for name in ("gt", "detection")}
    for number, image in enumerate(truth["images"]):
        gts = [one for one in truth["annotations"] if one["image_id"] == image["id"]]
        own = [one for one in detections if one["image_id"] == image["id"]]
        own.sort(key=lambda one: -one["score"])
        first = len(rows["gt"])
        rows["gt"] += [
            (number, code[one["category_id"]], one["id"], one["bbox"], bool(one.get("iscrowd")))
            for one in gts
        ]
        taken: set[int] = set()
        for one in own:
            outcome, match, near, iou = _outcome(one, gts, taken)
            rows["detection"].append(
                (
                    number,
                    code[one["category_id"]],
                    one["score"],
                    one["bbox"],
                    OUTCOMES.index(outcome),
                    -1 if match is None else first + match,
                    -1 if near is None else first + near,
                    iou,
                )
            )
    gt, found = list(zip(*rows["gt"], strict=True)), list(zip(*rows["detection"], strict=True))
    return ObjectsResult(
        model,
        {"iou_threshold": 0.5},
        list(names.values()),
        [one["id"] for one in truth["images"]],
        [one.get("file_name") for one in truth["images"]],
        np.array([(one.get("width", 0), one.get("height", 0)) for one in truth["images"]]),
        *(np.array(gt[at]) for at in range(5)),
        *(np.array(found[at]) for at in range(8)),
    )


def _outcome(
    one: Mapping[str, Any], gts: Sequence[Mapping[str, Any]], taken: set[int]
) -> tuple[str, int | None, int | None, float]:
    ious = [_iou(one["bbox"], gt["bbox"]) for gt in gts]
    same = [gt["category_id"] == one["category_id"] for gt in gts]
    order = sorted(range(len(gts)), key=lambda at: -ious[at])
    for at in order:
        if same[at] and ious[at] >= 0.5 and at not in taken:
            taken.add(at)
            ignored = bool(gts[at].get("iscrowd"))
            return "ignored" if ignored else "true_positive", at, order[0], ious[at]
    near = order[0] if order and ious[order[0]] > 0 else None
    best = 0.0 if near is None else ious[near]
    if any(same[at] and ious[at] >= 0.5 for at in order):
        return "duplicate", None, near, best
    if any(not same[at] and ious[at] >= 0.5 for at in order):
        return "classification", None, near, best
    if any(same[at] and ious[at] >= FLOOR for at in order):
        return "localisation", None, near, best
    return "both" if best >= FLOOR else "background", None, near, best


def _iou(one: Sequence[float], other: Sequence[float]) -> float:
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    both = max(across, 0.0) * max(down, 0.0)
    return both / (one[2] * one[3] + other[2] * other[3] - both) if both else 0.0


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
