"""Convert decoded boxes, segmentations and keypoints to geometry; None for the full checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress, repeat
from operator import attrgetter
from types import NoneType
from typing import Any, Final, cast

import numpy as np
from msgspec import UnsetType
from numpy.typing import NDArray

from valor_cli.data.formats.coco.structs import Annotation, AnyRow, Detection, Rle
from valor_cli.data.shapes.objects.object_file import Wanted
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.shapes import (
    BOX,
    MASK,
    POLYGON,
    Masks,
    Polygons,
    Shapes,
    joined_masks,
)

FEWEST: Final = 6
"""Numbers of a polygon's part: x and y of three points."""

_KIND: Final = {Rle: MASK, list: POLYGON, NoneType: BOX, UnsetType: BOX}


def shapes_of(
    rows: Sequence[AnyRow], wanted: Wanted, instead: Sequence[Sequence[float] | None] | None = None
) -> Shapes | None:
    """The geometry of decoded rows.

    Args:
        rows: Rows of one form.
        wanted: Whether the box or the segmentation is taken of a row that has both.
        instead: Boxes of the rows that have neither.
    """
    if not rows or isinstance(rows[0], Detection | Annotation):
        box = _boxes(list(map(attrgetter("bbox"), rows)))
        return None if box is None else Shapes.boxes(box)
    segmentations = list(map(attrgetter("segmentation"), rows))
    if wanted == "shape" and set(map(type, segmentations)) == {Rle}:
        mask = _masks(cast(list[Rle], segmentations))
        return None if mask is None else Shapes.masks(mask)
    boxes = list(map(attrgetter("bbox"), rows))
    kind = np.fromiter(map(_KIND.__getitem__, map(type, segmentations)), np.uint8, len(rows))
    # An empty list is no segmentation.
    kind[~_truth(segmentations)] = BOX
    if wanted == "box":
        kind[_truth(boxes)] = BOX
    if instead is not None:
        boxes = [box or other for box, other in zip(boxes, instead, strict=True)]
    box = _boxes(_of_kind(boxes, kind, BOX))
    polygon = polygons_of(_of_kind(segmentations, kind, POLYGON))
    mask = _masks(_of_kind(segmentations, kind, MASK))
    if box is None or polygon is None or mask is None:
        return None
    return Shapes(kind, box, np.zeros((0, 5)), polygon, mask)


def valid_boxes(boxes: NDArray[np.float64]) -> bool:
    """Whether all boxes are valid; the decoder has rejected NaN and infinities."""
    return bool((np.abs(boxes) <= LARGEST_COORDINATE).all() and (boxes[:, 2:] >= 0).all())


def polygons_of(segmentations: Sequence[Sequence[Sequence[float]]]) -> Polygons | None:
    """Polygons from flat coordinate lists; None if a part is invalid."""
    parts = list(chain.from_iterable(segmentations))
    numbers = _lengths(parts)
    if (numbers < FEWEST).any() or (numbers % 2).any():
        return None
    flat = np.fromiter(chain.from_iterable(parts), np.float64, int(numbers.sum()))
    if not (np.abs(flat) <= LARGEST_COORDINATE).all():
        return None
    points, rings = _opened(flat.reshape(-1, 2), _starts(numbers // 2))
    of_objects = _starts(_lengths(segmentations))
    return Polygons(points, rings, np.arange(len(parts) + 1), of_objects)


def keypoints_of(rows: Sequence[Any]) -> NDArray[np.float64] | None:
    """Keypoints, (n, k, 3), k 0 if no row has any; zeros for rows without."""
    lists = list(map(attrgetter("keypoints"), rows))
    lengths = set(map(len, filter(None, lists))) or {0}
    length = lengths.pop()
    if lengths or length % 3:
        return None
    there = _truth(lists)
    n = int(there.sum())
    flat = np.zeros((len(rows), length))
    found = np.fromiter(chain.from_iterable(filter(None, lists)), np.float64, n * length)
    if not (np.abs(found) <= LARGEST_COORDINATE).all():
        return None
    flat[there] = found.reshape(n, length)
    return flat.reshape(len(rows), length // 3, 3)


def extents(keypoints: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounding box of each object's keypoints, (n, 4), as in pycocotools' keypoint results."""
    low = keypoints[:, :, :2].min(axis=1, initial=np.inf)
    high = keypoints[:, :, :2].max(axis=1, initial=-np.inf)
    return np.concatenate([low, high - low], axis=1)


def _truth(values: Sequence[object]) -> NDArray[np.bool_]:
    return np.fromiter(map(bool, values), np.bool_, len(values))


def _of_kind(values: Sequence[Any], kind: NDArray[np.uint8], wanted: int) -> list[Any]:
    return list(compress(values, (kind == wanted).tolist()))


def _boxes(sides: Sequence[Any]) -> NDArray[np.float64] | None:
    if not all(sides):
        return None
    flat = np.fromiter(chain.from_iterable(sides), np.float64, 4 * len(sides))
    boxes = flat.reshape(-1, 4)
    return boxes if valid_boxes(boxes) else None


def _masks(rles: Sequence[Rle]) -> Masks | None:
    counts = list(map(attrgetter("counts"), rles))
    kinds = set(map(type, counts))
    if len(kinds) > 1:
        compressed = np.fromiter(map(isinstance, counts, repeat(str)), np.bool_, len(rles))
        parts = [_masks(list(compress(rles, which))) for which in (compressed, ~compressed)]
        order = np.concatenate([np.flatnonzero(compressed), np.flatnonzero(~compressed)])
        whole = [part for part in parts if part is not None]
        return joined_masks(whole).take(np.argsort(order)) if len(whole) == len(parts) else None
    sides = chain.from_iterable(map(attrgetter("size"), rles))
    try:
        sizes = np.fromiter(sides, np.int64, 2 * len(rles)).reshape(-1, 2)
        if not ((sizes > 0) & (sizes <= rle.LARGEST_SIDE)).all():
            return None
        if kinds == {str}:
            text = "".join(counts)
            if not text.isascii():
                return None
            letters = np.frombuffer(text.encode(), np.uint8)
            masks, valid = rle.decoded_text(letters, _lengths(counts), sizes)
        else:
            masks, valid = rle.from_counts(counts, sizes)
    except OverflowError:
        return None
    return masks if valid.all() else None


def _lengths(lists: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    return np.fromiter(map(len, lists), np.int64, len(lists))


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)])


def _opened(
    points: NDArray[np.float64], rings: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rings less a last point that repeats the first, as long as three points are left."""
    last = rings[1:] - 1
    closed = (points[rings[:-1]] == points[last]).all(axis=1) & (np.diff(rings) > FEWEST // 2)
    if not closed.any():
        return points, rings
    keep = np.ones(len(points), np.bool_)
    keep[last[closed]] = False
    return _opened(points[keep], _starts(np.diff(rings) - closed))
