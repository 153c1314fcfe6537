"""IoU of shapes of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.kernels.geometry import boxes, masks
from valor_cli.kernels.geometry.boxes import (
    Compared,
    Pairs,
    filled_pairs,
    joined_pairs,
    overlapping_boxes,
    shared_areas,
)
from valor_cli.kernels.geometry.conversion import areas, bounds
from valor_cli.kernels.geometry.polygons import corners, directions, geometries
from valor_cli.kernels.geometry.shapes import Floats, Ints, Masks, Shapes

PAIRS_AT_ONCE = 1 << 14
"""Pairs that are compared together."""

Shared: TypeAlias = Callable[[Ints, Ints], Floats]


def overlapping(
    detections: Shapes,
    ground_truths: Shapes,
    crowd: NDArray[np.bool_],
    first: Ints,
    count: Ints,
    least: float,
    rows: Ints | None = None,
) -> Pairs:
    """Pairs of a detection and a ground truth whose IoU is at least `least`.

    With a crowd the union is the detection's own area. Of boxes and masks the IoU is that of
    pycocotools to the last bit; masks of unequal size do not overlap.

    Args:
        detections: Shapes of one kind; n of them, without `rows`.
        ground_truths: m shapes of the same kind.
        crowd: (m,) whether a ground truth is a crowd region.
        first: (n,) the first ground truth to compare each detection with.
        count: (n,) how many from there on.
        least: Smallest IoU kept, above 0.
        rows: (n,) which of the detections to look at, in which order: cheaper than taking them,
            for masks are large. None for all.

    Returns:
        The pairs, by detection (in the order of `rows`), then ground truth.

    Raises:
        ValueError: The shapes are of several kinds.
    """
    rows = np.arange(len(detections)) if rows is None else rows
    kinds = {*detections.kinds, *ground_truths.kinds}
    if len(kinds) > 1:
        raise ValueError(f"expected shapes of one kind, got {', '.join(sorted(kinds))}")
    if not len(rows) or not len(ground_truths):
        return joined_pairs([])
    if kinds == {"mask"}:
        mine, theirs = detections.mask, ground_truths.mask
        own, other = masks.areas(mine)[rows], masks.areas(theirs)
        return _of_masks(mine, rows, theirs, Compared(first, count, own, other, crowd, least))
    if kinds == {"box"}:
        sides = detections.box, ground_truths.box
        return overlapping_boxes(*sides, crowd, first, count, least, rows)
    detections = detections.take(rows)
    shared, own, other = _measured(detections, ground_truths)
    own_bounds, other_bounds = bounds(detections), bounds(ground_truths)
    return Compared(first, count, own, other, crowd, least).pairs(
        shared, lambda d, g: shared_areas(own_bounds[d], other_bounds[g]) > 0, PAIRS_AT_ONCE
    )


def _of_masks(mine: Masks, rows: Ints, theirs: Masks, compared: Compared) -> Pairs:
    """Pairs of some of the masks of detections with those of ground truths."""
    kernel = engine.compiled
    if kernel is not None:
        columns = *masks.columns_of(mine), *masks.columns_of(theirs)
        ranges = [np.ascontiguousarray(one) for one in (rows, compared.first, compared.count)]
        crowd = np.ascontiguousarray(compared.crowd)

        def fill(block: slice, found: Pairs) -> int:
            asked = [one[block] for one in (*ranges, compared.own)]
            return kernel.overlapping_masks(
                *columns, *asked, compared.other, crowd, *found, compared.least
            )

        return filled_pairs(compared.count, fill, boxes.PAIRS_AT_ONCE)
    size = mine.size[rows]
    return compared.pairs(
        lambda d, g: masks.intersections(mine, theirs, rows[d], g),
        lambda d, g: (size[d] == theirs.size[g]).all(axis=1),
        boxes.PAIRS_AT_ONCE,
    )


def _measured(detections: Shapes, ground_truths: Shapes) -> tuple[Shared, Floats, Floats]:
    """What finds the areas that pairs share; the areas of detections and ground truths."""
    if detections.kinds == ("polygon",):
        import shapely

        mine, theirs = geometries(detections.polygon), geometries(ground_truths.polygon)
        return (
            lambda d, g: np.asarray(shapely.area(shapely.intersection(mine[d], theirs[g]))),
            np.asarray(shapely.area(mine)),
            np.asarray(shapely.area(theirs)),
        )
    a, b = detections.rotated_box, ground_truths.rotated_box
    own, other = areas(detections), areas(ground_truths)
    return lambda d, g: _shared_rotated_areas(a[d], b[g]), own, other


def _shared_rotated_areas(a: Floats, b: Floats) -> Floats:
    """(pairs,) area that each of (pairs, 5) `a` shares with its (pairs, 5) `b`.

    Seen from the corner of `b`, it is the rectangle from 0, 0 to its width and height. The area of
    `a` inside is the sum over its edges of the integral of y, cut to the rectangle, over x, cut
    to the rectangle: the trapezoids below edges to the right, less those below edges to the left.
    """
    width, height = b[:, 2:3], b[:, 3:4]
    x, y = _seen_from(b, a)
    x2, y2 = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    left, right = np.clip(x, 0, width), np.clip(x2, 0, width)
    run, rise = x2 - x, y2 - y
    start = y + quotient(left - x, run, 0.0) * rise
    stop = y + quotient(right - x, run, 0.0) * rise
    area = (_mean_height(start, stop, height) * (right - left)).sum(axis=1)
    # Rounding may leave a trace more than there is.
    most = np.minimum(a[:, 2] * a[:, 3], b[:, 2] * b[:, 3])
    return np.asarray(np.minimum(np.abs(area), most))


def _seen_from(b: Floats, a: Floats) -> tuple[Floats, Floats]:
    """x and y (pairs, 4) of the corners of `a`, along the sides of `b`, from its first corner."""
    cosine, sine = directions(b[:, 4])
    x, y = a[:, 0] - b[:, 0], a[:, 1] - b[:, 1]
    moved = np.column_stack(
        [x * cosine + y * sine, y * cosine - x * sine, a[:, 2:4], a[:, 4] - b[:, 4]]
    )
    seen = corners(moved) + b[:, None, 2:4] / 2
    return seen[:, :, 0], seen[:, :, 1]


def _mean_height(start: Floats, stop: Floats, height: Floats) -> Floats:
    """Mean of a straight line from start to stop, cut to 0 … height."""
    low, high = np.clip(start, 0, height), np.clip(stop, 0, height)
    # Between the ends of the part inside it is straight; before and after, it is constant.
    climb = stop - start
    begin = np.clip(quotient(low - start, climb, 0.0), 0, 1)
    end = np.clip(1 - quotient(stop - high, climb, 0.0), 0, 1)
    return np.asarray(low * begin + (low + high) / 2 * (end - begin) + high * (1 - end))
