"""Check parsed COCO objects one by one and convert them to columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from valor_cli.data.formats.coco.images import distinct_id, has_keys, kind_of, reference
from valor_cli.data.formats.coco.tables import (
    FEWEST,
    AcceptedRows,
    Request,
    Rows,
    opened_rings,
)
from valor_cli.data.shapes.objects.checks import (
    UNKNOWN,
    Runs,
    Size,
    crowd_flag,
    run_lengths,
    stated_area,
)
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.shapes.objects.object_file import Id, id_column
from valor_cli.data.shapes.objects.rows import polygon_columns
from valor_cli.data.table import Columns
from valor_cli.data.values import LARGEST_COORDINATE, Problems, box, describe, number
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Shapes

KEY: Final = ".segmentation"
_POINTS: Final = ".keypoints"


class Outline(NamedTuple):
    """A polygon: flat coordinates of each part."""

    parts: Sequence[Sequence[float]]


Geometry: TypeAlias = Sequence[float] | Outline | Runs
"""Checked: x, y, width and height of a box, a polygon, or a mask."""


def detection_rows(
    rows: Sequence[Any], categories: Container[Id] | None, request: Request, problems: Problems
) -> tuple[Rows, AcceptedRows]:
    """The valid detections, and their positions."""
    image_kind, category_kind = kind_of(rows, "image_id"), kind_of(rows, "category_id")
    length = numbers_of(rows) if request.keypoints else 0
    kept: list[int] = []
    values = []
    for row, record in enumerate(rows):
        before = problems.total
        source = _source(record, request)
        if request.keypoints and _has_keypoints_alone(record):
            source = "keypoints"
        if not has_keys(record, ("image_id", "category_id", source, "score"), problems, row):
            continue
        if length and request.every_keypoints and record.get("keypoints") in (None, []):
            problems.add(row, ".keypoints", "there are none, and other detections have them")
            continue
        points = _keypoints(record, length, request, problems, row)
        alone = source == "keypoints"
        shape = extent(points) if alone else _geometry(record, source, UNKNOWN, problems, row)
        value = (
            reference(record, "image_id", image_kind, None, problems, row),
            reference(record, "category_id", category_kind, categories, problems, row),
            shape,
            number(record["score"], problems, row, ".score"),
            points,
        )
        if problems.total == before:
            kept.append(row)
            values.append(value)
    image_ids, labels, shapes, scores, lists = zip(*values, strict=True) if values else ((),) * 5
    columns = {
        "image_id": id_column(image_ids),
        "category_id": id_column(labels),
        "score": np.array(scores, dtype=np.float64),
    } | _keypoint_columns(lists, length)
    return Rows(columns, geometry_column(shapes)), AcceptedRows(kept, len(rows))


def annotation_rows(
    rows: Sequence[Any],
    images: Columns,
    categories: Columns,
    request: Request,
    problems: Problems,
) -> tuple[Rows, AcceptedRows]:
    """The valid ground truth objects, and their positions."""
    sizes, category_ids = _sizes(images), set(categories["id"].tolist())
    with_id = any(isinstance(row, dict) and "id" in row for row in rows)
    kinds = {key: kind_of(rows, key) for key in ("id", "image_id", "category_id")}
    length = numbers_of(rows) if request.keypoints else 0
    seen: dict[Id, int] = {}
    values = []
    for row, record in enumerate(rows):
        before = problems.total
        source = _source(record, request)
        keys = ("image_id", "category_id", source, *(("id",) if with_id else ()))
        if not has_keys(record, keys, problems, row):
            continue
        found = distinct_id(record["id"], kinds["id"], seen, problems, row) if with_id else row + 1
        image = reference(record, "image_id", kinds["image_id"], sizes, problems, row)
        size = UNKNOWN if image is None else sizes[image]
        shape = _geometry(record, source, size, problems, row)
        value = (
            image,
            reference(record, "category_id", kinds["category_id"], category_ids, problems, row),
            shape,
            _area(record, shape, problems, row),
            _crowd(record, problems, row),
            _keypoints(record, length, request, problems, row),
        )
        if problems.total == before and found is not None:
            seen[found] = row
            values.append(value)
    return _annotations(list(seen), values, length), AcceptedRows(list(seen.values()), len(rows))


def _annotations(ids: Sequence[Id], values: Sequence[Sequence[Any]], length: int) -> Rows:
    images, labels, shapes, areas, crowd, points = (
        zip(*values, strict=True) if values else ((),) * 6
    )
    columns = {
        "id": id_column(ids),
        "image_id": id_column(images),
        "category_id": id_column(labels),
        "area": np.array(areas, dtype=np.float64),
        "crowd": np.array(crowd, dtype=np.bool_),
    } | _keypoint_columns(points, length)
    return Rows(columns, geometry_column(shapes))


def _source(record: object, request: Request) -> str:
    """The key whose geometry is taken, or else the one that is missed."""
    if not isinstance(record, dict):
        return "bbox"
    has_shape = not is_none(record.get("segmentation"))
    if request.wanted == "shape" and not has_shape and ("polygon" in record or "mask" in record):
        return "segmentation"
    if request.wanted == "shape":
        return "segmentation" if has_shape or "bbox" not in record else "bbox"
    return "segmentation" if has_shape and is_none(record.get("bbox")) else "bbox"


def _has_keypoints_alone(record: object) -> bool:
    """Whether it is a keypoint result: COCO's have neither box nor segmentation."""
    if not isinstance(record, dict) or is_none(record.get("keypoints")):
        return False
    return is_none(record.get("bbox")) and is_none(record.get("segmentation"))


