"""The outlines of objects that are no boxes, for reports to draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.data.shapes.objects.gallery import TOLERANCE
from valor_cli.kernels.columns.grouping import order_by_group, ranked
from valor_cli.kernels.geometry.conversion import converted
from valor_cli.kernels.geometry.outlines import simplified
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.results.objects import OUTLINED, TENTHS, Outlines

Ints = NDArray[np.int64]


def outlines_of_objects(parts: Sequence[DetectionDataset]) -> Outlines | None:
    """The outlines of objects in the order of `ObjectsResult`; None where all are boxes.

    Args:
        parts: The dataset, or that of each range of images.
    """
    sides = [side for part in parts for side in (part.ground_truths, part.detections)]
    if all(side.shapes.kinds in ((), ("box",)) for side in sides):
        return None
    scores = np.concatenate([part.detections.score for part in parts])
    least = -np.partition(-scores, OUTLINED)[OUTLINED] if len(scores) > OUTLINED else -np.inf
    truths: list[_Side] = []
    found: list[_Side] = []
    left = OUTLINED
    for part in parts:
        order = order_by_group(part.ground_truths.image)
        truths.append(_side(part.ground_truths.shapes, order, np.arange(len(order)) < left))
        left -= len(order)
        own = part.detections
        order = order_by_group(own.image)
        order = order[ranked(own.image[order], own.score[order], np.zeros_like(order))]
        # Where many have the score of the last one, none of these has an outline.
        found.append(_side(own.shapes, order, own.score[order] > least))
    return Outlines(*map(np.concatenate, zip(*truths, *found, strict=True)))


_Side = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


def _side(shapes: Shapes, order: Ints, kept: NDArray[np.bool_]) -> _Side:
    """Columns of `Outlines` of objects in an order; those that are not kept have no ring."""
    rings = np.zeros(len(order), np.int32)
    if shapes.kinds == ("box",):
        kept = np.zeros(len(order), bool)
    shown = shapes.take(order[kept])
    polygons = converted(shown, "polygon", np.zeros((len(shown), 2), np.int64)).polygon
    if "mask" in shown.kinds:
        polygons = simplified(polygons, TOLERANCE)
    rings[kept] = np.diff(polygons.parts[polygons.objects])
    points = np.rint(TENTHS * polygons.points).astype(np.int32)
    return rings, np.diff(polygons.rings).astype(np.int32), points
