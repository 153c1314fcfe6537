"""Seeded LVIS problems as files have them: federated labels, ties, objects without area.

numpy alone is imported, so that the reference runs in an environment of its own.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

HEIGHT, WIDTH = 160, 200
FREQUENCIES = "rrrcccffff"
NEVER_MARKED, NEVER_FOUND = 2, 5
"""Positions of labels without ground truth and without detections."""

Problem = tuple[dict[str, Any], list[dict[str, Any]]]


def lvis_problem(seed: int, *, masks: bool = False, images: int = 60) -> Problem:
    """Ground truth and results of about 60 images, a few of them with over 300 detections."""
    rng = np.random.default_rng(seed)
    labels = np.arange(len(FREQUENCIES))
    image_ids = rng.choice(10_000, images, replace=False).tolist()
    category_ids = sorted(rng.choice(500, len(labels), replace=False).tolist())
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    listed = []
    for at, image in enumerate(image_ids):
        # Every eighth image has no objects; its detections are judged by its negatives alone.
        count = 0 if at % 8 == 0 else int(rng.integers(1, 9))
        boxes = _boxes(rng, count)
        chosen = rng.choice(np.setdiff1d(labels, NEVER_MARKED), count)
        for box, label in zip(boxes, chosen.tolist(), strict=True):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image,
                    "category_id": category_ids[label],
                    "area": 0 if rng.random() < 0.04 else round(box[2] * box[3] * 0.8, 2),
                    **_geometry(box, masks),
                }
            )
        absent = np.setdiff1d(labels, chosen)
        negative = absent[rng.random(len(absent)) < 0.3]
        partial = labels[rng.random(len(labels)) < 0.2]
        listed.append(
            {
                "id": image,
                "height": HEIGHT,
                "width": WIDTH,
                "neg_category_ids": [category_ids[label] for label in negative],
                "not_exhaustive_category_ids": [category_ids[label] for label in partial],
            }
        )
        crowded = at % 20 == 3
        for box, label in _guesses(rng, boxes, chosen, 380 if crowded and not masks else 25):
            results.append(
                {
                    "image_id": image,
                    "category_id": category_ids[label],
                    "score": round(float(rng.random()), 2),
                    **_geometry(box, masks),
                }
            )
    rng.shuffle(results)
    truth = {
        "images": listed,
        "annotations": annotations,
        "categories": [
            {"id": number, "name": f"label {at}", "frequency": FREQUENCIES[at]}
            for at, number in enumerate(category_ids)
        ],
    }
    return truth, results


def digest(problem: Problem) -> str:
    """What tells whether a problem is the one that the stored numbers are of."""
    return hashlib.sha256(json.dumps(problem, sort_keys=True).encode()).hexdigest()


def _boxes(rng: np.random.Generator, count: int) -> list[list[float]]:
    corner = rng.uniform(0, (WIDTH - 20, HEIGHT - 20), (count, 2))
    side = np.exp(rng.uniform(np.log(6), np.log(150), (count, 2)))
    return _inside(np.hstack([corner, side]))


def _inside(boxes: Any) -> list[list[float]]:
    low = np.clip(boxes[:, :2], 0, (WIDTH, HEIGHT))
    high = np.clip(boxes[:, :2] + boxes[:, 2:], 0, (WIDTH, HEIGHT))
    return np.hstack([low, np.maximum(high - low, 0)]).round().tolist()


def _guesses(
    rng: np.random.Generator, boxes: list[list[float]], labels: Any, count: int
) -> list[tuple[list[float], int]]:
    """Moved copies of the objects, under their label or another, and boxes anywhere."""
    guesses = []
    every = np.setdiff1d(np.arange(len(FREQUENCIES)), NEVER_FOUND)
    for _ in range(count):
        if boxes and rng.random() < 0.6:
            at = int(rng.integers(len(boxes)))
            moved = np.array([boxes[at]]) + rng.normal(0, 3, (1, 4)) * (rng.random() < 0.8)
            box, label = _inside(moved)[0], int(labels[at])
            if label == NEVER_FOUND or rng.random() < 0.2:
                label = int(rng.choice(every))
        else:
            box, label = _boxes(rng, 1)[0], int(rng.choice(every))
        if rng.random() < 0.02:
            box = [*box[:3], 0.0]
        guesses.append((box, label))
    return guesses


def _geometry(box: list[float], masks: bool) -> dict[str, Any]:
    """The box, or the ellipse in it as run lengths."""
    if not masks:
        return {"bbox": box}
    x, y, width, height = box
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    distance = ((columns - x - width / 2) / max(width, 1)) ** 2
    distance = distance + ((rows - y - height / 2) / max(height, 1)) ** 2
    pixels = (distance <= 0.25).ravel(order="F") & (height > 0)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], pixels, [0]])))
    counts = np.diff(np.concatenate([[0], edges, [len(pixels)]])).tolist()
    return {"segmentation": {"size": [HEIGHT, WIDTH], "counts": counts}}
