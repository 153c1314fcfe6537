"""Parse COCO JSON into columns of boxes and masks with the compiled kernel.

Only JSON in the usual form is parsed; for any other text, valid or not, the result is None and the
full reader is used.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine

SHORTEST: Final = len('{"image_id":1,"category_id":1,"bbox":[0,0,0,0]}')
"""Letters of an object, at least."""

MOST_MEMBERS: Final = 64
_ID: Final = 16
"""The kernel's bit of the key `id`."""


class DetectedBoxes(NamedTuple):
    """Columns of detections: ids, (n, 4) x, y, width and height, score."""

    image_id: NDArray[np.int64]
    category_id: NDArray[np.int64]
    bbox: NDArray[np.float64]
    score: NDArray[np.float64]


class DetectedMasks(NamedTuple):
    """Columns of detections: ids, score, (n, 2) height and width; the letters of all masks, and how
    many each has."""

    image_id: NDArray[np.int64]
    category_id: NDArray[np.int64]
    score: NDArray[np.float64]
    size: NDArray[np.int64]
    letters: NDArray[np.uint8]
    length: NDArray[np.int64]


class AnnotatedBoxes(NamedTuple):
    """Columns of ground truth: ids, (n, 4) x, y, width and height, its own id (None: no object has
    one), area (width * height where an object has none), whether it is a crowd."""

    image_id: NDArray[np.int64]
    category_id: NDArray[np.int64]
    bbox: NDArray[np.float64]
    id: NDArray[np.int64] | None
    area: NDArray[np.float64]
    crowd: NDArray[np.bool_]


def allocate_boxes(text: bytes | memoryview) -> DetectedBoxes:
    """Columns with room for all detections in a text."""
    room = len(text) // (SHORTEST + len(',"score":0')) + 1
    return DetectedBoxes(
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty((room, 4)), np.empty(room)
    )


def detected_boxes(
    text: bytes | memoryview, columns: DetectedBoxes, largest: float
) -> DetectedBoxes | None:
    """Detections of a JSON list with integer ids.

    Args:
        text: UTF-8.
        columns: Room for them. Who works in several threads makes it in one of them: what threads
            allocate themselves, the C library gives back to nobody else.
        largest: The largest coordinate that is allowed.

    Returns:
        The rows of the columns that were filled; None if anything is unusual, or no kernel is
        compiled.
    """
    if engine.compiled is None:
        return None
    rows, _, _ = engine.compiled.detected_boxes(text, *columns, largest)
    # What is behind the rows was never written to, so it takes no memory.
    return None if rows < 0 else DetectedBoxes._make(column[:rows] for column in columns)


def allocate_masks(text: bytes | memoryview) -> DetectedMasks:
    """Columns with room for all masks in a text."""
    room = len(text) // len('{"image_id":1,"category_id":1,"segmentation":{},"score":0}') + 1
    ids, others = np.empty(room, np.int64), np.empty(room, np.int64)
    letters, length = np.empty(len(text), np.uint8), np.empty(room, np.int64)
    return DetectedMasks(
        ids, others, np.empty(room), np.empty((room, 2), np.int64), letters, length
    )


def detected_masks(
    text: bytes | memoryview, columns: DetectedMasks, largest_side: int
) -> DetectedMasks | None:
    """Compressed-mask detections of a JSON list, as `detected_boxes`.

    Args:
        text: UTF-8.
        columns: Room for them.
        largest_side: The largest height or width of a mask that is allowed.
    """
    if engine.compiled is None:
        return None
    rows, _, _ = engine.compiled.detected_masks(text, *columns, largest_side)
    if rows < 0:
        return None
    found = DetectedMasks._make(column[:rows] for column in columns)
    return found._replace(letters=columns.letters[: int(found.length.sum())])


def annotated_boxes(text: bytes | memoryview, largest: float) -> AnnotatedBoxes | None:
    """Annotations of a JSON list with integer ids; all or none have their own id.

    The arguments and None are as those of `detected_boxes`.
    """
    if engine.compiled is None:
        return None
    room = len(text) // SHORTEST + 1
    columns = (
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, 4)),
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room, np.bool_),
    )
    rows, every, some = engine.compiled.annotated_boxes(text, *columns, largest)
    if rows < 0 or (some & _ID) != (every & some & _ID):
        return None
    found = AnnotatedBoxes._make(column[:rows] for column in columns)
    return found if some & _ID else found._replace(id=None)


def member_of(text: bytes, name: str) -> slice | None:
    """Position of the value of a JSON object's member.

    Args:
        text: UTF-8: an object.
        name: Its key.

    Returns:
        None if anything is unusual, the key stands there twice or not at all, or no kernel is
        compiled.
    """
    if engine.compiled is None:
        return None
    spans = np.empty((MOST_MEMBERS, 4), np.int64)
    count = engine.compiled.members(text, spans)
    found = [
        slice(begin, end)
        for first, last, begin, end in spans[: max(count, 0)].tolist()
        if text[first:last] == name.encode()
    ]
    return found[0] if len(found) == 1 else None
