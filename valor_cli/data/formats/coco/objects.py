"""Read lists of COCO objects as columns; None where the full checks are needed.

Usual boxes and masks are read by the compiled kernel, and all others as columns of a tape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.tables import Request, Rows, opened_rings
from valor_cli.data.json_records import parsed
from valor_cli.data.shapes.objects.names import spellings
from valor_cli.data.shapes.objects.object_file import text_column
from valor_cli.data.shapes.objects.parse import (
    box_sides,
    crowds,
    outlines,
    run_lengths,
    whole_numbers,
)
from valor_cli.data.table import Columns
from valor_cli.data.tape import (
    LIST,
    NOTHING,
    OBJECT,
    TEXT,
    Bools,
    Column,
    Floats,
    json_tape,
    tape_of,
)
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.kernels import engine
from valor_cli.kernels.columns.coco_objects import (
    DetectedBoxes,
    DetectedMasks,
    allocate_boxes,
    allocate_masks,
    annotated_boxes,
    detected_boxes,
    detected_masks,
)
from valor_cli.kernels.columns.grouping import are_distinct
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Shapes, joined
from valor_cli.kernels.threads import in_order, usable_threads

BOUNDARY: Final = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")
"""Separators of two objects of a list; strings may contain them, too."""
_TAIL: Final = 4096

CHUNKS: Final = {"box": 1 << 20, "shape": 1 << 18}
"""Bytes of a list that are read at once: enough to parse boxes in a thread while the next chunk is
read and hashed; masks so many that NumPy's calls are few, and all fits the cache."""

_NO_SHAPE: Final = 255


class _Letters(NamedTuple):
    """Detections of one list that are all masks: their columns, and the letters of all counts."""

    columns: Columns
    masks: DetectedMasks


def tape(text: bytes) -> Column | None:
    """The value of a JSON text; None if it is unusual."""
    if engine.compiled is None:
        try:
            return tape_of([parsed(text)])
        except (json.JSONDecodeError, RecursionError):
            return None
    # One line. A carriage return, too, is white space between values and wrong in a text.
    lines = json_tape(text.replace(b"\n", b"\r"))
    return lines.values if len(lines.values) == 1 and not lines.left else None


def chunks_of(text: bytes, at: slice) -> Iterator[memoryview]:
    """A list without its "[", some bytes at a time."""
    size = CHUNKS["box"]
    view = memoryview(text)[at.start + 1 : at.stop]
    return (view[start : start + size] for start in range(0, len(view), size))


def chunk_size(request: Request) -> int:
    """Number of bytes of a list that are read at once."""
    return CHUNKS[request.wanted]


def objects_listed(texts: Iterable[bytes | memoryview], request: Request) -> Rows | None:
    """Detections of a JSON list without its "["; None if the full checks are needed."""
    # Only the whole list tells how many keypoints an object has.
    if request.keypoints:
        return detection_rows(_objects(b"".join([b"[", *texts])), request)
    lists = _short_lists(texts)
    if engine.compiled is None:
        return _joined(detection_rows(_objects(text), request) for text in lists)
    threads = usable_threads()
    if request.wanted == "box":
        boxes = ((text, allocate_boxes(text)) for text in lists)
        return _joined(in_order(partial(_boxes_or_any, request=request), boxes, threads))
    masks = ((text, allocate_masks(text)) for text in lists)
    return _joined_masks(in_order(partial(_masks_or_any, request=request), masks, threads))


