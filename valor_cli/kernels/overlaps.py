"""Overlap of shapes of one kind: detections and ground truths in, overlapping pairs out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import masks
from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.boxes import (
    Pairs,
    joined_pairs,
    least_pairs,
    meeting_boxes,
    overlapping_boxes,
)
from valor_cli.kernels.columns import quotient
from valor_cli.kernels.conversion import areas, bounds
from valor_cli.kernels.polygons import geometries
from valor_cli.kernels.rotated_boxes import shared_areas
from valor_cli.kernels.shapes import Floats, Ints, Masks, Shapes

PAIRS_AT_ONCE = 1 << 14
"""Pairs whose geometries are held together."""

Shared: TypeAlias = Callable[[Ints, Ints], Floats | Ints]


def overlapping(
    detections: Shapes,
    ground_truths: Shapes,
    crowd: NDArray[np.bool_],
    first: Ints,
    count: Ints,
    least: float,
) -> Pairs:
    """Pairs of a detection and a ground truth whose IoU is at least `least`.

    With a crowd the union is the detection's own area. Of boxes and masks the IoU is that of
    pycocotools to the last bit; masks of unequal size do not overlap.

    Args:
        detections: n shapes of one kind.
        ground_truths: m shapes of the same kind.
        crowd: (m,) whether a ground truth is a crowd region.
        first: (n,) the first ground truth to compare each detection with.
        count: (n,) how many from there on.
        least: Smallest IoU kept, above 0.

    Returns:
        The pairs, by detection, then ground truth.

    Raises:
        ValueError: The shapes are of several kinds.
    """
    kinds = {*detections.kinds, *ground_truths.kinds}
    if len(kinds) > 1:
        raise ValueError(f"expected shapes of one kind, got {', '.join(sorted(kinds))}")
    if not len(detections) or not len(ground_truths):
        return joined_pairs([])
    if kinds == {"box"}:
        return overlapping_boxes(detections.box, ground_truths.box, crowd, first, count, least)
    shared, own, other = _measured(detections, ground_truths)
    parts: list[Pairs] = []
    for met in meeting_boxes(bounds(detections), bounds(ground_truths), first, count):
        for block in blocks(np.ones(len(met.detection), np.int64), PAIRS_AT_ONCE):
            d, g = met.detection[block], met.ground_truth[block]
            common = np.asarray(shared(d, g), np.float64)
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
    own, other = areas(detections), areas(ground_truths)
    if detections.kinds == ("rotated_box",):
        a, b = detections.rotated_box, ground_truths.rotated_box
        return lambda d, g: shared_areas(a[d], b[g]), own, other
    return lambda d, g: _shared_pixels(detections.mask, ground_truths.mask, d, g), own, other


def _shared_pixels(a: Masks, b: Masks, d: Ints, g: Ints) -> Ints:
    """Shared pixels of pairs; none where the images are of unequal size."""
    shared = np.zeros(len(d), np.int64)
    same = np.flatnonzero((a.size[d] == b.size[g]).all(axis=1))
    shared[same] = masks.intersections(a, b, d[same], g[same])
    return shared
