"""Read parsed COCO JSON value by value and report everything that is wrong with it.

The slow path: all messages about the content of a COCO file are written here and in `images`. Where
`decode_objects` returns columns, this returns the same ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import numpy as np

from valor_cli.data.formats.coco.images import (
    category_columns,
    category_lists,
    distinct_id,
    frequencies,
    has_keys,
    image_columns,
    kind_of,
    metadata_of,
    reference,
    sizes_of,
)
from valor_cli.data.formats.coco.objects import KEYPOINTS, Rows, object_file, opened_rings
from valor_cli.data.shapes.objects.checks import (
    UNKNOWN,
    Runs,
    Size,
    box,
    coordinates,
    crowd_flag,
    missing_keys,
    run_lengths,
    stated_area,
)
from valor_cli.data.shapes.objects.names import spelled
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, Role, id_column
from valor_cli.data.shapes.objects.parse import FEWEST
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import polygon_columns
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import SKIP_HINT, Columns, Problems, stop_on
from valor_cli.data.values import describe, number
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Shapes

_LISTS: Final = ("images", "annotations", "categories")
_GROUND_TRUTH: Final = "ground truth is an object with images, annotations and categories"
_PREDICTIONS: Final = (
    "predictions are a list of objects with image_id, category_id, {} and score, "
    "or a COCO object whose annotations have a score"
)
_GEOMETRY: Final = {"box": "bbox", "shape": "segmentation"}
_SHAPE: Final = "segmentation"
_POINTS: Final = "keypoints"
_COLUMNS: Final[Mapping[Role, Sequence[str]]] = {
    "predictions": ("image_id", "category_id", "score"),
    "ground_truth": ("id", "image_id", "category_id", "area", "crowd"),
}
_TYPES: Final = {"score": np.float64, "area": np.float64, "crowd": np.bool_}
"""Of columns that are no ids."""


class _Outline(NamedTuple):
    """A polygon: flat coordinates of each part."""

    parts: Sequence[Sequence[float]]


_Geometry: TypeAlias = Sequence[float] | _Outline | Runs
"""Checked: x, y, width and height of a box, a polygon, or a mask."""


def diagnose_objects(
    document: object, source: TextSource, role: Role, reading: Reading
) -> ObjectFile:
    """The objects of a parsed file.

    Raises:
        DataError: It holds none of this side, metadata of a name is nowhere, or something in it is
            wrong (objects only where these are not skipped).
    """
    path = source.path
    lists = _lists(document, role, reading, path)
    images = categories = None
    if "images" in lists:
        if not lists["images"]:
            _stop(f"{path}: images", "there are no images; at least one is needed")
        images = image_columns(lists["images"], path)
    if "categories" in lists:
        categories = category_columns(lists["categories"], path)
    if images is not None and categories is not None and "federated" in reading.fields:
        images |= category_lists(lists["images"], categories, path)
        categories |= frequencies(lists["categories"], path)
    metadata = {}
    if images is not None:
        metadata = metadata_of(lists["images"], reading.metadata, path)
    list_name = "" if isinstance(document, list) else "annotations"
    problems = Problems(path, f"{list_name}[{{row}}]")
    check = _ObjectCheck(lists[list_name], role, reading, images, categories, problems)
    rows = check.rows()
    if reading.invalid == "error":
        stop_on([problems], SKIP_HINT)
    return object_file(
        source, rows, list_name, images=images, categories=categories, metadata=metadata
    )


def _stop(place: str, message: str) -> NoReturn:
    raise DataError(Problem(place, message))


def _lists(document: object, role: Role, reading: Reading, path: str) -> dict[str, list[Any]]:
    """The lists of a file by key, which is empty for detections that are the file."""
    predicted, expected = role == "predictions", _GROUND_TRUTH
    if predicted:
        expected = _PREDICTIONS.format(_GEOMETRY[reading.wanted])
    if isinstance(document, list) and predicted:
        lists = {"": document}
    elif isinstance(document, list) and document and isinstance(document[0], dict):
        found = "this is a list of detections (COCO results)"
        _stop(path, f"{found}; {expected} — give this file under data.predictions")
    elif not isinstance(document, dict):
        _stop(path, f"{expected}, found {describe(document)}")
    else:
        needed = ("annotations",) if predicted else _LISTS
        missing = [key for key in needed if key not in document]
        if missing:
            _stop(path, f"{missing_keys(missing, document)}; {expected}")
        lists = _lists_of(document, needed, path)
    if predicted:
        objects = [row for rows in lists.values() for row in rows if isinstance(row, dict)]
        if objects and not any("score" in row for row in objects):
            found = "these are annotations without score (ground truth)"
            _stop(path, f"{found}; {expected} — give this file under data.ground_truth")
        if isinstance(document, dict) and "categories" in document:
            lists |= _lists_of(document, ("categories",), path)
    return lists


def _lists_of(document: Mapping[str, Any], keys: Sequence[str], path: str) -> dict[str, list[Any]]:
    for key in keys:
        if not isinstance(document[key], list):
            _stop(f"{path}: {key}", f"expected a list, found {describe(document[key])}")
    return {key: document[key] for key in keys}


class _ObjectCheck:
    """Checks the objects of one list."""

    def __init__(
        self,
        records: Sequence[Any],
        role: Role,
        reading: Reading,
        images: Columns | None,
        categories: Columns | None,
        problems: Problems,
    ) -> None:
        self._records = records
        self._role = role
        self._reading = reading
        self._problems = problems
        self._sizes = None if images is None else sizes_of(images)
        self._categories = None if categories is None else set(categories["id"].tolist())
        self._kinds = {key: kind_of(records, key) for key in ("id", "image_id", "category_id")}
        self._length = _length_of(records) if reading.fields & KEYPOINTS else 0
        self._required: tuple[str, ...] = ("score",)
        if role == "ground_truth":
            with_id = any(isinstance(record, dict) and "id" in record for record in records)
            self._required = ("id",) * with_id
        self._seen: dict[Id, int] = {}

    def rows(self) -> Rows:
        """The valid objects; faults of others are noted."""
        kept: list[int] = []
        values: list[dict[str, Any]] = []
        check = self._detection if self._role == "predictions" else self._annotation
        for row, record in enumerate(self._records):
            before = self._problems.total
            source = self._source(record)
            required = ("image_id", "category_id", source, *self._required)
            if not has_keys(record, required, self._problems, row):
                continue
            value = check(record, source, row)
            if self._problems.total == before:
                kept.append(row)
                values.append(value)
            elif self._seen.get(value.get("id", row)) == row:
                # An object that is left out does not use its id up.
                del self._seen[value["id"]]
        columns: Columns = {}
        for name in _COLUMNS[self._role]:
            column = [value[name] for value in values]
            columns[name] = np.array(column, _TYPES[name]) if name in _TYPES else id_column(column)
        if self._length:
            points = np.array([value["keypoints"] for value in values], np.float64)
            columns["keypoints"] = points.reshape(len(values), self._length // 3, 3)
        shapes = _shapes([value["shape"] for value in values])
        return Rows(columns, shapes, kept, len(self._records) - len(kept))

    def _detection(self, record: Mapping[str, Any], source: str, row: int) -> dict[str, Any]:
        problems = self._problems
        if self._length and "keypoints" in self._reading.fields and _is_none(record, "keypoints"):
            problems.add(row, _POINTS, "there are none, and other detections have them")
            return {}
        points = self._keypoints(record, row)
        if source == "keypoints":
            shape: _Geometry | None = _extent(points)
        else:
            shape = _geometry(record, source, UNKNOWN, problems, row)
        return {
            "shape": shape,
            "image_id": self._reference(record, "image_id", row),
            "category_id": self._reference(record, "category_id", row),
            "score": number(record["score"], problems, row, "score"),
            "keypoints": points,
        }

    def _annotation(self, record: Mapping[str, Any], source: str, row: int) -> dict[str, Any]:
        problems = self._problems
        own: Id | None = row + 1
        if self._required:
            own = distinct_id(self._kinds["id"], self._seen, record["id"], problems, row, "id")
        image = self._reference(record, "image_id", row)
        size = UNKNOWN if image is None or self._sizes is None else self._sizes[image]
        shape = _geometry(record, source, size, problems, row)
        category = self._reference(record, "category_id", row)
        area = math.nan
        if "area" in record:
            area = stated_area(record["area"], problems, row, "area")
        elif shape is not None and not isinstance(shape, _Outline | Runs):
            area = shape[2] * shape[3]
        key = spelled(tuple(record), "object").get("crowd", "iscrowd")
        return {
            "id": own,
            "image_id": image,
            "category_id": category,
            "shape": shape,
            "area": area,
            "crowd": crowd_flag(record.get(key, False), problems, row, key),
            "keypoints": self._keypoints(record, row),
        }

    def _reference(self, record: Mapping[str, Any], key: str, row: int) -> Id | None:
        known = self._sizes if key == "image_id" else self._categories
        return reference(record[key], self._kinds[key], known, self._problems, row, key)

    def _source(self, record: object) -> str:
        """The key whose geometry is taken, or else the one that is missed."""
        if not isinstance(record, dict):
            return "bbox"
        no_box = _is_none(record, "bbox")
        if self._reading.wanted == "box" and not no_box:
            return "bbox"
        no_shape = _is_none(record, "segmentation")
        points = self._role == "predictions" and self._reading.fields & KEYPOINTS
        if points and no_box and no_shape and not _is_none(record, "keypoints"):
            # A keypoint result: COCO's have neither box nor segmentation.
            return "keypoints"
        missed = "polygon" in record or "mask" in record or "bbox" not in record
        if no_shape and (self._reading.wanted == "box" or not missed):
            return "bbox"
        return "segmentation"

    def _keypoints(self, record: Mapping[str, Any], row: int) -> Sequence[float]:
        """Flat x, y and visibility of each keypoint; zeros if missing or invalid."""
        length, value = self._length, record.get("keypoints")
        if not self._reading.fields & KEYPOINTS or _is_none(record, "keypoints"):
            return [0.0] * length
        if not isinstance(value, list):
            message = "expected a list of x, y and visibility of each keypoint"
            message = f"{message}, found {describe(value)}"
        elif len(value) % 3:
            message = "expected three numbers a keypoint (x, y, visibility)"
            message = f"{message}, found {len(value)} numbers"
        elif len(value) != length:
            message = f"expected {length // 3} keypoints as in most rows, found {len(value) // 3}"
        else:
            return coordinates(value, self._problems, row, _POINTS) or [0.0] * length
        self._problems.add(row, _POINTS, message)
        return [0.0] * length


def _length_of(rows: Sequence[Any]) -> int:
    """How many numbers most objects with keypoints have, three a keypoint; 0 if there is none."""
    found = [row.get("keypoints") for row in rows if isinstance(row, dict)]
    lengths = Counter(len(each) for each in found if isinstance(each, list) and each)
    whole = Counter({length: count for length, count in lengths.items() if length % 3 == 0})
    return whole.most_common(1)[0][0] if whole else 0


def _extent(values: Sequence[float]) -> list[float] | None:
    """The box around checked keypoints, as pycocotools makes it of keypoint results."""
    x, y = values[0::3], values[1::3]
    return [min(x), min(y), max(x) - min(x), max(y) - min(y)] if x else None


def _is_none(record: Mapping[str, Any], key: str) -> bool:
    """Whether nothing is said: null, or the empty list that some tools write."""
    return record.get(key) in (None, [])


def _geometry(
    record: Mapping[str, Any], source: str, size: Size, problems: Problems, row: int
) -> _Geometry | None:
    """A box, a list of polygons, or run lengths of the size of the image."""
    value = record[source]
    if source == "bbox":
        return box(value, problems, row, "bbox")
    if isinstance(value, dict):
        return run_lengths(value, size, problems, row, _SHAPE)
    if isinstance(value, list) and value:
        return _outline(value, problems, row)
    message = "expected a list of polygons, or an object with size and counts"
    message = f"{message}, found {describe(value)}"
    if _is_none(record, source):
        message = f"expected polygons or run lengths, found {describe(value)}, and no bbox"
    problems.add(row, _SHAPE, message)
    return None


def _outline(value: Sequence[Any], problems: Problems, row: int) -> _Outline | None:
    before = problems.total
    parts: list[Sequence[float]] = []
    for position, part in enumerate(value):
        key = f"{_SHAPE}[{position}]"
        if not isinstance(part, list):
            problems.add(row, key, f"expected a list of x and y in turn, found {describe(part)}")
            # A bare list of numbers is one mistake, not one a number.
            return None
        if len(part) < FEWEST or len(part) % 2:
            expected = f"an even number of numbers, {FEWEST} at least (x and y in turn)"
            problems.add(row, key, f"expected {expected}, found {len(part)}")
        else:
            parts.append(coordinates(part, problems, row, key) or [])
    return _Outline(parts) if problems.total == before else None


def _shapes(values: Sequence[_Geometry]) -> Shapes:
    """Checked geometry of many objects."""
    outlines = [value for value in values if isinstance(value, _Outline)]
    runs = [value for value in values if isinstance(value, Runs)]
    boxes = [value for value in values if not isinstance(value, _Outline | Runs)]
    kinds = {_Outline: POLYGON, Runs: MASK}
    polygon = polygon_columns([[[ring] for ring in outline.parts] for outline in outlines])
    sizes = np.array([each.size for each in runs], dtype=np.int64).reshape(-1, 2)
    return Shapes(
        np.array([kinds.get(type(value), BOX) for value in values], dtype=np.uint8),
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
        np.zeros((0, 5)),
        opened_rings(polygon),
        rle.from_counts([each.counts for each in runs], sizes)[0],
    )
