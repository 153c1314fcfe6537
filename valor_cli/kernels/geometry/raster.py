"""Rasterise polygons and boxes to masks as the COCO tools do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import offsets
from valor_cli.kernels.geometry.masks import Runs, from_runs
from valor_cli.kernels.geometry.polygons import without_short_rings
from valor_cli.kernels.geometry.rle import LARGEST_SIDE, decoded
from valor_cli.kernels.geometry.shapes import Floats, Ints, Masks, Polygons, joined_masks

FARTHEST = 1e5
"""Coordinates are cut to this: the reference walks along every edge, inside the image or not."""

MOST_PIXELS = 3 << 24
"""From here on all numbers of a mask may need six characters, and the reference, which has space
for just so many, writes past the end of its memory."""


def raster_polygons(polygons: Polygons, size: Ints) -> Masks:
    """Rasterise polygons, each ring filled as by pycocotools' `frPyObjects`.

    Args:
        polygons: n objects, a union of parts, each its outer ring less its holes.
        size: (n, 2) height and width of the images.

    Raises:
        ValueError: An image has too many pixels.
    """
    polygons = without_short_rings(polygons)
    part_object = np.repeat(np.arange(len(polygons)), np.diff(polygons.objects))
    ring_part = np.repeat(np.arange(len(part_object)), np.diff(polygons.parts))
    owner = part_object[ring_part]
    line = np.clip(polygons.points, -FARTHEST, FARTHEST).ravel()
    rings = _drawn(line, polygons.rings, size[owner])
    counts = np.bincount(owner, minlength=len(polygons))
    if (counts == 1).all():
        return rings
    alone = np.flatnonzero(counts[owner] == 1)
    several = np.flatnonzero(counts > 1)
    mine = np.flatnonzero(counts[owner] > 1)
    hole = np.ones(len(owner), bool)
    hole[polygons.parts[:-1]] = False
    part_size = size[part_object]
    parts = _filled(rings.take(mine), ring_part[mine], hole[mine], part_size)
    whole = _filled(parts, part_object, np.zeros(len(parts), bool), size)
    masks = joined_masks([rings.take(alone), whole])
    place = len(alone) + np.arange(len(polygons))
    place[owner[alone]] = np.arange(len(alone))
    place[several] = len(alone) + several
    return masks.take(place)


def raster_boxes(box: Floats, size: Ints) -> Masks:
    """Rasterise (n, 4) boxes in images of (n, 2) height and width, as `frPyObjects`."""
    x, y, width, height = _near(box).T
    right, bottom = x + width, y + height
    corners = np.stack([x, y, x, bottom, right, bottom, right, y], axis=1)
    return _drawn(corners.ravel(), 4 * np.arange(len(box) + 1), size)


def _near(box: Floats) -> Floats:
    """Boxes clipped to the largest coordinates."""
    ends = np.hstack([box[:, :2], box[:, :2] + box[:, 2:]])
    near = np.clip(ends, -FARTHEST, FARTHEST)
    cut = np.hstack([near[:, :2], near[:, 2:] - near[:, :2]])
    return np.ascontiguousarray(np.where((near == ends).all(axis=1)[:, None], box, cut))


def _drawn(points: Floats, rings: Ints, size: Ints) -> Masks:
    """A mask of each ring.

    Args:
        points: x and y of the points of all rings, none too far.
        rings: (n + 1,) where the points of each ring begin.
        size: (n, 2) height and width of the images.
    """
    _check_pixels(size)
    if engine.compiled is not None and _drawable(size):
        return _compiled_rings(engine.compiled, points, rings, size)
    from pycocotools import mask

    bounds = pairwise((2 * rings).tolist())
    counts: list[bytes] = [
        mask.frPyObjects([points[begin:end]], height, width)[0]["counts"]
        for (begin, end), (height, width) in zip(bounds, size.tolist(), strict=True)
    ]
    return decoded(counts, size)[0]


def _drawable(size: Ints) -> bool:
    """Whether the compiled kernel draws in images of these sizes: none empty or very long."""
    return bool(((size > 0) & (size <= LARGEST_SIDE)).all())


def _compiled_rings(kernel: engine.Kernel, points: Floats, rings: Ints, size: Ints) -> Masks:
    """The same masks, from the compiled kernel."""
    size, n = np.ascontiguousarray(size), len(size)
    counts = np.empty(kernel.drawn_room(points, rings, size), np.int32)
    starts, foreground = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    done = kernel.drawn_counts(points, rings, size, counts, starts, foreground)
    return Masks(counts[:done], starts, size, foreground)


def _check_pixels(size: Ints) -> None:
    """Raise a ValueError if an image has too many pixels."""
    height, width = size.max(axis=0, initial=0).tolist()
    if height * width >= MOST_PIXELS and (size[:, 0] * size[:, 1] >= MOST_PIXELS).any():
        raise ValueError(f"cannot make a mask: an image has {MOST_PIXELS} pixels or more")


def _filled(masks: Masks, owner: Ints, hole: Any, size: Ints) -> Masks:
    """Masks of what lies in some of an owner's masks and in none of its holes."""
    runs = Runs(masks)
    of_mask = np.repeat(np.arange(len(masks)), np.diff(runs.starts))
    # All on one line, with a pixel between the owners.
    offset = offsets(size[:, 0] * size[:, 1] + 1)
    shift = (offset[owner] - runs.offset[:-1])[of_mask]
    pixel = np.concatenate([runs.begin + shift, runs.end + shift])
    layer = np.where(hole, -len(masks) - 1, 1)[of_mask]
    order = np.argsort(pixel, kind="stable")
    depth = np.cumsum(np.concatenate([layer, -layer])[order])
    pixel = pixel[order]
    # Of what happens at one pixel, the last line knows.
    last = np.flatnonzero(np.diff(pixel, append=-1))
    inside = depth[last] > 0
    change = np.flatnonzero(np.diff(inside, prepend=False))
    edges = pixel[last[change]]
    begin, end = edges[0::2], edges[1::2]
    of_owner = np.searchsorted(offset, begin, side="right") - 1
    return from_runs(of_owner, begin - offset[of_owner], end - offset[of_owner], size)
