"""Read lists of COCO objects as columns.

Usual boxes and masks are read by the compiled kernel, and all others as columns of a tape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.json_records import parsed
from valor_cli.data.shapes.objects.names import spellings
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, text_column
from valor_cli.data.shapes.objects.parse import (
    FEWEST,
    box_sides,
    crowds,
    opened,
    outlines,
    run_lengths,
    whole_numbers,
)
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import Columns, Table
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
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Polygons, Shapes, joined
from valor_cli.kernels.threads import in_order, usable_threads
from valor_cli.results import InputFile

BOUNDARY: Final = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")
"""Separators of two objects of a list; strings may contain them, too."""
_TAIL: Final = 4096

CHUNKS: Final = {"box": 1 << 20, "shape": 1 << 18}
"""Bytes of a list that are read at once: enough to parse boxes in a thread while the next chunk is
read and hashed; masks so many that NumPy's calls are few, and all fits the cache."""

KEYPOINTS: Final = frozenset({"keypoints", "some_keypoints"})
"""Fields to read: keypoints that every detection needs where one has them, or that may be missing.
"""

_NO_SHAPE: Final = 255

_Detected: TypeAlias = DetectedBoxes | DetectedMasks


class UnusualError(Exception):
    """A file is unusual or wrong, so it needs the full checks."""


class Rows(NamedTuple):
    """Objects of one list of a file.

    Attributes:
        columns, shapes: Their values.
        kept: Their positions in the list; None for all of it.
        skipped: How many others the list has.
    """

    columns: Columns
    shapes: Shapes
    kept: Sequence[int] | None = None
    skipped: int = 0


def object_file(
    source: TextSource,
    rows: Rows,
    list_name: str = "",
    *,
    images: Columns | None = None,
    categories: Columns | None = None,
    metadata: Mapping[str, list[Any]] | None = None,
) -> ObjectFile:
    """Build the `ObjectFile` of a source that was read completely.

    Args:
        source: Where the objects are from.
        rows: The objects.
        list_name: Key of their list in the file; empty when the file is the list.
        images, categories: Their columns; None where the file does not list them.
        metadata: Of the images.
    """
    path, place = source.path, f"{list_name}[{{row}}]"
    kept = np.array(rows.kept, np.int64) if rows.skipped else None
    table = Table(path, rows.columns, place, kept, rows.skipped)
    return ObjectFile(
        path=path,
        objects=table,
        shapes=rows.shapes,
        images=None if images is None else Table(path, images, "images[{row}]"),
        categories=None if categories is None else Table(path, categories, "categories[{row}]"),
        metadata=metadata or {},
        files=[InputFile(path, source.sha256, len(table) + rows.skipped, rows.skipped)],
    )


def expect(*usual: bool | np.bool_) -> None:
    """Check that all is usual.

    Raises:
        UnusualError: It is not, and so for all functions here.
    """
    if not all(usual):
        raise UnusualError


def tape(text: bytes) -> Column:
    """The value of a JSON text."""
    if engine.compiled is None:
        try:
            return tape_of([parsed(text)])
        except (json.JSONDecodeError, RecursionError):
            raise UnusualError from None
    # One line. A carriage return, too, is white space between values and wrong in a text.
    lines = json_tape(text.replace(b"\n", b"\r"))
    expect(len(lines.values) == 1, not lines.left)
    return lines.values


def records_of(value: Column) -> Column:
    """The objects of a JSON list."""
    _, items = value.items()
    expect(value.is_of(LIST).all(), items.is_of(OBJECT).all())
    return items


def chunks_of(text: bytes, at: slice) -> Iterator[memoryview]:
    """A list without its "[", some bytes at a time."""
    size = CHUNKS["box"]
    view = memoryview(text)[at.start + 1 : at.stop]
    return (view[start : start + size] for start in range(0, len(view), size))


