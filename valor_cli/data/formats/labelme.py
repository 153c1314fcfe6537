"""Read ground truth as LabelMe JSON files, one per image.

`{"imagePath", "imageWidth", "imageHeight", "shapes": [{"label", "points": [[x, y], …], "group_id",
"shape_type"}]}`. Polygons and rectangles are read; polygons of one label and `group_id` are one
object. Image ids are names without extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, read_annotations
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.parse import FEWEST
from valor_cli.data.shapes.objects.rows import Ring
from valor_cli.data.values import describe, is_text

_KINDS: Final = ("polygon", "rectangle")


def _parse(found: AnnotatedImages, text: str) -> None:
    document = parse_json(text.encode(), found.path)
    shapes = document.get("shapes") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(shapes, list):
        what = describe(document) if not isinstance(document, dict) else "none"
        found.faults.add(0, "", f'expected an object with a list "shapes", found {what}')
        return
    name = document.get("imagePath")
    if name is not None and not (isinstance(name, str) and is_text(name)):
        found.faults.add(0, "imagePath", f"expected a string, found {describe(name)}")
        name = None
    width, height = (found.side(document.get(key), key) for key in ("imageWidth", "imageHeight"))
    found.add_image(None, width, height, key="imagePath", file_name=name)
    _add_shapes(found, shapes)


def _add_shapes(found: AnnotatedImages, shapes: Sequence[Any]) -> None:
    grouped: dict[tuple[str, int | str], list[tuple[int, Ring]]] = {}
    for row, shape in enumerate(shapes):
        key = f"shapes[{row}]"
        found.begin(row)
        if not isinstance(shape, dict):
            found.fault(key, f"expected an object, found {describe(shape)}")
            continue
        label, kind = shape.get("label"), shape.get("shape_type", "polygon")
        if not (isinstance(label, str) and label and is_text(label)):
            found.fault(f"{key}.label", f"expected a name, found {describe(label)}")
        if kind not in _KINDS:
            message = f"expected a polygon or a rectangle, found {describe(kind)}"
            found.fault(f"{key}.shape_type", message)
            continue
        ring = _ring(found, shape.get("points"), f"{key}.points")
        if not found.sound or not isinstance(label, str):
            continue
        group = shape.get("group_id")
        if kind == "rectangle" and len(ring) not in (4, 8):
            message = f"expected 2 or 4 points of a rectangle, found {len(ring) // 2}"
            found.fault(f"{key}.points", message)
        elif kind == "rectangle":
            xs, ys = ring[::2], ring[1::2]
            found.add("box", label, [min(xs), min(ys), max(xs), max(ys)])
        elif isinstance(group, int | str) and len(ring) >= FEWEST:
            grouped.setdefault((label, group), []).append((row, ring))
        else:
            found.add("polygon", label, ring, key=f"{key}.points")
    for (label, _), rings in grouped.items():
        (row, first), *others = rings
        # They were counted one by one.
        found.begin(row, -len(others))
        found.add(
            "polygon", label, first, key=f"shapes[{row}].points", parts=[r for _, r in others]
        )


def _ring(found: AnnotatedImages, points: object, key: str) -> list[float]:
    """x1, y1, x2, y2, …; faults are noted."""
    if not isinstance(points, list):
        found.fault(key, f"expected a list of points, found {describe(points)}")
        return []
    ring: list[float] = []
    for at, point in enumerate(points):
        place = f"{key}[{at}]"
        if isinstance(point, list) and len(point) == 2:
            ring += [found.number(side, place) for side in point]
        else:
            found.fault(place, f"expected x and y, found {describe(point)}")
    return ring


read_objects = partial(
    read_annotations,
    parse=_parse,
    ending=".json",
    place="shapes[{row}]",
    unscored="LabelMe",
)
