"""Seeded problems of keypoints with heavy ties, and pycocotools run on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from pycocotools.cocoeval import COCOeval

from tests.oracles.problems import coco_files, random_dataset
from tests.oracles.reference import pycocotools
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.kernels.geometry.shapes import Shapes


def keypoint_problem(
    seed: int, *, digits: int | None = 1, count: int = 17, images: int = 20, per_image: int = 12
) -> DetectionDataset:
    """A random problem whose objects have keypoints; the boxes of detections are their extents."""
    dataset = random_dataset(seed, images=images, labels=3, digits=digits, per_image=per_image)
    return with_keypoints(dataset, seed, digits=digits, count=count)


def with_keypoints(
    dataset: DetectionDataset, seed: int, *, digits: int | None = 1, count: int = 17
) -> DetectionDataset:
    """The same images and labels with keypoints in the boxes; many copied and moved a little."""
    rng = np.random.default_rng(seed + 1000)
    truths, found = dataset.ground_truths, dataset.detections

    def rounded(values: Any) -> Any:
        return values.astype(np.float32).astype(float) if digits is None else values.round(digits)

    def inside(box: Any) -> Any:
        at = rng.random((len(box), count, 2))
        return rounded(box[:, None, :2] + at * box[:, None, 2:])

    points = np.zeros((len(truths), count, 3))
    points[:, :, :2] = inside(truths.shapes.box)
    points[:, :, 2] = rng.integers(0, 3, (len(truths), count))
    # What is not visible stands at the origin, as in COCO; some objects show nothing, some little.
    hidden = rng.random(len(truths))
    points[hidden < 0.15, :, 2] = 0
    points[(hidden > 0.15) & (hidden < 0.25), 3:, 2] = 0
    points[points[:, :, 2] == 0] = 0
    twins = rng.random(len(truths)) < 0.1
    points[twins] = points[np.roll(np.arange(len(truths)), 1)[twins]]

    guesses = np.ones((len(found), count, 3))
    guesses[:, :, :2] = inside(found.shapes.box)
    # The detections of an object copy what it shows, each as far off as it likes.
    for at in range(len(found)):
        own = (truths.image == found.image[at]) & (truths.label == found.label[at])
        near = np.flatnonzero(own)
        if len(near) and rng.random() < 0.85:
            one = rng.choice(near)
            size = truths.shapes.box[one, 2:] * rng.choice([0, 0.02, 0.06, 0.15])
            moved = points[one, :, :2] + rng.normal(0, 1, (count, 2)) * size
            shown = points[one, :, 2] > 0
            guesses[at, shown, :2] = rounded(moved[shown])
    low, high = guesses[:, :, :2].min(axis=1), guesses[:, :, :2].max(axis=1)
    return replace(
        dataset,
        ground_truths=replace(truths, keypoints=points),
        detections=replace(
            found, keypoints=guesses, shapes=Shapes.boxes(np.hstack([low, high - low]))
        ),
    )


def pycocotools_keypoints(
    dataset: DetectionDataset, sigmas: Sequence[float] | None = None, *, boxes: bool = False
) -> COCOeval:
    """The evaluated and accumulated COCOeval of keypoints, its `stats` filled.

    Args:
        dataset: The problem.
        sigmas: Other ones than those of a person.
        boxes: Whether the results say their boxes beside the keypoints.
    """
    ground_truth, results = coco_files(dataset)
    for row, points in zip(
        ground_truth["annotations"], dataset.ground_truths.keypoints, strict=True
    ):
        row["keypoints"] = points.ravel().tolist()
        row["num_keypoints"] = int((points[:, 2] > 0).sum())
    for row, points in zip(results, dataset.detections.keypoints, strict=True):
        row["keypoints"] = points.ravel().tolist()
        if not boxes:
            del row["bbox"]
    return pycocotools(ground_truth, results, "keypoints", sigmas)
