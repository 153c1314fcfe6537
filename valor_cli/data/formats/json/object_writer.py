"""Write objects as JSON Lines, one image per line in the order of the images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from valor_cli.data.json_records import records
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
    metadata = records(objects.metadata.items(), len(scene.ids))
    height, width = ([side or None for side in sides] for sides in scene.size.T.tolist())
    columns = {
        "image_id": scene.ids,
        "file_name": scene.file_names,
        "width": width,
        "height": height,
        "metadata": [one or None for one in metadata],
        "objects": [[rows[row] for row in own] for own in scene.rows()],
    }
    found = records(columns.items(), len(scene.ids))
    content = b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in found)
    return Written({"": content}, scene.losses(_HOLDS))


def _objects(scene: Scene, box: Floats | None) -> list[dict[str, Any]]:
    table, shapes = scene.table, scene.shapes
    own: dict[int, list[Any]] = {
        BOX: shapes.box.tolist(),
        ROTATED_BOX: shapes.rotated_box.tolist(),
        POLYGON: _polygons(shapes.polygon),
        MASK: rle_of(shapes.mask),
    }
    columns: list[tuple[str, Sequence[Any]]] = [("label", scene.labels)]
    columns += [(KINDS[kind], scene.by_row({kind: values})) for kind, values in own.items()]
    if box is not None:
        columns.append(("box", [one if one[0] == one[0] else None for one in box.tolist()]))
    for name in ("score", "id", "area", "crowd"):
        if name in table.columns:
            # An area that is the shape's own is no number yet; no crowd goes without saying.
            values = table[name].tolist()
            columns.append((name, [None if one != one or one is False else one for one in values]))
    return records(columns, len(table))


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
