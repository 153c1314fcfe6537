"""COCO files without fault come in; tables go out fast. Any doubt gives None.

Nothing here explains what is wrong with a file: `coco_diagnosis` reads it again for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from valor_cli.readers.coco_columns import (
    Dataset,
    Detection,
    FlatDetection,
    GroundTruth,
    ImageObjects,
    annotation_columns,
    category_columns,
    detection_columns,
    flat_columns,
    key_column,
)
from valor_cli.readers.coco_metadata import metadata_of
from valor_cli.readers.coco_tables import CocoGroundTruth, CocoResults, ground_truth, results
from valor_cli.readers.files import TextSource
from valor_cli.readers.table import Columns

_T = TypeVar("_T")

_WHITE: Final = b" \t\n\r"
_BOUNDARY: Final = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")
_TAIL: Final = 4096

_FLAT_DECODER: Final = msgspec.json.Decoder(list[FlatDetection])
_LIST_DECODER: Final = msgspec.json.Decoder(list[Detection])
_DATASET_DECODER: Final = msgspec.json.Decoder(Dataset)
_GROUND_TRUTH_DECODER: Final = msgspec.json.Decoder(GroundTruth)
_IMAGES_DECODER: Final = msgspec.json.Decoder(ImageObjects)


def decode_results(source: TextSource) -> CocoResults | None:
    """Detections of a file, or None if anything about it is unusual.

    Raises:
        DataError: The file cannot be read as text.
    """
    chunks = source.chunks()
    head = next(chunks).lstrip(_WHITE)
    if head.startswith(b"["):
        columns = _joined(map(_detections, _short_lists(chain([head[1:]], chunks))))
        return None if columns is None else results(source, columns)
    dataset = _decoded(_DATASET_DECODER, b"".join([head, *chunks]))
    columns = None if dataset is None else detection_columns(dataset.annotations)
    if dataset is None or columns is None:
        return None
    if dataset.categories is UNSET:
        return results(source, columns, list_name="annotations")
    categories = category_columns(dataset.categories)
    if categories is None or not _all_known(columns["category_id"], categories["id"]):
        return None
    names = {category.id: category.name for category in dataset.categories}
    return results(source, columns, list_name="annotations", categories=names)


def decode_ground_truth(source: TextSource, metadata: Sequence[str]) -> CocoGroundTruth | None:
    """Ground truth of a file, or None if anything about it is unusual.

    Raises:
        DataError: The file cannot be read as text, or no image has metadata of such a name.
    """
    text = source.whole()
    decoded = _decoded(_GROUND_TRUTH_DECODER, text)
    if decoded is None or not decoded.images:
        return None
    image_ids = key_column([image.id for image in decoded.images])
    categories = category_columns(decoded.categories)
    annotations = annotation_columns(decoded.annotations)
    if image_ids is None or categories is None or annotations is None:
        return None
    if not _all_known(annotations["image_id"], image_ids):
        return None
    if not _all_known(annotations["category_id"], categories["id"]):
        return None
    found: dict[str, list[Any]] = {}
    if metadata:
        # Decoding the image objects a second time costs less than keeping all of them always.
        objects = _decoded(_IMAGES_DECODER, text)
        if objects is None:
            return None
        found = metadata_of(objects.images, metadata, source.path)
    return ground_truth(
        source,
        images={"id": image_ids},
        categories=categories,
        annotations=annotations,
        metadata=found,
    )


def _short_lists(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a JSON list of objects, given without its "[", into lists of some objects each.

    A cut is made where text reads like the end of one object and the start of the next. If that
    was inside a string or a nested object, the list before the cut is not closed properly, so it
    cannot be valid JSON: a wrong cut can be noticed, never change what is read.
    """
    open_list = [b"["]
    for chunk in chunks:
        cut = _last_boundary(chunk)
        if cut is None:
            open_list.append(chunk)
            continue
        end, start = cut
        yield b"".join([*open_list, chunk[:end], b"]"])
        open_list = [b"[", chunk[start:]]
    yield b"".join(open_list)


def _last_boundary(text: bytes) -> tuple[int, int] | None:
    """Where the last object that is followed by another ends, and where that other starts."""
    for begin in (max(len(text) - _TAIL, 0), 0):
        found = list(_BOUNDARY.finditer(text, begin))
        if found:
            return found[-1].start() + 1, found[-1].end() - 1
    return None


def _decoded(decoder: msgspec.json.Decoder[_T], text: bytes) -> _T | None:
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _detections(text: bytes) -> Columns | None:
    """Columns of a JSON list of detections."""
    flat = _decoded(_FLAT_DECODER, text)
    columns = None if flat is None else flat_columns(flat)
    if columns is not None:
        return columns
    detections = _decoded(_LIST_DECODER, text)
    return None if detections is None else detection_columns(detections)


def _all_known(ids: NDArray[Any], keys: NDArray[Any]) -> bool:
    return set(ids.tolist()) <= set(keys.tolist())


def _joined(pieces: Iterable[Columns | None]) -> Columns | None:
    """One column of many; None if a piece is, or if ids changed their kind on the way."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for piece in pieces:
        if piece is None:
            return None
        for name, column in piece.items():
            parts.setdefault(name, []).append(column)
    if any(len({column.dtype for column in columns}) > 1 for columns in parts.values()):
        return None
    # A column's parts go as soon as it is whole, so not all is in memory twice.
    return {name: np.concatenate(parts.pop(name)) for name in list(parts)}
