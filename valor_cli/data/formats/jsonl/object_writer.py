"""Write objects as JSON Lines, one image per line in the order of the images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import Scene, WriteOptions, Written, rings_of, rle_of
from valor_cli.kernels.geometry.shapes import (
    BOX,
    KINDS,
    MASK,
    POLYGON,
    ROTATED_BOX,
    Floats,
    Polygons,
)

_HOLDS = frozenset({"id", "area", "crowd", "size", "file_name", "empty_image", "metadata"})


def write_jsonl(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """One line per image, also without objects; floats are written to round-trip.

    Raises:
        DataError: The objects have no labels.
    """
    scene = Scene(objects, "JSONL")
    rows = _objects(scene, wishes.box)
    lines = []
    for at, own in enumerate(scene.rows()):
        line: dict[str, Any] = {"image_id": scene.ids[at]}
        name = scene.file_names[at]
        if name is not None:
            line["file_name"] = name
        if scene.size[at, 0]:
            line |= {"width": int(scene.size[at, 1]), "height": int(scene.size[at, 0])}
        if metadata := _metadata(objects.metadata, at):
            line["metadata"] = metadata
        line["objects"] = [rows[row] for row in own]
        lines.append(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return Written({"": b"".join(lines)}, scene.losses(_HOLDS))


def _objects(scene: Scene, box: Floats | None) -> list[dict[str, Any]]:
    table, shapes = scene.table, scene.shapes
    geometry = scene.by_row(
        {
            BOX: shapes.box.tolist(),
            ROTATED_BOX: shapes.rotated_box.tolist(),
            POLYGON: _polygons(shapes.polygon),
            MASK: rle_of(shapes.mask),
        },
    )
    rows: list[dict[str, Any]] = [
        {"label": label, KINDS[kind]: value}
        for label, kind, value in zip(scene.labels, shapes.kind.tolist(), geometry, strict=True)
    ]
    if box is not None:
        for row in np.flatnonzero(~np.isnan(box[:, 0])).tolist():
            rows[row]["box"] = box[row].tolist()
    for name in ("score", "id", "area"):
        if name in table.columns:
            for made, value in zip(rows, table[name].tolist(), strict=True):
                # The area that is the shape's own is not a number yet: it goes without saying.
                if value == value:
                    made[name] = value
    if "crowd" in table.columns:
        for row in np.flatnonzero(table["crowd"]).tolist():
            rows[row]["crowd"] = True
    return rows


def _polygons(polygon: Polygons) -> list[Any]:
    """A list of rings each; GeoJSON where there are holes, which a list of rings cannot have."""
    values: list[Any] = list(rings_of(polygon))
    ring_count = np.diff(polygon.parts).tolist()
    parts = np.diff(polygon.objects)
    holes = np.diff(polygon.parts[polygon.objects]) > parts
    for row in np.flatnonzero(holes).tolist():
        rings = iter(values[row])
        counts = ring_count[polygon.objects[row] : polygon.objects[row + 1]]
        coordinates = [[_closed(next(rings)) for _ in range(count)] for count in counts]
        values[row] = {"type": "MultiPolygon", "coordinates": coordinates}
    return values


def _closed(ring: Sequence[float]) -> list[Sequence[float]]:
    """The points of a ring as GeoJSON has them: the first again at the end."""
    points = list(zip(ring[::2], ring[1::2], strict=True))
    return [*points, points[0]]


def _metadata(metadata: Mapping[str, list[Any]], at: int) -> dict[str, Any]:
    return {name: values[at] for name, values in metadata.items() if values[at] is not None}
