"""Outlines of objects for the explorer, in the order of its samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import structs

from valor_cli.kernels.columns.grouping import spread
from valor_cli.reports.explorer.blobs import Blobs
from valor_cli.reports.explorer.joining import Ints, Samples, Side
from valor_cli.results.objects import OUTLINED, TENTHS


def outline_columns(
    sides: Sequence[Side], samples: Samples, blobs: Blobs
) -> list[dict[str, Any] | None] | None:
    """Of each model, the rings of its ground truths and detections; None where all are boxes."""
    found: list[dict[str, Any] | None] = []
    for side in sides:
        one = next((one for one in side.result.objects if one.model == side.model), None)
        if one is None or one.outlines is None:
            found.append(None)
            continue
        places = samples.positions(one.image_ids)
        truths = len(one.gt_images)
        columns = structs.astuple(one.outlines)
        found.append(
            {
                "gt": _columns(columns, _order(places[np.asarray(one.gt_images)]), blobs),
                "found": _columns(columns, truths + _order(places[np.asarray(one.images)]), blobs),
            }
        )
    blobs.finish()
    return found if any(found) else None


def boxes_drawn(sides: Sequence[Side]) -> list[str]:
    """That some objects are drawn as boxes though they are none."""
    shown = [one for side in sides for one in side.result.objects if one.outlines is not None]
    if all(max(len(one.gt_images), len(one.images)) <= OUTLINED for one in shown):
        return []
    told = f"the first {OUTLINED:,} ground truths and the {OUTLINED:,} best detections of a model"
    return [f"Outlines are drawn of {told}, boxes of the others."]


def _order(sample: Ints) -> Ints:
    return np.argsort(sample, kind="stable")


def _columns(columns: Sequence[Any], objects: Ints, blobs: Blobs) -> dict[str, int]:
    """Counts of rings by object and of points by ring, and the points, of some objects."""
    rings, points, xy = columns
    first = np.cumsum(rings) - rings
    chosen = spread(first[objects], rings[objects])
    first = np.cumsum(points) - points
    shown = xy[spread(first[chosen], points[chosen])]
    return {
        "rings": blobs.codes(rings[objects]),
        "points": blobs.codes(points[chosen]),
        "xy": blobs.rounded(np.maximum(shown, 0) / TENTHS, TENTHS),
    }
