"""Decode COCO files as columns; None where the full checks are needed.

Usual boxes and masks are read by the compiled kernel, and all others as columns of a tape. Errors
are not explained here: `diagnosis` reads the file again for that, and is faster where no kernel is
compiled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.tables import (
    LVIS_KEYS,
    Request,
    Rows,
    ground_truth,
    opened_rings,
    results,
)
from valor_cli.data.json_records import parsed
from valor_cli.data.shapes.objects.names import spellings
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.parse import (
    box_sides,
    crowds,
    image_sides,
    outlines,
    run_lengths,
    whole_numbers,
)
from valor_cli.data.shapes.objects.rows import text_column
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import Columns
from valor_cli.data.tape import (
    LIST,
    NOTHING,
    OBJECT,
    SCALARS,
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
    member_of,
)
from valor_cli.kernels.columns.grouping import are_distinct, positions_of
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Shapes, joined
from valor_cli.kernels.threads import in_order, usable_threads

WHITE: Final = b" \t\n\r"
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


def decode_results(source: TextSource, request: Request) -> ObjectFile | None:
    """Detections of a file; None if the full checks are needed.

    Raises:
        DataError: The file cannot be read as text.
    """
    if engine.compiled is None:
        return None
    chunks = source.chunks(chunk_size(request))
    head = next(chunks).lstrip(WHITE)
    if head.startswith(b"["):
        rows = objects_listed(chain([head[1:]], chunks), request)
        return None if rows is None else results(source, rows)
    text = b"".join([head, *chunks])
    parts = _parts(text)
    if parts is None:
        return None
    if parts.annotations is None:
        rows = _detections(_listed(parts.document, "annotations"), request)
    else:
        rows = objects_listed(_chunks(text, parts.annotations), request)
    if rows is None:
        return None
    if parts.document.field("categories").node[0] < 0:
        return results(source, rows, list_name="annotations")
    categories = _categories(parts.document)
    if categories is None or not _all_known(rows.columns["category_id"], categories["id"]):
        return None
    return results(source, rows, list_name="annotations", categories=categories)


def decode_ground_truth(
    source: TextSource, metadata: Sequence[str], request: Request
) -> ObjectFile | None:
    """Ground truth of a file; None if the full checks are needed.

    Raises:
        DataError: The file cannot be read as text.
    """
    if engine.compiled is None:
        return None
    text = source.whole()
    parts = _parts(text)
    if parts is None:
        return None
    images, categories = _images(parts.document), _categories(parts.document)
    described = _metadata(parts.document, metadata)
    if images is None or categories is None or described is None:
        return None
    if request.federated:
        more = _federated(parts.document, categories["id"])
        if more is None:
            return None
        images, categories = images | more[0], categories | more[1]
    if parts.annotations is None:
        rows = _numbered(_any_annotations(_listed(parts.document, "annotations"), request))
    else:
        rows = _annotations(text, parts.annotations, request)
    if (
        rows is None
        or not _all_known(rows.columns["image_id"], images["id"])
        or not _all_known(rows.columns["category_id"], categories["id"])
        or not _fits(rows, images)
    ):
        return None
    return ground_truth(
        source, images=images, categories=categories, annotations=rows, metadata=described
    )


class _Parts(NamedTuple):
    """A document as a column of one value, and where its annotations are if they are not in it."""

    annotations: slice | None
    document: Column


def _parts(text: bytes) -> _Parts | None:
    at = member_of(text, "annotations")
    if at is not None and text[at.start : at.start + 1] != b"[":
        return None
    rest = text if at is None else b"".join([text[: at.start], b"[]", text[at.stop :]])
    document = _tape(rest)
    return None if document is None or not document.is_of(OBJECT).all() else _Parts(at, document)


def _tape(text: bytes) -> Column | None:
    """The value of a JSON text; None if it is unusual."""
    if engine.compiled is None:
        try:
            return tape_of([parsed(text)])
        except (json.JSONDecodeError, RecursionError):
            return None
    # One line. A carriage return, too, is white space between values and wrong in a text.
    lines = json_tape(text.replace(b"\n", b"\r"))
    return lines.values if len(lines.values) == 1 and not lines.left else None


def _listed(document: Column, key: str) -> Column | None:
    """The objects of a list; None if it is no such list."""
    found = document.field(key)
    _, items = found.items()
    return items if found.is_of(LIST).all() and items.is_of(OBJECT).all() else None


def _chunks(text: bytes, at: slice) -> Iterator[memoryview]:
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
        return _detections(_objects(b"".join([b"[", *texts])), request)
    lists = _short_lists(texts)
    if engine.compiled is None:
        return _joined(_detections(_objects(text), request) for text in lists)
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
        return _detections(_objects(text), request)
    return Rows(_columns_of(found), Shapes.boxes(found.bbox))


def _masks_or_any(piece: tuple[bytes, DetectedMasks], request: Request) -> Rows | _Letters | None:
    """Detections of a JSON list and of the room for its masks."""
    text, room = piece
    found = detected_masks(text, room, rle.LARGEST_SIDE)
    if found is None or not len(found.score):
        return _detections(_objects(text), request)
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


def _detections(items: Column | None, request: Request) -> Rows | None:
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


def _annotations(text: bytes, at: slice, request: Request) -> Rows | None:
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
            return _numbered(Rows(columns, Shapes.boxes(found.bbox)))
    lists: Iterable[bytes] = [text[at]] if request.keypoints else _short_lists(_chunks(text, at))
    return _numbered(_joined(_any_annotations(_objects(one), request) for one in lists))


def _numbered(rows: Rows | None) -> Rows | None:
    """Rows with distinct ids, which count from 1 where there are none."""
    if rows is None:
        return None
    ids = rows.columns.get("id", np.arange(1, len(rows.shapes) + 1))
    return Rows({"id": ids, **rows.columns}, rows.shapes) if _distinct(ids) else None


def _any_annotations(items: Column | None, request: Request) -> Rows | None:
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
    value = _tape(text)
    if value is None or not value.is_of(LIST).all():
        return None
    _, items = value.items()
    return items if items.is_of(OBJECT).all() else None


def _references(items: Column, names: Sequence[str]) -> Columns | None:
    """The ids under some keys."""
    columns: Columns = {}
    for name in names:
        ids = _ids(items.field(name))
        if ids is None:
            return None
        columns[name] = ids
    return columns


def _ids(column: Column) -> NDArray[Any] | None:
    """Ids as a column; None if they are of two kinds, missing, or large."""
    number, read = whole_numbers(column)
    if read.all():
        return number
    return text_column(column.texts()) if column.is_of(TEXT).all() else None


def _distinct(ids: NDArray[Any]) -> bool:
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


def _images(document: Column) -> Columns | None:
    """Images with their known size and file; at least one is required."""
    images = _listed(document, "images")
    ids = None if images is None else _ids(images.field("id"))
    if images is None or ids is None or not len(ids) or not _distinct(ids):
        return None
    columns: Columns = {"id": ids}
    for name in ("width", "height"):
        said = images.field(name)
        side, read = image_sides(said)
        if not read.all():
            return None
        if not said.is_of(*NOTHING).all():
            columns[name] = side
    names = images.field("file_name")
    if not names.is_of(TEXT, *NOTHING).all():
        return None
    if names.is_of(TEXT).any():
        columns["file_name"] = names.scalars()
    return columns


def _categories(document: Column) -> Columns | None:
    categories = _listed(document, "categories")
    if categories is None:
        return None
    ids, names = _ids(categories.field("id")), categories.field("name")
    if ids is None or not _distinct(ids) or not names.is_of(TEXT).all():
        return None
    return {"id": ids, "name": text_column(names.texts())}


def _metadata(document: Column, names: Sequence[str]) -> dict[str, list[Any]] | None:
    """Metadata of images by name; None where no image has a name, or one says more than a value."""
    images = _listed(document, "images") if names else None
    if images is None:
        return {}
    inner, found = images.field("metadata"), {}
    for name in names:
        column = inner.field(name).or_else(images.field(name))
        if (column.node < 0).all() or not column.is_of(*NOTHING, *SCALARS).all():
            return None
        found[name] = column.scalars().tolist()
    return found


def _federated(document: Column, known: NDArray[Any]) -> tuple[Columns, Columns] | None:
    """The columns that LVIS adds to images and categories."""
    images, categories = _listed(document, "images"), _listed(document, "categories")
    if images is None or categories is None:
        return None
    lists: Columns = {}
    for name, key in LVIS_KEYS.items():
        column = images.field(key)
        count, items = column.items()
        ids = _ids(items)
        if ids is None or not column.is_of(LIST, *NOTHING).all() or not _all_known(ids, known):
            return None
        if not column.is_of(*NOTHING).all():
            each = np.split(ids, np.cumsum(count)[:-1])
            lists[name] = text_column([one.tolist() for one in each])
    frequency = categories.field("frequency")
    if frequency.is_of(*NOTHING).all():
        return lists, {}
    said = text_column(frequency.texts())
    return (lists, {"frequency": said}) if set(said.tolist()) <= {"r", "c", "f"} else None


def _all_known(ids: NDArray[Any], keys: NDArray[Any]) -> bool:
    if ids.dtype.kind == keys.dtype.kind == "i":
        return bool((positions_of(ids, np.sort(keys)) >= 0).all())
    return set(ids.tolist()) <= set(keys.tolist())


def _fits(annotations: Rows, images: Columns) -> bool:
    """Whether masks have the size of their image, where that is known."""
    masks = annotations.shapes.rows_of(MASK)
    if not len(masks):
        return True
    row_of = {key: row for row, key in enumerate(images["id"].tolist())}
    ids = annotations.columns["image_id"][masks].tolist()
    rows = np.fromiter(map(row_of.__getitem__, ids), np.int64, len(ids))
    size = annotations.shapes.mask.size
    for axis, name in enumerate(("height", "width")):
        if name in images:
            known = images[name][rows]
            if ((known != size[:, axis]) & (known != 0)).any():
                return False
    return True
