"""Lines of JSON with plain boxes come in; columns go out, or None if anything is unusual."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET, Raw, UnsetType
from numpy.typing import NDArray

from valor_cli.kernels.rle import LARGEST_SIDE
from valor_cli.kernels.shapes import Shapes
from valor_cli.readers.checks import LARGEST_COORDINATE
from valor_cli.readers.object_rows import Codes, Id, ImageRows, Piece
from valor_cli.readers.objects import Role, Wanted
from valor_cli.readers.table import Columns

_Sides = tuple[float, float, float, float]


class _Object(msgspec.Struct, gc=False):
    label: str
    box: _Sides
    mask: Raw | UnsetType = UNSET
    polygon: Raw | UnsetType = UNSET
    rotated_box: Raw | UnsetType = UNSET


class _Detection(msgspec.Struct, gc=False):
    label: str
    box: _Sides
    score: float


class _ShapedDetection(_Object, gc=False, kw_only=True):
    score: float


class _GroundTruth(_Object, gc=False):
    id: Id | UnsetType = UNSET
    crowd: bool | int = False
    area: float | UnsetType = UNSET


class _Line(msgspec.Struct, gc=False, kw_only=True):
    image_id: Id
    width: int = 0
    height: int = 0
    file_name: str | None = None


class _DetectionLine(_Line, gc=False, kw_only=True):
    objects: list[_Detection]


class _ShapedDetectionLine(_Line, gc=False, kw_only=True):
    objects: list[_ShapedDetection]


class _GroundTruthLine(_Line, gc=False, kw_only=True):
    objects: list[_GroundTruth]


_Lines = Sequence[_DetectionLine | _ShapedDetectionLine | _GroundTruthLine]
_RAW: Final = msgspec.json.Decoder(dict[str, Raw])


class PlainLines:
    """The quick reading of lines whose objects are boxes.

    Attributes:
        found: How many objects there were so far.
    """

    __slots__ = ("_decoder", "_images", "_labels", "_records", "_role", "_shaped", "found")

    def __init__(
        self,
        role: Role,
        wanted: Wanted,
        labels: Codes,
        images: ImageRows,
        records: list[dict[str, Any]] | None,
    ) -> None:
        self._role = role
        self._labels = labels
        self._images = images
        self._records = records
        self._shaped = wanted == "shape"
        line = (
            _GroundTruthLine
            if role == "ground_truth"
            else _ShapedDetectionLine
            if self._shaped
            else _DetectionLine
        )
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(line)
        self.found = 0

    def piece(self, block: bytes, first: int) -> Piece | None:
        """The objects of a block of whole lines, the first of which has the number `first`."""
        try:
            lines: _Lines = self._decoder.decode_lines(block)
        except (msgspec.MsgspecError, RecursionError):
            return None
        ends = block.count(b"\n") + (not block.endswith(b"\n"))
        if len(lines) != ends or not _sound(lines):
            return None
        objects: list[Any] = list(chain.from_iterable(map(attrgetter("objects"), lines)))
        if self._shaped and any(map(_has_more, objects)):
            return None
        columns = self._columns(objects)
        if columns is None:
            return None
        counts = np.fromiter((len(line.objects) for line in lines), np.int64, len(lines))
        position = np.arange(len(objects)) - np.repeat(np.cumsum(counts) - counts, counts)
        line = np.repeat(np.arange(len(lines)), counts)
        box = columns.pop("box")
        labels = map(self._labels.__getitem__, map(attrgetter("label"), objects))
        columns |= {
            "image": line + len(self._images.ids),
            "label": np.fromiter(labels, np.int64, len(objects)),
            "line": line + first,
            "position": position,
        }
        self._note(lines, block, first)
        self.found += len(objects)
        return Piece(columns, Shapes.boxes(box))

    def _columns(self, objects: Sequence[Any]) -> Columns | None:
        n = len(objects)
        sides = chain.from_iterable(map(attrgetter("box"), objects))
        box = np.fromiter(sides, np.float64, 4 * n).reshape(-1, 4)
        if not (np.abs(box) <= LARGEST_COORDINATE).all() or not (box[:, 2:] >= 0).all():
            return None
        if self._role == "predictions":
            score = np.fromiter(map(attrgetter("score"), objects), np.float64, n)
            return {"box": box, "score": score}
        crowd = list(map(attrgetter("crowd"), objects))
        areas = [np.nan if one.area is UNSET else one.area for one in objects]
        area = np.array(areas, np.float64)
        if not set(crowd) <= {0, 1} or (area < 0).any():
            return None
        ids: NDArray[Any] = np.empty(n, dtype=object)
        ids[:] = [None if one.id is UNSET else one.id for one in objects]
        return {"box": box, "crowd": np.array(crowd, np.bool_), "area": area, "id": ids}

    def _note(self, lines: _Lines, block: bytes, first: int) -> None:
        """Add the images of the lines."""
        images = self._images
        images.ids += [line.image_id for line in lines]
        images.lines += range(first, first + len(lines))
        images.width += [line.width for line in lines]
        images.height += [line.height for line in lines]
        images.file_name += [line.file_name for line in lines]
        if self._records is not None:
            for raw in _RAW.decode_lines(block):
                self._records.append(
                    {key: msgspec.json.decode(raw[key]) for key in raw if key != "objects"}
                )


def _sound(lines: _Lines) -> bool:
    return all(
        0 <= line.width <= LARGEST_SIDE and 0 <= line.height <= LARGEST_SIDE for line in lines
    )


def _has_more(one: _Object) -> bool:
    """Whether an object has another geometry than its box."""
    return not (one.mask is UNSET and one.polygon is UNSET and one.rotated_box is UNSET)