def _geometry(
    record: Mapping[str, Any], source: str, size: Size, problems: Problems, row: int
) -> Geometry | None:
    value = record[source]
    if source == "bbox":
        return box(value, problems, row, ".bbox")
    if is_none(value):
        message = f"expected polygons or run lengths, found {describe(value)}, and no bbox"
        problems.add(row, f".{source}", message)
        return None
    return segmentation(value, size, problems, row)


def _sizes(images: Columns) -> dict[Id, Size]:
    unknown = np.zeros(len(images["id"]), np.int64)
    heights = images.get("height", unknown).tolist()
    widths = images.get("width", unknown).tolist()
    return dict(zip(images["id"].tolist(), map(Size, heights, widths), strict=True))


def _keypoints(
    record: Mapping[str, Any], length: int, request: Request, problems: Problems, row: int
) -> list[float]:
    if not request.keypoints:
        return []
    return keypoints(record.get("keypoints"), length, problems, row)


def _keypoint_columns(points: Sequence[Sequence[float]], length: int) -> Columns:
    if not length:
        return {}
    flat = np.array(points, dtype=np.float64)
    return {"keypoints": flat.reshape(len(points), length // 3, 3)}


def _area(
    record: Mapping[str, Any], shape: Geometry | None, problems: Problems, row: int
) -> float | None:
    if "area" not in record:
        if shape is None or isinstance(shape, Outline | Runs):
            return math.nan
        return shape[2] * shape[3]
    return stated_area(record["area"], problems, row, ".area")


def _crowd(record: Mapping[str, Any], problems: Problems, row: int) -> bool:
    key = spelled(tuple(record), "object").get("crowd", "iscrowd")
    return crowd_flag(record.get(key, False), problems, row, f".{key}")


def numbers_of(rows: Sequence[Any]) -> int:
    """How many numbers most objects with keypoints have, three a keypoint; 0 if there is none."""
    found = [row.get("keypoints") for row in rows if isinstance(row, dict)]
    lengths = Counter(len(each) for each in found if isinstance(each, list) and each)
    whole = Counter({length: count for length, count in lengths.items() if length % 3 == 0})
    return whole.most_common(1)[0][0] if whole else 0


def keypoints(value: object, length: int, problems: Problems, row: int) -> list[float]:
    """Flat x, y and visibility of each keypoint; zeros if missing or invalid."""
    if value is None or value == []:
        return [0.0] * length
    if not isinstance(value, list):
        expected = "a list of x, y and visibility of each keypoint"
        problems.add(row, _POINTS, f"expected {expected}, found {describe(value)}")
    elif len(value) % 3:
        expected = "three numbers a keypoint (x, y, visibility)"
        problems.add(row, _POINTS, f"expected {expected}, found {len(value)} numbers")
    elif len(value) != length:
        expected = f"{length // 3} keypoints as in most rows"
        problems.add(row, _POINTS, f"expected {expected}, found {len(value) // 3}")
    else:
        return [
            coordinate(each, problems, row, f"{_POINTS}[{at}]") for at, each in enumerate(value)
        ]
    return [0.0] * length


def extent(values: Sequence[float]) -> list[float] | None:
    """The box around checked keypoints, as pycocotools makes it of keypoint results."""
    x, y = values[0::3], values[1::3]
    return [min(x), min(y), max(x) - min(x), max(y) - min(y)] if x else None


def is_none(value: object) -> bool:
    """Whether there is no geometry: null, or the empty list that some tools write."""
    return value is None or value == []


def segmentation(value: object, image: Size, problems: Problems, row: int) -> Geometry | None:
    """A list of polygons, or run lengths, compressed or not.

    Args:
        value: The value of the key.
        image: Size that run lengths must have.
        problems, row: Where to note what is wrong.
    """
    if isinstance(value, list):
        return _outline(value, problems, row)
    if isinstance(value, dict):
        return run_lengths(value, image, problems, row, KEY)
    expected = "a list of polygons, or an object with size and counts"
    problems.add(row, KEY, f"expected {expected}, found {describe(value)}")
    return None


def geometry_column(values: Sequence[Geometry]) -> Shapes:
    """Checked geometry of many objects."""
    outlines = [value for value in values if isinstance(value, Outline)]
    runs = [value for value in values if isinstance(value, Runs)]
    boxes = [value for value in values if not isinstance(value, Outline | Runs)]
    kinds = {Outline: POLYGON, Runs: MASK}
    polygon = polygon_columns([[[ring] for ring in outline.parts] for outline in outlines])
    sizes = np.array([each.size for each in runs], dtype=np.int64).reshape(-1, 2)
    return Shapes(
        np.array([kinds.get(type(value), BOX) for value in values], dtype=np.uint8),
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
        np.zeros((0, 5)),
        opened_rings(polygon),
        rle.from_counts([each.counts for each in runs], sizes)[0],
    )


def _outline(value: Sequence[Any], problems: Problems, row: int) -> Outline | None:
    before = problems.total
    parts: list[list[float]] = []
    for position, part in enumerate(value):
        key = f"{KEY}[{position}]"
        if not isinstance(part, list):
            problems.add(row, key, f"expected a list of x and y in turn, found {describe(part)}")
            # A bare list of numbers is one mistake, not one a number.
            return None
        if len(part) < FEWEST or len(part) % 2:
            expected = f"an even number of numbers, {FEWEST} at least (x and y in turn)"
            problems.add(row, key, f"expected {expected}, found {len(part)}")
        else:
            places = (f"{key}[{at}]" for at in range(len(part)))
            pairs = zip(part, places, strict=True)
            parts.append([coordinate(each, problems, row, place) for each, place in pairs])
    return Outline(parts) if problems.total == before else None


def coordinate(value: object, problems: Problems, row: int, key: str) -> float:
    """A coordinate; 0 if a problem was recorded."""
    found = number(value, problems, row, key)
    if found is not None and abs(found) > LARGEST_COORDINATE:
        message = f"expected at most {LARGEST_COORDINATE} pixels, found {describe(value)}"
        problems.add(row, key, message)
    return 0.0 if found is None else found
