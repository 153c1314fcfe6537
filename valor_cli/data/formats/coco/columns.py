"""Convert decoded COCO objects to columns; None if they need the full checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from types import NoneType
from typing import Any, Final, cast

import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from valor_cli.data.formats.coco.geometry import (
    extents,
    keypoints_of,
    shapes_of,
)
from valor_cli.data.formats.coco.structs import (
    LVIS_KEYS,
    Annotation,
    AnyAnnotation,
    AnyDetection,
    Category,
    Detection,
    Federated,
    Image,
    SegmentedAnnotation,
    SegmentedDetection,
)
from valor_cli.data.formats.coco.tables import Id, Request, Rows, id_column, list_column
from valor_cli.data.table import Columns
from valor_cli.kernels.geometry.rle import LARGEST_SIDE
from valor_cli.kernels.geometry.shapes import BOX, Shapes

_ONE_KIND: Final[tuple[set[type], ...]] = ({int}, {str}, set())


def detection_rows(
    detections: Sequence[Detection] | Sequence[SegmentedDetection] | Sequence[AnyDetection],
    request: Request,
) -> Rows | None:
    """Detections of any geometry with string or int64 ids."""
    columns = detection_columns(detections)
    keypoints = keypoints_of(detections) if request.keypoints else np.zeros((0, 0, 3))
    if columns is None or keypoints is None:
        return None
    instead: Sequence[Sequence[float] | None] | None = None
    if keypoints.size:
        if request.every_keypoints and not all(map(attrgetter("keypoints"), detections)):
            return None
        pairs = zip(detections, extents(keypoints).tolist(), strict=True)
        instead = [box if cast(AnyDetection, row).keypoints else None for row, box in pairs]
    shapes = shapes_of(detections, request.wanted, instead)
    if shapes is None:
        return None
    return Rows(columns | ({"keypoints": keypoints} if keypoints.size else {}), shapes)


def detection_columns(detections: Sequence[Any]) -> Columns | None:
    """The columns of detections other than geometry."""
    image_ids = _id_column(list(map(attrgetter("image_id"), detections)))
    category_ids = _id_column(list(map(attrgetter("category_id"), detections)))
    if image_ids is None or category_ids is None:
        return None
    scores = np.fromiter(map(attrgetter("score"), detections), np.float64, len(detections))
    return {"image_id": image_ids, "category_id": category_ids, "score": scores}


def joined_columns(pieces: Sequence[Columns]) -> Columns | None:
    """Concatenate pieces; None if ids change their type."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for piece in pieces:
        for name, column in piece.items():
            parts.setdefault(name, []).append(column)
    if any(len({column.dtype for column in columns}) > 1 for columns in parts.values()):
        return None
    # A column's parts go as soon as it is whole, so not all is in memory twice.
    return {name: np.concatenate(parts.pop(name)) for name in list(parts)}


def annotation_rows(
    annotations: Sequence[Annotation] | Sequence[SegmentedAnnotation] | Sequence[AnyAnnotation],
    request: Request,
) -> Rows | None:
    """Ground truth of any geometry."""
    n = len(annotations)
    ids = _annotation_ids(list(map(attrgetter("id"), annotations)))
    image_ids = _id_column(list(map(attrgetter("image_id"), annotations)))
    category_ids = _id_column(list(map(attrgetter("category_id"), annotations)))
    shapes = shapes_of(annotations, request.wanted)
    if ids is None or image_ids is None or category_ids is None or shapes is None:
        return None
    areas = _areas(list(map(attrgetter("area"), annotations)), shapes)
    crowd = list(map(attrgetter("iscrowd"), annotations))
    keypoints = keypoints_of(annotations) if request.keypoints else np.zeros((0, 0, 3))
    if areas is None or keypoints is None or not set(crowd) <= {0, 1}:
        return None
    columns: Columns = {
        "id": ids,
        "image_id": image_ids,
        "category_id": category_ids,
        "area": areas,
        "crowd": np.fromiter(crowd, np.bool_, n),
    }
    return Rows(columns | ({"keypoints": keypoints} if keypoints.size else {}), shapes)


def image_columns(images: Sequence[Image]) -> Columns | None:
    """Images with their known size and file; at least one is required."""
    ids = key_column(list(map(attrgetter("id"), images)))
    if ids is None or not images:
        return None
    columns: Columns = {"id": ids}
    for name in ("width", "height"):
        sides = list(map(attrgetter(name), images))
        if set(map(type, sides)) != {NoneType}:
            known = [side or 0 for side in sides]
            if min(known) < 0 or max(known) > LARGEST_SIDE:
                return None
            columns[name] = np.array(known, dtype=np.int64)
    names = list(map(attrgetter("file_name"), images))
    if set(map(type, names)) != {NoneType}:
        columns["file_name"] = np.array(names, dtype=object)
    return columns


def category_columns(categories: Sequence[Category]) -> Columns | None:
    """Columns of categories."""
    ids = key_column([category.id for category in categories])
    names = np.array([category.name for category in categories], dtype=object)
    return None if ids is None else {"id": ids, "name": names}


def federated_columns(
    found: Federated, images: Columns, categories: Columns
) -> tuple[Columns, Columns] | None:
    """Columns of images and categories, with the LVIS fields."""
    known = set(categories["id"].tolist())
    for name, key in LVIS_KEYS.items():
        lists = list(map(attrgetter(key), found.images))
        if not set(chain.from_iterable(filter(None, lists))) <= known:
            return None
        if set(map(type, lists)) != {NoneType}:
            images = images | {name: list_column([each or [] for each in lists])}
    frequencies = list(map(attrgetter("frequency"), found.categories))
    if set(frequencies) - {None}:
        if None in frequencies:
            return None
        categories = categories | {"frequency": np.array(frequencies, dtype=object)}
    return images, categories


def key_column(ids: Sequence[Id | UnsetType]) -> NDArray[Any] | None:
    """The same as `_id_column`, and None if an id is duplicated."""
    return _id_column(ids) if len(set(ids)) == len(ids) else None


def _id_column(ids: Sequence[Id | UnsetType]) -> NDArray[Any] | None:
    """Ids as a column, or None if they are of two kinds, missing, or beyond int64."""
    kinds = set(map(type, ids))
    try:
        return id_column(cast(Sequence[Id], ids)) if kinds in _ONE_KIND else None
    except OverflowError:
        return None


def _annotation_ids(ids: Sequence[Id | UnsetType]) -> NDArray[Any] | None:
    if set(map(type, ids)) == {UnsetType}:
        return np.arange(1, len(ids) + 1, dtype=np.int64)
    return key_column(ids)


def _areas(areas: Sequence[float | UnsetType], shapes: Shapes) -> NDArray[np.float64] | None:
    """Areas as given, else width * height of a box and NaN of another shape."""
    own = np.full(len(areas), np.nan)
    if UNSET in areas:
        own[shapes.kind == BOX] = shapes.box[:, 2] * shapes.box[:, 3]
        pairs = zip(areas, own.tolist(), strict=True)
        areas = [product if area is UNSET else area for area, product in pairs]
    column = np.array(areas, dtype=np.float64)
    return None if (column < 0).any() else column