def detections_listed(texts: Iterable[bytes | memoryview], reading: Reading) -> Rows:
    """Detections of a JSON list without its "["."""
    # Only the whole list tells how many keypoints an object has.
    if reading.fields & KEYPOINTS:
        return _detections(b"".join([b"[", *texts]), reading)
    allocate = allocate_boxes if reading.wanted == "box" else allocate_masks
    pieces = ((text, allocate(text)) for text in _short_lists(texts))
    return _joined(in_order(partial(_detected, reading=reading), pieces, usable_threads()))


def annotations_listed(text: bytes, at: slice, reading: Reading) -> Rows:
    """Ground truth objects of a JSON list in a text."""
    whole, found = bool(reading.fields & KEYPOINTS), None
    if reading.wanted == "box" and not whole:
        found = annotated_boxes(memoryview(text)[at], LARGEST_COORDINATE)
    if found is not None:
        named = found._asdict().items()
        columns = {name: own for name, own in named if name != "bbox" and own is not None}
        return Rows(columns, Shapes.boxes(found.bbox))
    lists: Iterable[bytes] = [text[at]] if whole else _short_lists(chunks_of(text, at))
    return _joined(object_rows(records_of(tape(one)), "ground_truth", reading) for one in lists)


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


def _detected(piece: tuple[bytes, _Detected], reading: Reading) -> Rows | _Detected:
    """Detections of a JSON list and of the room for its boxes or masks."""
    text, room = piece
    found: _Detected | None
    if isinstance(room, DetectedBoxes):
        found = detected_boxes(text, room, LARGEST_COORDINATE)
    else:
        found = detected_masks(text, room, rle.LARGEST_SIDE)
    return _detections(text, reading) if found is None else found


def _detections(text: bytes, reading: Reading) -> Rows:
    return object_rows(records_of(tape(text)), "predictions", reading)


def _joined(pieces: Iterable[Rows | _Detected]) -> Rows:
    """All rows as one; masks are decoded together, which takes half the memory and time."""
    found = list(pieces)
    if not any(isinstance(piece, Rows) for piece in found):
        return _rows_of([piece for piece in found if not isinstance(piece, Rows)])
    rows = [piece if isinstance(piece, Rows) else _rows_of([piece]) for piece in found]
    # Ids may change their type, and some pieces have none.
    kinds = [{name: own.dtype for name, own in one.columns.items()} for one in rows]
    expect(all(one == kinds[0] for one in kinds))
    columns = {name: np.concatenate([one.columns[name] for one in rows]) for name in kinds[0]}
    return Rows(columns, joined([one.shapes for one in rows]))


def _rows_of(pieces: Sequence[_Detected]) -> Rows:
    """What the kernel read, all boxes or all masks."""
    found = type(pieces[0])._make(map(np.concatenate, zip(*pieces, strict=True)))
    columns = {name: getattr(found, name) for name in ("image_id", "category_id", "score")}
    if isinstance(found, DetectedBoxes):
        return Rows(columns, Shapes.boxes(found.bbox))
    masks, valid = rle.decoded_text(found.letters, found.length, found.size)
    expect(valid.all())
    return Rows(columns, Shapes.masks(masks))


def object_rows(items: Column, role: Role, reading: Reading) -> Rows:
    """Objects of any geometry."""
    predicted = role == "predictions"
    names = ["image_id", "category_id"]
    if not predicted and (items.field("id").node >= 0).any():
        names.insert(0, "id")
    columns = {name: id_values(items.field(name)) for name in names}
    points, there = np.zeros((len(items), 0, 3)), np.zeros(len(items), np.bool_)
    if reading.fields & KEYPOINTS:
        points = _keypoints(items)
    if predicted and points.size:
        there = _has_items(items.field("keypoints"))
        expect("keypoints" not in reading.fields or there.all())
    shapes = _shapes(items, reading, points, there)
    if predicted:
        columns["score"], read = items.field("score").numbers()
        expect(read.all())
    else:
        columns |= _area_and_crowd(items, shapes)
    return Rows(columns | ({"keypoints": points} if points.size else {}), shapes)


