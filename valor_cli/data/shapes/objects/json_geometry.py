"""Convert geometry columns to JSON values, one per object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.rle import encoded
from valor_cli.kernels.geometry.shapes import KINDS, POLYGON, Kind, Masks, Polygons, Shapes


def rings_of(polygon: Polygons) -> list[list[list[float]]]:
    """The rings of each object, each as x, y, x, y, …"""
    flat = polygon.points.ravel().tolist()
    rings = [flat[2 * start : 2 * end] for start, end in pairwise(polygon.rings.tolist())]
    starts = polygon.parts[polygon.objects].tolist()
    return [rings[start:end] for start, end in pairwise(starts)]


def rle_of(mask: Masks) -> list[dict[str, Any]]:
    """The masks as COCO writes them, compressed."""
    return [
        {"size": size, "counts": counts}
        for size, counts in zip(mask.size.tolist(), encoded(mask), strict=True)
    ]


def by_row(shapes: Shapes, values: Mapping[int, Sequence[Any]]) -> list[Any]:
    """One value per object, from the values by kind; None where a kind has none."""
    found: list[Any] = [None] * len(shapes)
    for kind, mine in values.items():
        for row, value in zip(shapes.rows_of(kind).tolist(), mine, strict=True):
            found[row] = value
    return found


def check_kinds(objects: ObjectFile, kinds: Sequence[Kind], name: str) -> None:
    """Raise an error for geometry that a format cannot hold.

    Raises:
        DataError: It does; the message names the kinds that are left to convert to.
    """
    others = [kind for kind in objects.shapes.kinds if kind not in kinds]
    if others:
        counts = np.bincount(objects.shapes.kind, minlength=len(KINDS)).tolist()
        problems = [
            Problem(objects.path, f"{name} holds no {kind}, found {counts[KINDS.index(kind)]:,}")
            for kind in others
        ]
        raise DataError(problems, hint=f"convert them: --geometry {' or '.join(kinds)}")


def check_polygons(objects: ObjectFile, name: str, *, parts: bool, instead: Kind) -> None:
    """Stop where a polygon has holes, or several parts that a format cannot hold.

    Args:
        objects: The file.
        name: The format.
        parts: Whether the format holds several.
        instead: The geometry to propose.

    Raises:
        DataError: There are such polygons; up to 20 are named, the rest counted.
    """
    polygon = objects.shapes.polygon
    part_count = np.diff(polygon.objects)
    hole_count = np.diff(polygon.parts[polygon.objects]) - part_count
    rows = objects.shapes.rows_of(POLYGON)
    what = [(hole_count > 0, "a polygon with holes")]
    if not parts:
        what.append(((part_count != 1) & (hole_count == 0), "a polygon of several parts, or none"))
    problems: list[tuple[int, str]] = []
    for bad, found in what:
        problems += [(row, found) for row in rows[bad].tolist()]
    if problems:
        shown = [
            Problem(objects.objects.place_of(row), f"{name} cannot hold {found}")
            for row, found in sorted(problems)[:LISTED]
        ]
        raise DataError(shown, total=len(problems), hint=f"convert it: --geometry {instead}")