def _short_lists(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Cut a JSON list of objects, given without its "[", into lists of some objects each.

    A cut is made where text reads like the end of one object and the start of the next. If that
    was inside a string or a nested object, the list before the cut is not closed properly, so it
    cannot be valid JSON: a wrong cut can be noticed, never change what is read.
    """
    open_list: list[bytes | memoryview] = [b"["]
    for chunk in chunks:
        cut = _last_boundary(chunk)
        if cut is None:
            open_list.append(chunk)
            continue
        end, start = cut
        view = memoryview(chunk)
        yield b"".join([*open_list, view[:end], b"]"])
        open_list = [b"[", view[start:]]
    yield b"".join(open_list)


def _last_boundary(text: bytes | memoryview) -> tuple[int, int] | None:
    """Where the last object that is followed by another ends, and where that other starts."""
    for begin in (max(len(text) - _TAIL, 0), 0):
        found = list(BOUNDARY.finditer(text, begin))
        if found:
            return found[-1].start() + 1, found[-1].end() - 1
    return None


def _boxes_or_any(piece: tuple[bytes, DetectedBoxes], request: Request) -> Rows | None:
    """Rows of a JSON list of detections and of the room for its boxes."""
    text, room = piece
    found = detected_boxes(text, room, LARGEST_COORDINATE)
    if found is None:
        return detection_rows(_objects(text), request)
    return Rows(_columns_of(found), Shapes.boxes(found.bbox))


def _masks_or_any(piece: tuple[bytes, DetectedMasks], request: Request) -> Rows | _Letters | None:
    """Detections of a JSON list and of the room for its masks."""
    text, room = piece
    found = detected_masks(text, room, rle.LARGEST_SIDE)
    if found is None or not len(found.score):
        return detection_rows(_objects(text), request)
    return _Letters(_columns_of(found), found)


def _columns_of(found: DetectedBoxes | DetectedMasks) -> Columns:
    return {
        "image_id": found.image_id,
        "category_id": found.category_id,
        "score": found.score,
    }


def _joined_masks(pieces: Iterable[Rows | _Letters | None]) -> Rows | None:
    """All rows as one; masks are decoded together, which takes half the memory and time."""
    found: list[Rows | _Letters] = []
    for piece in pieces:
        if piece is None:
            return None
        found.append(piece)
    alike = [piece for piece in found if isinstance(piece, _Letters)]
    if len(alike) < len(found):
        return _joined(_decoded([one]) if isinstance(one, _Letters) else one for one in found)
    return _decoded(alike)


def _decoded(pieces: Sequence[_Letters]) -> Rows | None:
    columns = _joined_columns([piece.columns for piece in pieces])
    if columns is None:
        return None
    masks, valid = rle.decoded_text(
        np.concatenate([piece.masks.letters for piece in pieces]),
        np.concatenate([piece.masks.length for piece in pieces]),
        np.concatenate([piece.masks.size for piece in pieces]),
    )
    return Rows(columns, Shapes.masks(masks)) if valid.all() else None


def _joined(pieces: Iterable[Rows | None]) -> Rows | None:
    """All rows as one; None if a piece is None or the type of ids changes."""
    parts: list[Columns] = []
    shapes: list[Shapes] = []
    for piece in pieces:
        if piece is None:
            return None
        shapes.append(piece.shapes)
        parts.append(piece.columns)
    columns = _joined_columns(parts)
    if columns is None:
        return None
    if all(len(each.box) == len(each) for each in shapes):
        return Rows(columns, Shapes.boxes(np.concatenate([each.box for each in shapes])))
    return Rows(columns, joined(shapes))


def _joined_columns(pieces: Sequence[Columns]) -> Columns | None:
    """Concatenate pieces; None if ids change their type, or some pieces have none."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for piece in pieces:
        for name, column in piece.items():
            parts.setdefault(name, []).append(column)
    for columns in parts.values():
        if len(columns) < len(pieces) or len({column.dtype for column in columns}) > 1:
            return None
    # A column's parts go as soon as it is whole, so not all is in memory twice.
    return {name: np.concatenate(parts.pop(name)) for name in list(parts)}


def detection_rows(items: Column | None, request: Request) -> Rows | None:
    """Detections of any geometry."""
    if items is None:
        return None
    columns = _references(items, ("image_id", "category_id"))
    score, read = items.field("score").numbers()
    points = _keypoints(items) if request.keypoints else np.zeros((len(items), 0, 3))
    if columns is None or points is None or not read.all():
        return None
    there = _has_items(items.field("keypoints"))
    if points.size and request.every_keypoints and not there.all():
        return None
    shapes = _shapes(items, request, points, there)
    if shapes is None:
        return None
    found = columns | {"score": score} | ({"keypoints": points} if points.size else {})
    return Rows(found, shapes)


def annotations_listed(text: bytes, at: slice, request: Request) -> Rows | None:
    """Ground truth objects of any geometry."""
    if request.wanted == "box" and not request.keypoints:
        found = annotated_boxes(memoryview(text)[at], LARGEST_COORDINATE)
        if found is not None:
            columns: Columns = {} if found.id is None else {"id": found.id}
            columns |= {
                "image_id": found.image_id,
                "category_id": found.category_id,
                "area": found.area,
                "crowd": found.crowd,
            }
            return numbered(Rows(columns, Shapes.boxes(found.bbox)))
    lists: Iterable[bytes] = [text[at]] if request.keypoints else _short_lists(chunks_of(text, at))
    return numbered(_joined(annotation_rows(_objects(one), request) for one in lists))


def numbered(rows: Rows | None) -> Rows | None:
    """Rows with distinct ids, which count from 1 where there are none."""
    if rows is None:
        return None
    ids = rows.columns.get("id", np.arange(1, len(rows.shapes) + 1))
    return Rows({"id": ids, **rows.columns}, rows.shapes) if are_distinct_ids(ids) else None


def annotation_rows(items: Column | None, request: Request) -> Rows | None:
    if items is None:
        return None
    with_id = items.field("id").node >= 0
    columns = _references(items, ("id",) * bool(with_id.any()) + ("image_id", "category_id"))
    points = _keypoints(items) if request.keypoints else np.zeros((len(items), 0, 3))
    names = spellings(items.tape.keys, "object")
    if columns is None or points is None or names is None:
        return None
    shapes = _shapes(items, request, points, np.zeros(len(items), np.bool_))
    if shapes is None:
        return None
    bad = np.zeros(len(items), np.bool_)
    said = items.field("area")
    area, read = said.numbers()
    absent = said.node < 0
    own = np.full(len(items), np.nan)
    own[shapes.kind == BOX] = shapes.box[:, 2] * shapes.box[:, 3]
    bad |= ~absent & ~(read & (area >= 0))
    columns["area"] = np.where(absent, own, area)
    columns["crowd"] = crowds(items.field(*names["crowd"]), bad, cells=False)
    if bad.any():
        return None
    return Rows(columns | ({"keypoints": points} if points.size else {}), shapes)


def _objects(text: bytes) -> Column | None:
    """The objects of a JSON list."""
    value = tape(text)
    if value is None or not value.is_of(LIST).all():
        return None
    _, items = value.items()
    return items if items.is_of(OBJECT).all() else None


def _references(items: Column, names: Sequence[str]) -> Columns | None:
    """The ids under some keys."""
    columns: Columns = {}
    for name in names:
        ids = id_values(items.field(name))
        if ids is None:
            return None
        columns[name] = ids
    return columns


def id_values(column: Column) -> NDArray[Any] | None:
    """Ids as a column; None if they are of two kinds, missing, or large."""
    number, read = whole_numbers(column)
    if read.all():
        return number
    return text_column(column.texts()) if column.is_of(TEXT).all() else None


def are_distinct_ids(ids: NDArray[Any]) -> bool:
    return are_distinct(ids) if ids.dtype.kind == "i" else len(set(ids.tolist())) == len(ids)


def _has_items(column: Column) -> Bools:
    """(n,) which values are something: neither null nor the empty list that some tools write."""
    count, _ = column.items()
    return np.asarray(~(column.is_of(*NOTHING) | (column.is_of(LIST) & (count == 0))))


def _shapes(items: Column, request: Request, points: Floats, there: Bools) -> Shapes | None:
    """The geometry of objects.

    Args:
        items: The objects.
        request: Whether the box or the segmentation is taken of those that have both.
        points: Their keypoints.
        there: (n,) which have keypoints, of which a box is made if they have neither.
    """
    box, segmentation = items.field("bbox"), items.field("segmentation")
    if request.wanted == "shape" and (items.field("polygon", "mask").node >= 0).any():
        return None
    from_shape = _has_items(segmentation)
    alone = ~from_shape & there & bool(points.size) & ~_has_items(box)
    if request.wanted == "box":
        from_shape &= ~_has_items(box)
    kind = np.full(len(items), _NO_SHAPE, np.uint8)
    kind[~from_shape] = BOX
    kind[from_shape & segmentation.is_of(LIST)] = POLYGON
    kind[from_shape & segmentation.is_of(OBJECT)] = MASK
    if (kind == _NO_SHAPE).any():
        return None
    sides, wrong_box = box_sides(box.take((kind == BOX) & ~alone))
    polygon, wrong_polygon = outlines(segmentation.take(kind == POLYGON))
    mask, wrong_mask = run_lengths(segmentation.take(kind == MASK))
    if wrong_box.any() or wrong_polygon.any() or wrong_mask.any() or (mask.size == 0).any():
        return None
    if alone.any():
        every = np.zeros((len(items), 4))
        every[(kind == BOX) & ~alone] = sides
        every[alone] = _extents(points[alone])
        sides = every[kind == BOX]
    return Shapes(kind, sides, np.zeros((0, 5)), opened_rings(polygon), mask)


def _keypoints(items: Column) -> Floats | None:
    """Keypoints, (n, k, 3), k 0 if no object has any; zeros for objects without."""
    column = items.field("keypoints")
    count, numbers = column.items()
    there = _has_items(column)
    value, read = numbers.numbers()
    lengths = set(count[there].tolist()) or {0}
    length = lengths.pop()
    with np.errstate(invalid="ignore"):
        read = read & (np.abs(value) <= LARGEST_COORDINATE)
    if lengths or length % 3 or not read.all() or not column.is_of(LIST, *NOTHING).all():
        return None
    flat = np.zeros((len(items), length))
    flat[there] = value.reshape(-1, length) if length else 0.0
    return flat.reshape(len(items), length // 3, 3)


def _extents(keypoints: Floats) -> Floats:
    """Bounding box of each object's keypoints, (n, 4), as in pycocotools' keypoint results."""
    low, high = keypoints[:, :, :2].min(axis=1), keypoints[:, :, :2].max(axis=1)
    return np.concatenate([low, high - low], axis=1)
