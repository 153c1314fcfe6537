"""Check parsed COCO objects one by one and convert them to columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.data.formats.coco.keys import distinct_id, has_keys, kind_of, reference
from valor_cli.data.formats.coco.segmentation import (
    Geometry,
    Outline,
    Runs,
    Size,
    coordinate,
    geometry_column,
    is_none,
    segmentation,
)
from valor_cli.data.formats.coco.tables import AcceptedRows, Id, Request, Rows, id_column
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.table import Columns
from valor_cli.data.values import Problems, box, describe, number

_UNKNOWN = Size(0, 0)

_KEY = ".keypoints"


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
        shape = extent(points) if alone else _geometry(record, source, _UNKNOWN, problems, row)
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
        size = _UNKNOWN if image is None else sizes[image]
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
    area = number(record["area"], problems, row, ".area")
    if area is not None and area < 0:
        found = describe(record["area"])
        problems.add(row, ".area", f"expected an area of 0 or more, found {found}")
    return area


def _crowd(record: Mapping[str, Any], problems: Problems, row: int) -> bool:
    key = spelled(tuple(record), "object").get("crowd", "iscrowd")
    crowd = record.get(key, False)
    if type(crowd) in (int, bool) and crowd in (0, 1):
        return bool(crowd)
    problems.add(row, f".{key}", f"expected 0, 1, true or false, found {describe(crowd)}")
    return False


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
        problems.add(row, _KEY, f"expected {expected}, found {describe(value)}")
    elif len(value) % 3:
        expected = "three numbers a keypoint (x, y, visibility)"
        problems.add(row, _KEY, f"expected {expected}, found {len(value)} numbers")
    elif len(value) != length:
        expected = f"{length // 3} keypoints as in most rows"
        problems.add(row, _KEY, f"expected {expected}, found {len(value) // 3}")
    else:
        return [coordinate(each, problems, row, f"{_KEY}[{at}]") for at, each in enumerate(value)]
    return [0.0] * length


def extent(values: Sequence[float]) -> list[float] | None:
    """The box around checked keypoints, as pycocotools makes it of keypoint results."""
    x, y = values[0::3], values[1::3]
    return [min(x), min(y), max(x) - min(x), max(y) - min(y)] if x else None
