"""Seeded random detection problems with heavy ties, crowds, empty images and empty labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections, GroundTruths
from valor_cli.kernels.geometry.shapes import Shapes


def random_dataset(
    seed: int, *, images: int = 20, labels: int = 6, digits: int | None = 1, per_image: int = 12
) -> DetectionDataset:
    """A problem in which many boxes, scores and IoUs are equal when `digits` is small."""
    rng = np.random.default_rng(seed)

    def rounded(values: Any) -> Any:
        return values.astype(np.float32).astype(float) if digits is None else values.round(digits)

    def columns(count: int) -> tuple[Any, Any, Any]:
        # The last image and the last label stay without ground truth or without detections.
        image = rng.integers(0, images - 1, count)
        label = rng.integers(0, labels - 1, count)
        corner = rng.uniform(0, 300, (count, 2))
        size = np.exp(rng.uniform(np.log(4), np.log(200), (count, 2)))
        return image, label, rounded(np.hstack([corner, size]))

    truths = int(images * per_image / 3)
    gt_image, gt_label, gt_box = columns(truths)
    crowd = rng.random(truths) < 0.1
    area = rounded(gt_box[:, 2] * gt_box[:, 3] * rng.uniform(0.4, 1, truths))

    # Most detections are moved copies of ground truths, so that they overlap several.
    source = rng.integers(0, truths, images * per_image)
    moved = (
        gt_box[source]
        + rng.normal(0, 4, (len(source), 4)) * (rng.random(len(source)) < 0.7)[:, None]
    )
    moved[:, 2:] = np.maximum(moved[:, 2:], 0)
    image, label, box = columns(images * per_image // 3)
    detections = Detections(
        image=np.concatenate([gt_image[source], image]),
        label=np.concatenate([gt_label[source], (label + 1) % labels]),
        shapes=Shapes.boxes(np.concatenate([rounded(moved), box])),
        score=rounded(rng.random(len(source) + len(image))),
        number=np.arange(len(source) + len(image)),
    )
    return DetectionDataset(
        image_ids=np.sort(rng.choice(10_000, images, replace=False)),
        labels=tuple(f"label {number}" for number in range(labels)),
        ground_truths=GroundTruths(
            gt_image, gt_label, Shapes.boxes(gt_box), area, crowd, np.arange(truths)
        ),
        detections=detections,
    )


def coco_files(dataset: DetectionDataset) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The same problem as COCO ground truth and COCO results."""
    ids = dataset.image_ids.tolist()
    truths, found = dataset.ground_truths, dataset.detections
    ground_truth = {
        "images": [{"id": number} for number in ids],
        "categories": [{"id": at + 1, "name": name} for at, name in enumerate(dataset.labels)],
        "annotations": [
            {
                "id": at + 1,
                "image_id": ids[truths.image[at]],
                "category_id": int(truths.label[at]) + 1,
                "bbox": truths.shapes.box[at].tolist(),
                "area": float(truths.area[at]),
                "iscrowd": int(truths.crowd[at]),
            }
            for at in range(len(truths.image))
        ],
    }
    results = [
        {
            "image_id": ids[found.image[at]],
            "category_id": int(found.label[at]) + 1,
            "bbox": found.shapes.box[at].tolist(),
            "score": float(found.score[at]),
        }
        for at in range(len(found.image))
    ]
    return ground_truth, results
