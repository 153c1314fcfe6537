"""Decode lists of COCO detections that are all compressed masks.

The run-length strings are decoded together into one array, which takes half the memory and time of
`coco_decode`'s decoding piece by piece for detections of any geometry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.columns import detection_columns, joined_columns
from valor_cli.data.formats.coco.tables import Id, Rows
from valor_cli.data.table import Columns
from valor_cli.kernels import engine
from valor_cli.kernels.columns.coco_objects import DetectedMasks, allocate_masks, detected_masks
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.kernels.threads import in_order, usable_threads

AT_ONCE: Final = 1 << 18
"""Bytes of JSON decoded at once: so many that numpy's calls are few, and all fits the cache."""


class _Counts(msgspec.Struct, gc=False):
    size: tuple[int, int]
    counts: str


class _MaskDetection(msgspec.Struct, gc=False):
    image_id: Id
    category_id: Id
    segmentation: _Counts
    score: float


_DECODER: Final = msgspec.json.Decoder(list[_MaskDetection])


class _Piece(NamedTuple):
    """Detections of one list: their columns, and the characters of their masks' counts."""

    columns: Columns
    letters: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    sizes: NDArray[np.int64]


def mask_rows(lists: Iterable[bytes]) -> Rows | None:
    """Detections of JSON lists; None if there are none, or if the full checks are needed."""
    pieces: list[_Piece] = []
    for piece in _pieces(lists):
        if piece is None:
            return None
        pieces.append(piece)
    columns = joined_columns([piece.columns for piece in pieces])
    if not columns or not len(columns["score"]):
        return None
    masks, valid = rle.decoded_text(
        np.concatenate([piece.letters for piece in pieces]),
        np.concatenate([piece.lengths for piece in pieces]),
        np.concatenate([piece.sizes for piece in pieces]),
    )
    return Rows(columns, Shapes.masks(masks)) if valid.all() else None


def _pieces(lists: Iterable[bytes]) -> Iterator[_Piece | None]:
    if engine.compiled is None:
        return map(_piece, lists)
    roomy = ((text, allocate_masks(text)) for text in lists)
    return in_order(_compiled_piece, roomy, usable_threads())


def _compiled_piece(roomy: tuple[bytes, DetectedMasks]) -> _Piece | None:
    text, room = roomy
    found = detected_masks(text, room, rle.LARGEST_SIDE)
    if found is None:
        return _piece(text)
    columns: Columns = {
        "image_id": found.image_id,
        "category_id": found.category_id,
        "score": found.score,
    }
    return _Piece(columns, found.letters, found.length, found.size)


def _piece(text: bytes) -> _Piece | None:
    try:
        detections: list[Any] = _DECODER.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    columns = detection_columns(detections)
    masks = list(map(attrgetter("segmentation"), detections))
    strings = list(map(attrgetter("counts"), masks))
    counts = "".join(strings)
    sides = chain.from_iterable(map(attrgetter("size"), masks))
    try:
        sizes = np.fromiter(sides, np.int64, 2 * len(masks)).reshape(-1, 2)
    except OverflowError:
        return None
    possible = (sizes > 0).all() and (sizes <= rle.LARGEST_SIDE).all()
    if columns is None or not possible or not counts.isascii():
        return None
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    return _Piece(columns, np.frombuffer(counts.encode(), np.uint8), lengths, sizes)
