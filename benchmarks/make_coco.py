"""Seeded synthetic objects at the scale and shape of COCO val2017: make_coco.py OUT --size val

Writes OUT/gt.json (COCO ground truth) and OUT/dt.json (COCO results). At size val: 5,000 images,
about 36.9k boxes of 80 labels and 480k detections.

Shape: 30 % of the boxes are of one label; 41 / 34 / 25 % small / medium / large; 1.2 % crowds; 1 %
of the images without annotations; gaps in the ids. At most 100 detections an image, over some 25
labels, so that most (image, label) cells hold detections and no ground truth, as with real
detectors: jittered true positives whose score follows their quality, duplicates, confusions of
labels, detections inside crowds, background; 5 % of the scores rounded to two decimals and 1 %
copied, for ties. Numbers are float32 widened to double, as detectors write them.

With --masks, ground truth is polygons (crowds: run lengths) and detections are compressed run
lengths: the outline of the object they were made from, moved into their box, or one of their own.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import blobs
import numpy as np
import orjson

SIZES = {"small": 500, "val": 5_000, "large": 50_000}
CATEGORY_IDS = np.array(
    [i for i in range(1, 91) if i not in (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)]
)
IMAGE_SIZES = np.array([(640, 480), (480, 640), (640, 427), (427, 640), (500, 375), (640, 640)])
ROWS_AT_ONCE = 100_000

Array = np.ndarray[Any, Any]
Rng = np.random.Generator
Part = tuple[Array, Array, Array, Array, Array]
"""Image, label, box and score of detections, and the object each was made from; -1 for none."""


def main() -> None:
    """Write the files named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", default="val", help="small, val, large or a number of images")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--masks", action="store_true", help="masks in place of boxes")
    options = parser.parse_args()
    images = SIZES.get(options.size) or int(options.size)
    options.out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(options.seed)
    sizes = IMAGE_SIZES[rng.choice(6, images, p=[0.35, 0.15, 0.25, 0.1, 0.1, 0.05])]
    ids = np.sort(rng.choice(np.arange(100, max(600_000, 12 * images)), images, replace=False))
    popular = _popularity(rng)
    truths = _ground_truths(rng, sizes, popular)
    found = _detections(rng, sizes, popular, truths)
    shapes = _Shapes(options.seed, sizes, truths, found) if options.masks else None
    _write_ground_truth(options.out / "gt.json", ids, sizes, truths, shapes)
    _write_results(options.out / "dt.json", ids, found, shapes)
    print(f"{images:,} images, {len(truths['image']):,} boxes, {len(found['image']):,} detections")


def _popularity(rng: Rng) -> Array:
    """Share of each label: the first has 30 %, the others follow a power law."""
    others = 1.0 / np.arange(2, 81) ** 0.85
    others *= 0.70 / others.sum()
    rng.shuffle(others)
    return np.concatenate([[0.30], others])


def _boxes(rng: Rng, size: Array) -> Array:
    """Random boxes inside images of the given sizes."""
    n = len(size)
    bucket = rng.choice(3, n, p=[0.41, 0.34, 0.25])
    low, high = np.array([6.0, 32.0, 96.0])[bucket], np.array([32.0, 96.0, 420.0])[bucket]
    side = np.exp(rng.uniform(np.log(low), np.log(high)))
    stretch = np.sqrt(np.exp(rng.normal(0, 0.45, n)))
    extent = np.minimum(np.stack([side * stretch, side / stretch], 1), size * 0.98)
    return np.hstack([rng.uniform(0, 1, (n, 2)) * (size - extent), extent])


def _jittered(rng: Rng, boxes: Array, amount: Array, size: Array) -> Array:
    """Boxes moved and scaled by a share of their extent, kept inside the image."""
    shift = amount[:, None] * rng.normal(0, 1, (len(boxes), 4))
    corner = np.clip(boxes[:, :2] + shift[:, :2] * boxes[:, 2:], 0, size - 2)
    extent = np.clip(boxes[:, 2:] * np.exp(shift[:, 2:]), 1, size - corner)
    return np.hstack([corner, extent])