def _area_and_crowd(items: Column, shapes: Shapes) -> Columns:
    said, names = items.field("area"), spellings(items.tape.keys, "object")
    area, read = said.numbers()
    absent = said.node < 0
    own = np.full(len(items), np.nan)
    own[shapes.kind == BOX] = shapes.box[:, 2] * shapes.box[:, 3]
    bad = ~absent & ~(read & (area >= 0))
    crowd = crowds(items.field(*names["crowd"]), bad)
    expect(not bad.any())
    return {"area": np.where(absent, own, area), "crowd": crowd}


def id_values(column: Column) -> NDArray[Any]:
    """Ids as a column; they are of one kind, none missing, none large."""
    number, read = whole_numbers(column)
    if read.all():
        return number
    expect(column.is_of(TEXT).all())
    return text_column(column.texts())


def are_distinct_ids(ids: NDArray[Any]) -> bool:
    return are_distinct(ids) if ids.dtype.kind == "i" else len(set(ids.tolist())) == len(ids)


def opened_rings(polygons: Polygons) -> Polygons:
    """Rings less last points that repeat the first, as long as three points are left."""
    while (shorter := opened(polygons, FEWEST // 2)) is not polygons:
        polygons = shorter
    return polygons


def _has_items(column: Column) -> Bools:
    """(n,) which values are something: neither null nor the empty list that some tools write."""
    count, _ = column.items()
    return np.asarray(~(column.is_of(*NOTHING) | (column.is_of(LIST) & (count == 0))))


def _shapes(items: Column, reading: Reading, points: Floats, there: Bools) -> Shapes:
    """The geometry of objects.

    Args:
        items: The objects.
        reading: Whether the box or the segmentation is taken of those that have both.
        points: Their keypoints.
        there: (n,) which have keypoints, of which a box is made if they have neither.
    """
    box, segmentation = items.field("bbox"), items.field("segmentation")
    if reading.wanted == "shape":
        expect(not (items.field("polygon", "mask").node >= 0).any())
    from_shape = _has_items(segmentation)
    alone = ~from_shape & there & ~_has_items(box)
    if reading.wanted == "box":
        from_shape &= ~_has_items(box)
    kind = np.full(len(items), _NO_SHAPE, np.uint8)
    kind[~from_shape] = BOX
    kind[from_shape & segmentation.is_of(LIST)] = POLYGON
    kind[from_shape & segmentation.is_of(OBJECT)] = MASK
    expect(not (kind == _NO_SHAPE).any())
    sides, wrong_box = box_sides(box.take((kind == BOX) & ~alone))
    polygon, wrong_polygon = outlines(segmentation.take(kind == POLYGON))
    mask, wrong_mask = run_lengths(segmentation.take(kind == MASK))
    wrong = (wrong_box, wrong_polygon, wrong_mask, mask.size == 0)
    expect(*(not one.any() for one in wrong))
    if alone.any():
        every = np.zeros((len(items), 4))
        every[(kind == BOX) & ~alone] = sides
        # As pycocotools makes it of keypoint results.
        low, high = points[alone, :, :2].min(axis=1), points[alone, :, :2].max(axis=1)
        every[alone] = np.concatenate([low, high - low], axis=1)
        sides = every[kind == BOX]
    return Shapes(kind, sides, np.zeros((0, 5)), opened_rings(polygon), mask)


def _keypoints(items: Column) -> Floats:
    """Keypoints, (n, k, 3), k 0 if no object has any; zeros for objects without."""
    column = items.field("keypoints")
    count, numbers = column.items()
    there = _has_items(column)
    value, read = numbers.numbers()
    lengths = set(count[there].tolist()) or {0}
    length = lengths.pop()
    with np.errstate(invalid="ignore"):
        read = read & (np.abs(value) <= LARGEST_COORDINATE)
    expect(not lengths, length % 3 == 0, read.all(), column.is_of(LIST, *NOTHING).all())
    flat = np.zeros((len(items), length))
    flat[there] = value.reshape(-1, length) if length else 0.0
    return flat.reshape(len(items), length // 3, 3)
