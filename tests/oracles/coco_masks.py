"""Masks for tests: random ones, and the annotations of 100 COCO images."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from valor_cli.kernels.geometry.shapes import Masks, Polygons

COCO_100 = Path(__file__).parents[1] / "real_data/detection/coco-val2014-100/groundtruth.coco.json"
SHAPES = ((1, 1), (1, 9), (9, 1), (2, 3), (7, 5), (16, 16), (40, 31))


def random_bitmaps(seed: int, count: int, size: tuple[int, int] | None = None) -> list[NDArray]:
    """Bitmaps from empty over noise and blobs to full, of one size or of several."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        height, width = size or SHAPES[rng.integers(len(SHAPES))]
        noise = rng.random((height, width))
        if rng.random() < 0.5:
            # Blobs have long runs that go on over several columns.
            y, x = np.mgrid[:height, :width]
            noise = np.hypot(y - rng.uniform(0, height), x - rng.uniform(0, width)) / (
                0.1 + height * rng.random()
            )
        found.append(noise < rng.choice([0.0, 0.02, 0.3, 0.5, 0.7, 0.98, 2.0]))
    return found


def reference_rles(bitmaps: list[NDArray]) -> list[dict]:
    """What pycocotools encodes bitmaps as."""
    return [coco.encode(np.asfortranarray(one.astype(np.uint8))) for one in bitmaps]


def masks_of(bitmaps: list[NDArray]) -> Masks:
    """Masks by the definition: one pixel after the other, down the columns."""
    counts, starts = [], [0]
    for one in bitmaps:
        previous, run = False, 0
        for pixel in one.T.ravel().tolist():
            if pixel != previous:
                counts.append(run)
                previous, run = pixel, 0
            run += 1
        counts.append(run)
        starts.append(len(counts))
    size = np.array([one.shape for one in bitmaps], np.int64).reshape(-1, 2)
    return Masks(np.array(counts, np.int64), np.array(starts), size)


def polygons_of(objects: list[list[list[list[float]]]]) -> Polygons:
    """Polygons of objects, each a list of parts, each a list of rings x, y, x, y, …"""
    rings = [ring for parts in objects for part in parts for ring in part]
    parts = [part for parts in objects for part in parts]
    points = np.array([number for ring in rings for number in ring], float).reshape(-1, 2)
    return Polygons(
        points,
        np.cumsum([0, *(len(ring) // 2 for ring in rings)]),
        np.cumsum([0, *(len(part) for part in parts)]),
        np.cumsum([0, *(len(one) for one in objects)]),
    )


def coco_annotations() -> list[tuple[dict, tuple[int, int]]]:
    """The annotations of the COCO images, each with the height and width of its image."""
    data = json.loads(COCO_100.read_text())
    sizes = {image["id"]: (image["height"], image["width"]) for image in data["images"]}
    return [(one, sizes[one["image_id"]]) for one in data["annotations"]]


def coco_rle(annotation: dict, size: tuple[int, int]) -> dict:
    """The mask of an annotation as pycocotools makes it."""
    segmentation = annotation["segmentation"]
    found = coco.frPyObjects(segmentation, *size)
    return coco.merge(found) if isinstance(segmentation, list) else found


def pixels_of(rle: dict) -> NDArray:
    """The bitmap of a string, as pycocotools has it."""
    with warnings.catch_warnings():
        # It knows numpy before 2.
        warnings.simplefilter("ignore", DeprecationWarning)
        return coco.decode(rle).astype(bool)


def bitmaps(masks: Masks) -> list[NDArray[np.bool_]]:
    """(height, width) bitmaps of masks."""
    starts = masks.starts.tolist()
    sizes = masks.size.tolist()
    pixels: list[NDArray[np.bool_]] = []
    for row, (height, width) in enumerate(sizes):
        counts = masks.counts[starts[row] : starts[row + 1]]
        line = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
        pixels.append(line.reshape(width, height).T)
    return pixels


def assert_same_masks(mine: Masks, other: Masks) -> None:
    """Equal columns of equal types."""
    assert mine.counts.dtype == other.counts.dtype
    np.testing.assert_array_equal(mine.counts, other.counts)
    np.testing.assert_array_equal(mine.starts, other.starts)
    np.testing.assert_array_equal(mine.size, other.size)
    assert (mine.foreground is None) == (other.foreground is None)
    if mine.foreground is not None and other.foreground is not None:
        np.testing.assert_array_equal(mine.foreground, other.foreground)