def _ground_truths(rng: Rng, sizes: Array, popular: Array) -> dict[str, Array]:
    images = len(sizes)
    count = np.minimum(rng.negative_binomial(0.95, 0.95 / (0.95 + 6.45), images) + 1, 63)
    count[rng.random(images) < 0.0096] = 0
    image = np.repeat(np.arange(images), count)
    labels_here = np.minimum(1 + rng.poisson(1.9, images), 8)
    palette = rng.choice(80, (images, 8), p=popular)
    label = palette[image, rng.integers(0, 1 << 30, len(image)) % labels_here[image]]
    box = _boxes(rng, sizes[image].astype(float))
    crowd = rng.random(len(image)) < 0.012
    extent = sizes[image[crowd]] * (0.55, 0.4)
    box[crowd] = np.hstack([box[crowd, :2] * 0.3, extent])
    # The area of the object's outline, as of its mask.
    area = box[:, 2] * box[:, 3] * rng.uniform(0.45, 0.8, len(image))
    return {
        "image": image,
        "label": label,
        "box": box,
        "crowd": crowd,
        "area": area,
        "palette": palette,
    }


def _detections(
    rng: Rng, sizes: Array, popular: Array, truths: dict[str, Array]
) -> dict[str, Array]:
    parts = [
        *_around_objects(rng, sizes, truths),
        _inside_crowds(rng, truths),
        _background(rng, sizes, popular, truths["palette"]),
    ]
    image, label, box, score, source = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    luck = rng.random(len(score))
    score = np.where(luck < 0.05, np.maximum(np.round(score, 2), 0.01), score)
    copied = np.flatnonzero((luck > 0.05) & (luck < 0.06))
    score[copied[1:]] = score[copied[:-1]]
    keep = _best_of_each_image(rng, image, score, len(sizes))
    columns = {"image": image, "label": label, "box": box, "score": score, "source": source}
    return {name: column[keep] for name, column in columns.items()}


def _around_objects(rng: Rng, sizes: Array, truths: dict[str, Array]) -> list[Part]:
    """True positives, duplicates of them, and right boxes with wrong labels."""
    image, label, box, crowd = (truths[name] for name in ("image", "label", "box", "crowd"))
    side = np.sqrt(box[:, 2] * box[:, 3])
    chance = np.where(side < 32, 0.62, np.where(side < 96, 0.84, 0.93))
    hit = np.flatnonzero((rng.random(len(image)) < chance) & ~crowd)
    again = np.repeat(hit, rng.poisson(1.1, len(hit)))
    confused = np.repeat(np.arange(len(image)), rng.poisson(0.35, len(image)))
    confused = confused[~crowd[confused]]
    amount = np.exp(rng.normal(np.where(side[hit] < 32, -2.6, -3.3), 0.6))
    quality = np.exp(-6 * amount)
    shift = rng.choice([1, 2, 5, 79], len(confused))

    def part(rows: Array, labels: Array, amount: Array, score: Array) -> Part:
        moved = _jittered(rng, box[rows], amount, sizes[image[rows]].astype(float))
        return image[rows], labels, moved, score, rows

    return [
        part(hit, label[hit], amount, np.clip(rng.beta(1 + 6 * quality, 1.6), 0.01, 0.9999)),
        part(again, label[again], rng.uniform(0.05, 0.3, len(again)), rng.beta(1.2, 7, len(again))),
        part(
            confused,
            (label[confused] + shift) % 80,
            rng.uniform(0.02, 0.12, len(confused)),
            rng.beta(1.6, 4, len(confused)),
        ),
    ]


def _inside_crowds(rng: Rng, truths: dict[str, Array]) -> Part:
    crowds = np.flatnonzero(truths["crowd"])
    rows = np.repeat(crowds, rng.poisson(6, len(crowds)))
    box = truths["box"][rows]
    n = len(rows)
    box[:, :2] += rng.uniform(0, (0.8, 0.6), (n, 2)) * box[:, 2:]
    box[:, 2:] *= rng.uniform((0.05, 0.1), (0.25, 0.45), (n, 2))
    return truths["image"][rows], truths["label"][rows], box, rng.beta(2, 3, n), np.full(n, -1)


def _background(rng: Rng, sizes: Array, popular: Array, palette: Array) -> Part:
    image = np.repeat(np.arange(len(sizes)), 100)
    labels = rng.choice(80, (len(sizes), 25), p=0.5 * popular + 0.5 / 80)
    labels[:, :8] = palette
    label = labels[image, (rng.random(len(image)) ** 1.6 * 25).astype(int)]
    box, score = _boxes(rng, sizes[image].astype(float)), rng.beta(0.9, 14, len(image))
    return image, label, box, score, np.full(len(image), -1)


