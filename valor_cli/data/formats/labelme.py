"""Read ground truth as LabelMe JSON files, one per image.

`{"imagePath", "imageWidth", "imageHeight", "shapes": [{"label", "points": [[x, y], …], "group_id",
"shape_type"}]}`. Polygons and rectangles are read; polygons of one label and `group_id` are one
object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from valor_cli.data.formats.annotated_images import AnnotatedImages, stem_of
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import Ring
from valor_cli.data.values import LARGEST_COORDINATE, describe, is_text, number
from valor_cli.kernels.geometry.rle import LARGEST_SIDE

_KINDS: Final = ("polygon", "rectangle")


def read_objects(path: str, role: Role, how: Reading) -> ObjectFile:
    """Objects of a folder of JSON files, or of one; image ids are names without extension.

    Args:
        path: The folder or the file.
        role: Which side it is: ground truth, as there are no scores.
        how: Its options; there is no metadata of images in this format.

    Raises:
        DataError: A file cannot be read or is no such JSON; a shape is wrong.
    """
    images = AnnotatedImages(path, role, how.metadata, unscored="LabelMe")
    for file, text in images.files(".json"):
        document = parse_json(text.encode(), file)
        shapes = document.get("shapes") if isinstance(document, dict) else None
        if not isinstance(document, dict) or not isinstance(shapes, list):
            found = describe(document) if not isinstance(document, dict) else "none"
            images.faults.add(0, "", f'expected an object with a list "shapes", found {found}')
            continue
        name = document.get("imagePath")
        if name is not None and not (isinstance(name, str) and is_text(name)):
            images.faults.add(0, "imagePath", f"expected a string, found {describe(name)}")
            name = None
        width, height = (_side(document, key, images) for key in ("imageWidth", "imageHeight"))
        images.add_image(stem_of(name or file), width, height, key="imagePath", file_name=name)
        _add_shapes(shapes, images)
    return images.object_file(how.invalid, place="shapes[{row}]")


def _side(document: dict[str, Any], key: str, images: AnnotatedImages) -> int:
    value = document.get(key)
    if type(value) is int and 0 <= value <= LARGEST_SIDE:
        return value
    if value is not None:
        message = f"expected a whole number from 0 to {LARGEST_SIDE:,}, found {describe(value)}"
        images.faults.add(0, key, message)
    return 0


def _add_shapes(shapes: Sequence[Any], images: AnnotatedImages) -> None:
    grouped: dict[tuple[str, int | str], list[Ring]] = {}
    places: dict[tuple[str, int | str], int] = {}
    for row, shape in enumerate(shapes):
        key = f"shapes[{row}]"
        before = images.problems.total
        images.found += 1
        if not isinstance(shape, dict):
            images.problems.add(0, key, f"expected an object, found {describe(shape)}")
            continue
        label, kind = shape.get("label"), shape.get("shape_type", "polygon")
        if not (isinstance(label, str) and label and is_text(label)):
            images.problems.add(0, f"{key}.label", f"expected a name, found {describe(label)}")
        if kind not in _KINDS:
            message = f"expected a polygon or a rectangle, found {describe(kind)}"
            images.problems.add(0, f"{key}.shape_type", message)
            continue
        ring = _ring(shape.get("points"), f"{key}.points", images)
        if images.problems.total > before or not isinstance(label, str):
            continue
        place = 0, f"{key}.points"
        group = shape.get("group_id")
        if kind == "rectangle":
            if len(ring) not in (4, 8):
                message = f"expected 2 or 4 points of a rectangle, found {len(ring) // 2}"
                images.problems.add(*place, message)
                continue
            xs, ys = ring[::2], ring[1::2]
            images.add_box(label, [min(xs), min(ys), max(xs), max(ys)], row, place=place)
        elif isinstance(group, int | str) and len(ring) >= 6:
            grouped.setdefault((label, group), []).append(ring)
            places.setdefault((label, group), row)
        else:
            images.add_polygon(label, ring, row, place=place)
    for (label, group), (first, *parts) in grouped.items():
        images.found -= len(parts)
        images.add_polygon(label, first, places[label, group], parts=parts)


def _ring(points: object, key: str, images: AnnotatedImages) -> list[float]:
    """x1, y1, x2, y2, …; faults are noted."""
    if not isinstance(points, list):
        images.problems.add(0, key, f"expected a list of points, found {describe(points)}")
        return []
    ring: list[float] = []
    for at, point in enumerate(points):
        place = f"{key}[{at}]"
        if not isinstance(point, list) or len(point) != 2:
            images.problems.add(0, place, f"expected x and y, found {describe(point)}")
            continue
        for side in point:
            value = number(side, images.problems, 0, place)
            if value is not None and abs(value) > LARGEST_COORDINATE:
                message = f"expected at most {LARGEST_COORDINATE}, found {describe(side)}"
                images.problems.add(0, place, message)
            ring.append(value or 0.0)
    return ring
