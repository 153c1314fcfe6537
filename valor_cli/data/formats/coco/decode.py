"""Decode COCO files as columns; None where the full checks are needed.

Errors are not explained here: `diagnosis` reads the file again for that, and is faster where no
kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.objects import (
    annotation_rows,
    annotations_listed,
    are_distinct_ids,
    chunk_size,
    chunks_of,
    detection_rows,
    id_values,
    numbered,
    objects_listed,
    tape,
)
from valor_cli.data.formats.coco.tables import LVIS_KEYS, Request, Rows, ground_truth, results
from valor_cli.data.shapes.objects.object_file import ObjectFile, text_column
from valor_cli.data.shapes.objects.parse import image_sides
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import Columns
from valor_cli.data.tape import LIST, NOTHING, OBJECT, SCALARS, TEXT, Column
from valor_cli.kernels import engine
from valor_cli.kernels.columns.coco_objects import member_of
from valor_cli.kernels.columns.grouping import positions_of
from valor_cli.kernels.geometry.shapes import MASK

WHITE: Final = b" \t\n\r"


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
        rows = detection_rows(_listed(parts.document, "annotations"), request)
    else:
        rows = objects_listed(chunks_of(text, parts.annotations), request)
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
        rows = numbered(annotation_rows(_listed(parts.document, "annotations"), request))
    else:
        rows = annotations_listed(text, parts.annotations, request)
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
    document = tape(rest)
    return None if document is None or not document.is_of(OBJECT).all() else _Parts(at, document)


def _listed(document: Column, key: str) -> Column | None:
    """The objects of a list; None if it is no such list."""
    found = document.field(key)
    _, items = found.items()
    return items if found.is_of(LIST).all() and items.is_of(OBJECT).all() else None


def _images(document: Column) -> Columns | None:
    """Images with their known size and file; at least one is required."""
    images = _listed(document, "images")
    ids = None if images is None else id_values(images.field("id"))
    if images is None or ids is None or not len(ids) or not are_distinct_ids(ids):
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
    ids, names = id_values(categories.field("id")), categories.field("name")
    if ids is None or not are_distinct_ids(ids) or not names.is_of(TEXT).all():
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
        ids = id_values(items)
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