def _best_of_each_image(rng: Rng, image: Array, score: Array, images: int) -> Array:
    """Rows of the best 100 detections or fewer of each image, images in a shuffled order."""
    order = np.lexsort((-score, image))
    start = np.searchsorted(image[order], np.arange(images))
    rank = np.arange(len(order)) - start[image[order]]
    most = np.where(rng.random(images) < 0.06, rng.integers(5, 100, images), 100)
    most[rng.random(images) < 0.002] = 0
    keep = order[rank < most[image[order]]]
    shuffled = rng.permutation(images)
    return keep[np.argsort(shuffled[image[keep]], kind="stable")]


class _Shapes:
    """Segmentations of the ground truth and of detections."""

    def __init__(
        self, seed: int, sizes: Array, truths: dict[str, Array], found: dict[str, Array]
    ) -> None:
        # Numbers of their own, so that boxes are the same with masks and without.
        rng = np.random.default_rng(seed + 1)
        self._outline = blobs.outlines(rng, np.round(truths["box"], 2))
        self._size, self._crowd = sizes[truths["image"]], truths["crowd"].tolist()
        own, source = blobs.outlines(rng, found["box"]), found["source"]
        of_object = blobs.moved(self._outline[source], truths["box"][source], found["box"])
        self._found = np.where((source >= 0)[:, None, None], of_object, own)
        self._found_size = sizes[found["image"]]

    def of_truths(self) -> list[dict[str, Any]]:
        """What annotations have in place of the box's area."""
        masks = blobs.run_lengths(self._outline, self._size)
        polygons = self._outline.reshape(len(masks), 1, -1).tolist()
        rows = zip(masks, polygons, self._crowd, strict=True)
        return [
            {"area": blobs.area(mask), "segmentation": blobs.listed(mask) if crowd else polygon}
            for mask, polygon, crowd in rows
        ]

    def of_detections(self, rows: slice) -> list[dict[str, Any]]:
        """What detections have in place of a box."""
        masks = blobs.run_lengths(self._found[rows], self._found_size[rows])
        return [{"segmentation": mask} for mask in masks]


def _write_ground_truth(
    path: Path, ids: Array, sizes: Array, truths: dict[str, Array], shapes: _Shapes | None
) -> None:
    images = [
        {"id": number, "width": width, "height": height, "file_name": f"{number:012d}.jpg"}
        for number, (width, height) in zip(ids.tolist(), sizes.tolist(), strict=True)
    ]
    categories = [{"id": int(number), "name": f"class_{number}"} for number in CATEGORY_IDS]
    columns = zip(
        ids[truths["image"]].tolist(),
        CATEGORY_IDS[truths["label"]].tolist(),
        np.round(truths["box"], 2).tolist(),
        np.round(truths["area"], 4).tolist(),
        truths["crowd"].astype(int).tolist(),
        strict=True,
    )
    annotations = [
        {
            "id": at,
            "image_id": image,
            "category_id": category,
            "bbox": box,
            "area": area,
            "iscrowd": crowd,
        }
        for at, (image, category, box, area, crowd) in enumerate(columns, start=1)
    ]
    if shapes is not None:
        rows = zip(annotations, shapes.of_truths(), strict=True)
        annotations = [annotation | more for annotation, more in rows]
    document = {"images": images, "categories": categories, "annotations": annotations}
    path.write_bytes(orjson.dumps(document))


def _write_results(path: Path, ids: Array, found: dict[str, Array], shapes: _Shapes | None) -> None:
    with path.open("wb") as file:
        file.write(b"[")
        for first in range(0, len(found["image"]), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            box = found["box"][rows].astype(np.float32).astype(float).tolist()
            columns = zip(
                ids[found["image"][rows]].tolist(),
                CATEGORY_IDS[found["label"][rows]].tolist(),
                found["score"][rows].astype(np.float32).astype(float).tolist(),
                [{"bbox": sides} for sides in box]
                if shapes is None
                else shapes.of_detections(rows),
                strict=True,
            )
            written = [
                {"image_id": image, "category_id": category, "score": score} | shape
                for image, category, score, shape in columns
            ]
            file.write((b"," if first else b"") + orjson.dumps(written)[1:-1])
        file.write(b"]")


if __name__ == "__main__":
    main()
