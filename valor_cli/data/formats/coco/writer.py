"""Write COCO JSON: ground truth, a dataset with scores, or a results list.

The order of keys is fixed, and floats are written with the digits that restore them exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import (
    WriteOptions,
    Written,
    by_row,
    check_kinds,
    check_polygons,
    images_of,
    losses,
    rings_of,
    rle_of,
)
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.conversion import areas, bounds
from valor_cli.kernels.geometry.polygons import TooComplexError
from valor_cli.kernels.geometry.shapes import MASK, POLYGON, Floats, Kind

KINDS: tuple[Kind, ...] = ("box", "polygon", "mask")
_DICTIONARY = frozenset(
    {"id", "area", "crowd", "keypoints", "size", "file_name", "negative", "not_exhaustive"}
    | {"category_id", "empty_category", "frequency", "isthing", "metadata", "empty_image"}
)
_RESULTS = _DICTIONARY - {"id", "area", "crowd"}
"""A results list stands beside its ground truth, which has the images and the categories."""


def write_coco(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """COCO JSON on one line.

    Raises:
        DataError: A geometry that COCO cannot hold.
    """
    check_kinds(objects, KINDS, "COCO")
    check_polygons(objects, "COCO", parts=True, instead="mask")
    if wishes.results or objects.categories is None:
        return _results(objects, wishes)
    document = {
        "images": _images(objects),
        "annotations": _annotations(objects, wishes),
        "categories": _categories(objects),
    }
    content = orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
    return Written({"": content}, losses(objects, "COCO", _DICTIONARY))


def _results(objects: ObjectFile, wishes: WriteOptions) -> Written:
    table = objects.objects
    if "score" not in table.columns:
        raise DataError(Problem(objects.path, "a COCO results list needs scores; there are none"))
    rows: list[dict[str, Any]] = [
        {"image_id": image, "category_id": category, "bbox": box, "score": score}
        for image, category, box, score in zip(
            table["image_id"].tolist(),
            table["category_id"].tolist(),
            _boxes(objects, wishes).tolist(),
            table["score"].tolist(),
            strict=True,
        )
    ]
    stated = np.zeros(len(rows), bool) if wishes.box is None else ~np.isnan(wishes.box[:, 0])
    for row, segmentation, has_box in zip(
        rows, _segmentations(objects), stated.tolist(), strict=True
    ):
        if segmentation is not None:
            row["segmentation"] = segmentation
            if not has_box:
                # pycocotools takes the area of a box, where there is one, for that of the mask.
                del row["bbox"]
    _add_keypoints(rows, objects)
    content = orjson.dumps(rows, option=orjson.OPT_APPEND_NEWLINE)
    return Written({"": content}, losses(objects, "a COCO results list", _RESULTS))


def _boxes(objects: ObjectFile, wishes: WriteOptions) -> Floats:
    """The box stated for each object, else the bounds of its shape."""
    own = bounds(objects.shapes)
    return own if wishes.box is None else np.where(np.isnan(wishes.box), own, wishes.box)


def _segmentations(objects: ObjectFile) -> list[Any]:
    """What outlines each object; None for a box."""
    shapes = objects.shapes
    values: dict[int, list[Any]] = {POLYGON: rings_of(shapes.polygon), MASK: rle_of(shapes.mask)}
    return by_row(shapes, values)


def _images(objects: ObjectFile) -> list[dict[str, Any]]:
    images = images_of(objects)
    rows: list[dict[str, Any]] = []
    for number, (height, width), name in zip(
        images.ids, images.size.tolist(), images.file_names, strict=True
    ):
        row: dict[str, Any] = {"id": number}
        if name is not None:
            row["file_name"] = name
        if height:
            row |= {"width": width, "height": height}
        rows.append(row)
    table = objects.images
    for key, column in (
        ("neg_category_ids", "negative"),
        ("not_exhaustive_category_ids", "not_exhaustive"),
    ):
        if table is not None and column in table.columns:
            for row, ids in zip(rows, table[column].tolist(), strict=True):
                row[key] = list(ids)
    _add_metadata(rows, objects)
    return rows


def _add_metadata(rows: list[dict[str, Any]], objects: ObjectFile) -> None:
    for name, values in objects.metadata.items():
        for row, value in zip(rows, values, strict=True):
            if value is not None:
                row.setdefault("metadata", {})[name] = value


def _annotations(objects: ObjectFile, wishes: WriteOptions) -> list[dict[str, Any]]:
    table = objects.objects
    count = len(table)
    ids = table["id"].tolist() if "id" in table.columns else range(1, count + 1)
    crowd = table["crowd"].tolist() if "crowd" in table.columns else [False] * count
    rows: list[dict[str, Any]] = [
        {
            "id": number,
            "image_id": image,
            "category_id": category,
            "bbox": box,
            "area": area,
            "iscrowd": int(is_crowd),
        }
        for number, image, category, box, area, is_crowd in zip(
            ids,
            table["image_id"].tolist(),
            table["category_id"].tolist(),
            _boxes(objects, wishes).tolist(),
            _areas(objects).tolist(),
            crowd,
            strict=True,
        )
    ]
    for row, segmentation in zip(rows, _segmentations(objects), strict=True):
        if segmentation is not None:
            row["segmentation"] = segmentation
    if "score" in table.columns:
        for row, score in zip(rows, table["score"].tolist(), strict=True):
            row["score"] = score
    _add_keypoints(rows, objects)
    return rows


def _areas(objects: ObjectFile) -> Floats:
    """The area stated, else the shape's own."""
    area = np.full(len(objects.shapes), np.nan)
    if "area" in objects.objects.columns:
        area[:] = objects.objects["area"]
    silent = np.flatnonzero(np.isnan(area))
    shapes = objects.shapes.take(silent)
    try:
        area[silent] = areas(shapes)
    except TooComplexError as error:
        row = int(silent[shapes.rows_of(POLYGON)[error.rows[0]]])
        raise DataError(
            Problem(objects.objects.place_of(row), f"polygon: {error}"),
            total=len(error.rows),
            hint="simplify it, say its area, or convert to masks",
        ) from None
    return area


def _add_keypoints(rows: list[dict[str, Any]], objects: ObjectFile) -> None:
    if "keypoints" not in objects.objects.columns:
        return
    keypoints = objects.objects["keypoints"]
    visible = (keypoints[:, :, 2] > 0).sum(axis=1).tolist()
    flat = keypoints.reshape(len(keypoints), -1).tolist()
    for row, values, count in zip(rows, flat, visible, strict=True):
        row["keypoints"] = values
        row["num_keypoints"] = count


def _categories(objects: ObjectFile) -> list[dict[str, Any]]:
    table = objects.categories
    if table is None:
        return []
    rows: list[dict[str, Any]] = [
        {"id": number, "name": name}
        for number, name in zip(table["id"].tolist(), table["name"].tolist(), strict=True)
    ]
    for key in ("frequency", "isthing"):
        if key in table.columns:
            for row, value in zip(rows, table[key].tolist(), strict=True):
                row[key] = value
    return rows
