"""Read COCO JSON: ground truth and detections."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.images import FREQUENCIES, LVIS_KEYS
from valor_cli.data.formats.coco.objects import (
    CHUNKS,
    Rows,
    UnusualError,
    annotations_listed,
    are_distinct_ids,
    chunks_of,
    detections_listed,
    expect,
    id_values,
    object_file,
    object_rows,
    records_of,
    tape,
)
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, text_column
from valor_cli.data.shapes.objects.parse import image_sides
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import Columns
from valor_cli.data.tape import LIST, NOTHING, OBJECT, SCALARS, TEXT, Column
from valor_cli.kernels import engine
from valor_cli.kernels.columns.coco_objects import member_of
from valor_cli.kernels.columns.grouping import positions_of
from valor_cli.kernels.geometry.shapes import MASK

_WHITE: Final = b" \t\n\r"


def read_objects(path: str, role: Role, reading: Reading) -> ObjectFile:
    """Read a COCO file.

    Ground truth is an object with images, annotations and categories. An annotation without
    `iscrowd` is no crowd; one without `area` has width * height if it is a box, else NaN. If no
    annotation has an `id`, ids count from 1 in file order. A segmentation is a list of polygons, or
    run lengths of the size of the image.

    Detections are a results list, or a COCO dictionary whose annotations have scores. An empty list
    is legal. Image ids, and category ids of a results list, may be any, and run lengths of any
    size: whether they fit is for the ground truth to say.

    Other keys are not looked at.

    Args:
        path: The file, plain, gzip or zstd, or "-" for standard input.
        role: Which side it is.
        reading: How to read it. For `wanted`, "box" takes bbox, and the segmentation of objects
            without; "shape" the other way about. What is not taken is not looked at. Of `fields`,
            "keypoints" adds that column, which every detection needs where one has them, and of
            which annotations without have zeros; "some_keypoints" has zeros for all without. The
            box of a detection that has nothing else is then the extent of its keypoints, as in
            pycocotools. "federated" adds LVIS's `negative` and `not_exhaustive` of images and
            `frequency` of categories. What the file does not have becomes no column. Metadata is
            that of an image's "metadata" object, or else of itself. Faults of images and categories
            are errors always.

    Raises:
        DataError: The file cannot be read or is not such JSON; a value is wrong; an id is duplicate
            or unknown; no image has metadata of a name.
    """
    source = TextSource(path)
    with collector_paused():
        found = decode_objects(source, role, reading)
        if found is None:
            from valor_cli.data.formats.coco.diagnosis import diagnose_objects
            from valor_cli.data.formats.json.document import parse_json

            found = diagnose_objects(parse_json(source.whole(), path), source, role, reading)
    return found


_paused: list[bool] = []
"""Of each thread that paused the garbage collector, whether it was on before."""
_pausing: Final = Lock()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector, which would scan millions of live JSON values repeatedly.

    It goes on when the last of the threads that paused it is done.
    """
    with _pausing:
        _paused.append(gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _pausing:
            before = _paused.pop()
            if before and not _paused:
                gc.enable()


def decode_objects(source: TextSource, role: Role, reading: Reading) -> ObjectFile | None:
    """The objects of a file as columns; None if the full checks are needed.

    Errors are not explained here: `diagnosis` reads the file again for that, and is faster where no
    kernel is compiled.

    Raises:
        DataError: The file cannot be read as text.
    """
    if engine.compiled is None:
        return None
    try:
        if role == "predictions":
            return _detections(source, reading)
        return _ground_truth(source, reading)
    except UnusualError:
        return None


def _detections(source: TextSource, reading: Reading) -> ObjectFile:
    chunks = source.chunks(CHUNKS[reading.wanted])
    head = next(chunks).lstrip(_WHITE)
    if head.startswith(b"["):
        return object_file(source, detections_listed(chain([head[1:]], chunks), reading))
    text = b"".join([head, *chunks])
    document, rows = _document(text, "predictions", reading)
    categories = None
    if document.field("categories").node[0] >= 0:
        categories = _categories(document)
        _expect_known(rows.columns["category_id"], categories["id"])
    return object_file(source, rows, "annotations", categories=categories)


def _ground_truth(source: TextSource, reading: Reading) -> ObjectFile:
    document, rows = _document(source.whole(), "ground_truth", reading)
    images, categories = _images(document), _categories(document)
    metadata = _metadata(document, reading.metadata)
    if "federated" in reading.fields:
        images |= _category_lists(document, categories["id"])
        categories |= _frequencies(document)
    ids = rows.columns.get("id", np.arange(1, len(rows.shapes) + 1))
    expect(are_distinct_ids(ids))
    rows = rows._replace(columns={"id": ids, **rows.columns})
    _expect_known(rows.columns["image_id"], images["id"])
    _expect_known(rows.columns["category_id"], categories["id"])
    _expect_sizes(rows, images)
    return object_file(
        source, rows, "annotations", images=images, categories=categories, metadata=metadata
    )


def _document(text: bytes, role: Role, reading: Reading) -> tuple[Column, Rows]:
    """A document as a column of one value, and its objects."""
    at = member_of(text, "annotations")
    if at is None:
        document = tape(text)
        rows = object_rows(records_of(document.field("annotations")), role, reading)
    else:
        expect(text[at.start : at.start + 1] == b"[")
        document = tape(b"".join([text[: at.start], b"[]", text[at.stop :]]))
        if role == "predictions":
            rows = detections_listed(chunks_of(text, at), reading)
        else:
            rows = annotations_listed(text, at, reading)
    expect(document.is_of(OBJECT).all())
    return document, rows


def _images(document: Column) -> Columns:
    """Images with their known size and file; at least one is required."""
    images = records_of(document.field("images"))
    columns: Columns = {"id": id_values(images.field("id"))}
    expect(len(images) > 0, are_distinct_ids(columns["id"]))
    for name in ("width", "height"):
        said = images.field(name)
        side, read = image_sides(said)
        expect(read.all())
        if not said.is_of(*NOTHING).all():
            columns[name] = side
    names = images.field("file_name")
    expect(names.is_of(TEXT, *NOTHING).all())
    if names.is_of(TEXT).any():
        columns["file_name"] = names.scalars()
    return columns


def _categories(document: Column) -> Columns:
    categories = records_of(document.field("categories"))
    ids, names = id_values(categories.field("id")), categories.field("name")
    expect(are_distinct_ids(ids), names.is_of(TEXT).all())
    return {"id": ids, "name": text_column(names.texts())}


def _metadata(document: Column, names: Sequence[str]) -> dict[str, list[Any]]:
    """Metadata of images by name: single values, and each name is one of some image."""
    images = document.field("images").items()[1]
    inner, found = images.field("metadata"), {}
    for name in names:
        column = inner.field(name).or_else(images.field(name))
        expect((column.node >= 0).any(), column.is_of(*NOTHING, *SCALARS).all())
        found[name] = column.scalars().tolist()
    return found


def _category_lists(document: Column, known: NDArray[Any]) -> Columns:
    """The lists of categories that LVIS adds to images."""
    images, lists = document.field("images").items()[1], Columns()
    for name, key in LVIS_KEYS.items():
        column = images.field(key)
        count, items = column.items()
        ids = id_values(items)
        expect(column.is_of(LIST, *NOTHING).all())
        _expect_known(ids, known)
        if not column.is_of(*NOTHING).all():
            each = np.split(ids, np.cumsum(count)[:-1])
            lists[name] = text_column([one.tolist() for one in each])
    return lists


def _frequencies(document: Column) -> Columns:
    """The frequency that LVIS adds to categories."""
    said = document.field("categories").items()[1].field("frequency")
    if said.is_of(*NOTHING).all():
        return {}
    frequency = text_column(said.texts())
    expect(set(frequency.tolist()) <= set(FREQUENCIES))
    return {"frequency": frequency}


def _expect_known(ids: NDArray[Any], keys: NDArray[Any]) -> None:
    if ids.dtype.kind == keys.dtype.kind == "i":
        expect((positions_of(ids, np.sort(keys)) >= 0).all())
    else:
        expect(set(ids.tolist()) <= set(keys.tolist()))


def _expect_sizes(annotations: Rows, images: Columns) -> None:
    """Masks have the size of their image, where that is known."""
    masks = annotations.shapes.rows_of(MASK)
    row_of = {key: row for row, key in enumerate(images["id"].tolist() if len(masks) else [])}
    ids = annotations.columns["image_id"][masks].tolist()
    rows = np.fromiter(map(row_of.__getitem__, ids), np.int64, len(ids))
    size = annotations.shapes.mask.size
    for axis, name in enumerate(("height", "width")):
        if name in images:
            known = images[name][rows]
            expect(((known == size[:, axis]) | (known == 0)).all())
