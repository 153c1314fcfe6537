"""Decode valid COCO files fast; None if the full checks are needed.

Errors are not explained here: `coco_diagnosis` reads the file again for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from valor_cli.data.formats.coco.columns import (
    annotation_rows,
    category_columns,
    detection_rows,
    federated_columns,
    image_columns,
    joined_columns,
)
from valor_cli.data.formats.coco.masks import AT_ONCE, mask_rows
from valor_cli.data.formats.coco.metadata import metadata_of
from valor_cli.data.formats.coco.structs import (
    Annotation,
    AnyAnnotation,
    AnyDetection,
    Dataset,
    Detection,
    Federated,
    GroundTruth,
    ImageObjects,
    SegmentedAnnotation,
    SegmentedDetection,
)
from valor_cli.data.formats.coco.tables import Request, Rows, ground_truth, results
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.source.files import CHUNK, TextSource
from valor_cli.data.table import Columns
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.kernels import engine
from valor_cli.kernels.columns.coco_objects import (
    DetectedBoxes,
    allocate_boxes,
    annotated_boxes,
    detected_boxes,
    member_of,
)
from valor_cli.kernels.columns.grouping import are_distinct, positions_of
from valor_cli.kernels.geometry.shapes import MASK, Shapes, joined
from valor_cli.kernels.threads import in_order, usable_threads

_T = TypeVar("_T")
_Decoder: TypeAlias = msgspec.json.Decoder[_T]

WHITE: Final = b" \t\n\r"
BOUNDARY: Final = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*\{")
"""Separators of two objects of a list; strings may contain them, too."""
_TAIL: Final = 4096

COMPILED_CHUNK: Final = 1 << 20
"""Large enough to parse in a thread while the next chunk is read and hashed."""

_IMAGES_DECODER: Final = msgspec.json.Decoder(ImageObjects)
_FEDERATED_DECODER: Final = msgspec.json.Decoder(Federated)

# What is wanted alone is decoded first: half the time of all that a row may have.
_ALL: Final = "all"
_LIST_DECODERS: Final[dict[str, _Decoder[Any]]] = {
    "box": msgspec.json.Decoder(list[Detection]),
    "shape": msgspec.json.Decoder(list[SegmentedDetection]),
    _ALL: msgspec.json.Decoder(list[AnyDetection]),
}
_DATASET_DECODERS: Final[dict[str, _Decoder[Any]]] = {
    "box": msgspec.json.Decoder(Dataset[Detection]),
    "shape": msgspec.json.Decoder(Dataset[SegmentedDetection]),
    _ALL: msgspec.json.Decoder(Dataset[AnyDetection]),
}
_GROUND_TRUTH_DECODERS: Final[dict[str, _Decoder[Any]]] = {
    "box": msgspec.json.Decoder(GroundTruth[Annotation]),
    "shape": msgspec.json.Decoder(GroundTruth[SegmentedAnnotation]),
    _ALL: msgspec.json.Decoder(GroundTruth[AnyAnnotation]),
}


def decode_results(source: TextSource, request: Request) -> ObjectFile | None:
    """Detections of a file; None if the full checks are needed.

    Raises:
        DataError: The file cannot be read as text.
    """
    if request.wanted == "shape" and not request.keypoints:
        chunks = source.chunks(AT_ONCE)
        head = next(chunks).lstrip(WHITE)
        rows = masks_listed(chain([head[1:]], chunks)) if head[:1] == b"[" else None
        if rows is not None:
            return results(source, rows)
    chunks = source.chunks(chunk_size())
    head = next(chunks).lstrip(WHITE)
    if head.startswith(b"["):
        rows = objects_listed(chain([head[1:]], chunks), request)
        return None if rows is None else results(source, rows)
    return _decode_dataset(source, b"".join([head, *chunks]), request)


def chunk_size() -> int:
    """Number of bytes of a list that are read at once."""
    return CHUNK if engine.compiled is None else COMPILED_CHUNK


def masks_listed(texts: Iterable[bytes]) -> Rows | None:
    """Detections of a JSON list without its "["; None unless all are usual masks."""
    return mask_rows(_short_lists(texts))


def objects_listed(texts: Iterable[bytes], request: Request) -> Rows | None:
    """Detections of any geometry of a JSON list; None if the full checks are needed."""
    # Only the whole list tells how many keypoints an object has.
    if request.keypoints:
        return _detections(b"".join([b"[", *texts]), request)
    lists = _short_lists(texts)
    if request.wanted != "box" or engine.compiled is None:
        return _joined(_detections(text, request) for text in lists)
    pieces = ((text, allocate_boxes(text)) for text in lists)
    return _joined(in_order(partial(_boxes_or_any, request=request), pieces, usable_threads()))


def _decode_dataset(source: TextSource, text: bytes, request: Request) -> ObjectFile | None:
    """Detections in the form of a full COCO dictionary."""
    for decoder in _of_form(_DATASET_DECODERS, request):
        dataset = _decoded(decoder, text)
        rows = None if dataset is None else detection_rows(dataset.annotations, request)
        if dataset is None or rows is None:
            continue
        if dataset.categories is UNSET:
            return results(source, rows, list_name="annotations")
        categories = category_columns(dataset.categories)
        if categories is None or not _all_known(rows.columns["category_id"], categories["id"]):
            return None
        return results(source, rows, list_name="annotations", categories=categories)
    return None


def decode_ground_truth(
    source: TextSource, metadata: Sequence[str], request: Request
) -> ObjectFile | None:
    """Ground truth of a file; None if the full checks are needed.

    Raises:
        DataError: The file cannot be read as text, or no image has metadata of such a name.
    """
    text = source.whole()
    lists = _decode_lists(text, request)
    if lists is None:
        return None
    images, categories, annotations = lists
    # Decoding the image objects a second time costs less than keeping all of them always.
    if request.federated:
        federated = _decoded(_FEDERATED_DECODER, text)
        more = None if federated is None else federated_columns(federated, images, categories)
        if more is None:
            return None
        images, categories = more
    found: dict[str, list[Any]] = {}
    if metadata:
        objects = _decoded(_IMAGES_DECODER, text)
        if objects is None:
            return None
        found = metadata_of(objects.images, metadata, source.path)
    return ground_truth(
        source,
        images=images,
        categories=categories,
        annotations=annotations,
        metadata=found,
    )


def _decode_lists(text: bytes, request: Request) -> tuple[Columns, Columns, Rows] | None:
    """Images, categories and annotations, if the annotations name only known ids."""
    annotations = None
    if request.wanted == "box" and not request.keypoints:
        annotations, text = _split_annotations(text)
    for decoder in _of_form(_GROUND_TRUTH_DECODERS, request):
        decoded = _decoded(decoder, text)
        if decoded is None:
            continue
        rows = annotations or annotation_rows(decoded.annotations, request)
        if rows is not None:
            return _usual(decoded, rows)
    return None


def _split_annotations(text: bytes) -> tuple[Rows | None, bytes]:
    """Annotations read by the compiled kernel, and the text with an empty list in their place; or
    None, and all of the text."""
    at = member_of(text, "annotations")
    found = None if at is None else annotated_boxes(memoryview(text)[at], LARGEST_COORDINATE)
    if at is None or found is None:
        return None, text
    count = len(found.image_id)
    ids = np.arange(1, count + 1) if found.id is None else found.id
    if not are_distinct(ids):
        return None, text
    columns: Columns = {
        "id": ids,
        "image_id": found.image_id,
        "category_id": found.category_id,
        "area": found.area,
        "crowd": found.crowd,
    }
    rest = b"".join([text[: at.start], b"[]", text[at.stop :]])
    return Rows(columns, Shapes.boxes(found.bbox)), rest


def _usual(decoded: GroundTruth[Any], annotations: Rows) -> tuple[Columns, Columns, Rows] | None:
    """What was decoded as columns, if it is all that the annotations name."""
    images = image_columns(decoded.images)
    categories = category_columns(decoded.categories)
    if images is None or categories is None:
        return None
    known = (
        _all_known(annotations.columns["image_id"], images["id"])
        and _all_known(annotations.columns["category_id"], categories["id"])
        and _fits(annotations, images)
    )
    return (images, categories, annotations) if known else None


def _of_form(decoders: dict[str, _Decoder[Any]], request: Request) -> list[_Decoder[Any]]:
    """The decoders to try, in order."""
    if request.keypoints:
        return [decoders[_ALL]]
    return [decoders[request.wanted], decoders[_ALL]]


def _short_lists(chunks: Iterable[bytes]) -> Iterator[bytes]:
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


def _last_boundary(text: bytes) -> tuple[int, int] | None:
    """Where the last object that is followed by another ends, and where that other starts."""
    for begin in (max(len(text) - _TAIL, 0), 0):
        found = list(BOUNDARY.finditer(text, begin))
        if found:
            return found[-1].start() + 1, found[-1].end() - 1
    return None


def _decoded(decoder: _Decoder[_T], text: bytes) -> _T | None:
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _boxes_or_any(piece: tuple[bytes, DetectedBoxes], request: Request) -> Rows | None:
    """Rows of a JSON list of detections and of the room for its boxes: by the compiled kernel, or
    in any way."""
    text, room = piece
    found = detected_boxes(text, room, LARGEST_COORDINATE)
    if found is None:
        return _detections(text, request)
    columns: Columns = {
        "image_id": found.image_id,
        "category_id": found.category_id,
        "score": found.score,
    }
    return Rows(columns, Shapes.boxes(found.bbox))


def _detections(text: bytes, request: Request) -> Rows | None:
    """Rows of a JSON list of detections."""
    for decoder in _of_form(_LIST_DECODERS, request):
        detections = _decoded(decoder, text)
        rows = None if detections is None else detection_rows(detections, request)
        if rows is not None:
            return rows
    return None


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


def _joined(pieces: Iterable[Rows | None]) -> Rows | None:
    """All rows as one; None if a piece is None or the type of ids changes."""
    parts: list[Columns] = []
    shapes: list[Shapes] = []
    for piece in pieces:
        if piece is None:
            return None
        shapes.append(piece.shapes)
        parts.append(piece.columns)
    columns = joined_columns(parts)
    if columns is None:
        return None
    if all(len(each.box) == len(each) for each in shapes):
        return Rows(columns, Shapes.boxes(np.concatenate([each.box for each in shapes])))
    return Rows(columns, joined(shapes))
