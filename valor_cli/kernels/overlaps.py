"""Overlap of shapes of one kind: detections and ground truths in, overlapping pairs out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.boxes import (
    Pairs,
    joined_pairs,
    least_pairs,
    overlapping_boxes,
)
from valor_cli.kernels.boxes import shared_areas as shared_box_areas
from valor_cli.kernels.columns import quotient, spread
from valor_cli.kernels.conversion import areas, bounds
from valor_cli.kernels.mask_overlaps import overlapping_masks
from valor_cli.kernels.polygons import geometries
from valor_cli.kernels.rotated_boxes import shared_areas
from valor_cli.kernels.shapes import Floats, Ints, Shapes

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
        The pairs, by detection (as it stands in `rows`), then ground truth.

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
        return overlapping_masks(mine, rows, theirs, crowd, first, count, least)
    if kinds == {"box"}:
        boxes = detections.box, ground_truths.box
        return overlapping_boxes(*boxes, crowd, first, count, least, rows)
    detections = detections.take(rows)
    shared, own, other = _measured(detections, ground_truths)
    parts: list[Pairs] = []
    own_bounds, other_bounds = bounds(detections), bounds(ground_truths)
    for block in blocks(count, PAIRS_AT_ONCE):
        d = np.repeat(np.arange(block.start, block.stop), count[block])
        g = spread(first[block], count[block])
        near = shared_box_areas(own_bounds[d], other_bounds[g]) > 0
        d, g = d[near], g[near]
        common = shared(d, g)
        union = np.where(crowd[g], own[d], own[d] + other[g] - common)
        parts.append(least_pairs(d, g, quotient(common, union, 0.0), least))
    return joined_pairs(parts)


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
    return lambda d, g: shared_areas(a[d], b[g]), own, other
