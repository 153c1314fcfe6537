"""Write COCO JSON: ground truth, a dataset with scores, or a results list.

The order of keys is fixed, and floats are written with the digits that restore them exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from valor_cli.data.formats.coco.images import LVIS_KEYS
from valor_cli.data.json_records import records
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import Scene, WriteOptions, Written, rings_of, rle_of
from valor_cli.data.table import Table
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.conversion import areas, bounds
from valor_cli.kernels.geometry.polygons import TooComplexError
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Floats, Kind

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
    scene = Scene(objects, "COCO", KINDS)
    scene.check_polygons(parts=True, instead="mask")
    document: object
    if wishes.results or objects.categories is None:
        name, held, document = "a COCO results list", _RESULTS, _results(scene, wishes)
    else:
        name, held = "COCO", _DICTIONARY
        document = {
            "images": _images(scene),
            "annotations": _annotations(scene, wishes),
            "categories": _categories(objects.categories),
        }
    content = orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
    return Written({"": content}, scene.losses(held, name))


def _results(scene: Scene, wishes: WriteOptions) -> list[dict[str, Any]]:
    objects, table = scene.objects, scene.table
    if "score" not in table.columns:
        raise DataError(Problem(objects.path, "a COCO results list needs scores; there are none"))
    boxes: list[Any] = _boxes(objects, wishes).tolist()
    silent = True if wishes.box is None else np.isnan(wishes.box[:, 0])
    for row in np.flatnonzero((objects.shapes.kind != BOX) & silent).tolist():
        # pycocotools takes the area of a box, where there is one, for that of the mask.
        boxes[row] = None
    columns = {
        "image_id": table["image_id"].tolist(),
        "category_id": table["category_id"].tolist(),
        "bbox": boxes,
        "score": table["score"].tolist(),
        "segmentation": _segmentations(scene),
    }
    return records((columns | _keypoints(objects)).items(), len(table))


def _annotations(scene: Scene, wishes: WriteOptions) -> list[dict[str, Any]]:
    objects, table = scene.objects, scene.table
    count = len(table)
    crowd = table.columns.get("crowd", np.zeros(count))
    columns = {
        "id": table["id"].tolist() if "id" in table.columns else range(1, count + 1),
        "image_id": table["image_id"].tolist(),
        "category_id": table["category_id"].tolist(),
        "bbox": _boxes(objects, wishes).tolist(),
        "area": _areas(objects).tolist(),
        "iscrowd": crowd.astype(np.int64).tolist(),
        "segmentation": _segmentations(scene),
    }
    if "score" in table.columns:
        columns["score"] = table["score"].tolist()
    return records((columns | _keypoints(objects)).items(), count)


def _boxes(objects: ObjectFile, wishes: WriteOptions) -> Floats:
    """The box stated for each object, else the bounds of its shape."""
    own = bounds(objects.shapes)
    return own if wishes.box is None else np.where(np.isnan(wishes.box), own, wishes.box)


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


def _segmentations(scene: Scene) -> list[Any]:
    """What outlines each object; None for a box."""
    shapes = scene.shapes
    values: dict[int, list[Any]] = {POLYGON: rings_of(shapes.polygon), MASK: rle_of(shapes.mask)}
    return scene.by_row(values)


def _keypoints(objects: ObjectFile) -> dict[str, list[Any]]:
    if "keypoints" not in objects.objects.columns:
        return {}
    keypoints = objects.objects["keypoints"]
    return {
        "keypoints": keypoints.reshape(len(keypoints), -1).tolist(),
        "num_keypoints": (keypoints[:, :, 2] > 0).sum(axis=1).tolist(),
    }


def _images(scene: Scene) -> list[dict[str, Any]]:
    table = scene.objects.images
    height, width = ([side or None for side in sides] for sides in scene.size.T.tolist())
    columns: dict[str, Sequence[Any]] = {
        "id": scene.ids,
        "file_name": scene.file_names,
        "width": width,
        "height": height,
    }
    for column, key in LVIS_KEYS.items():
        if table is not None and column in table.columns:
            columns[key] = table[column].tolist()
    metadata = records(scene.objects.metadata.items(), len(scene.ids))
    columns["metadata"] = [one or None for one in metadata]
    return records(columns.items(), len(scene.ids))


def _categories(table: Table) -> list[dict[str, Any]]:
    keys = [key for key in ("id", "name", "frequency", "isthing") if key in table.columns]
    return records([(key, table[key].tolist()) for key in keys], len(table))
