"""Parse JSONL lines with plain boxes in bulk; None if any line needs the full checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET, Raw, UnsetType
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.names import spelled, standard_of
from valor_cli.data.shapes.objects.object_file import Role, Wanted
from valor_cli.data.shapes.objects.rows import Codes, Id, ImageRows, Piece
from valor_cli.data.table import Columns
from valor_cli.data.values import LARGEST_COORDINATE
from valor_cli.kernels.geometry.rle import LARGEST_SIDE
from valor_cli.kernels.geometry.shapes import Shapes

_Sides = tuple[float, float, float, float]


_Fields: TypeAlias = Sequence[tuple[str, Any] | tuple[str, Any, Any]]

_SHAPES: Final = ("mask", "polygon", "rotated_box", "segmentation")
_OPTIONAL: Final = frozenset((*_SHAPES, "crowd", "area", "id", "width", "height", "file_name"))
"""Standard keys of which a record without has a default, whatever else it may call them."""

_Value: TypeAlias = bool | int | float | str | None
_NoObjects: TypeAlias = _Value | dict[str, Any] | list[_Value | list[Any]]
"""What a key of an image that is not read may hold: no list of objects."""

_LINE: Final[_Fields] = (
    ("image_id", Id),
    ("width", int, 0),
    ("height", int, 0),
    ("file_name", str | None, None),
    ("metadata", Raw | UnsetType, UNSET),
)
_TRUTH: Final[_Fields] = (
    ("id", Id | UnsetType, UNSET),
    ("crowd", bool | int, False),
    ("area", float | UnsetType, UNSET),
)
_RAW: Final = msgspec.json.Decoder(dict[str, Raw])
_RAW_OBJECTS: Final = msgspec.json.Decoder(list[dict[str, Raw]])


class _Keys:
    """The keys of a file, and the decoder of lines that have these and no others.

    Attributes:
        line: Standard key of an image to the key of the file.
    """

    __slots__ = ("_fields", "_lines", "_objects", "decoder", "line")

    def __init__(self, fields: _Fields) -> None:
        """`fields` of an object are those that are read."""
        self._fields = fields
        self._lines: dict[str, None] = {}
        self._objects: dict[str, None] = {}
        self.line: Mapping[str, str] = {"objects": "objects"}
        self.decoder = self._decoder({}, {})

    def learn(self, block: bytes) -> bool:
        """Add the keys of a block; False if there is none to add, or one must be looked at."""
        lines, objects = dict(self._lines), dict(self._objects)
        try:
            for record in _RAW.decode_lines(block):
                lines.update(dict.fromkeys(record))
                key = spelled(tuple(record), "image")["objects"]
                for one in _RAW_OBJECTS.decode(record[key]):
                    objects.update(dict.fromkeys(one))
        except (msgspec.MsgspecError, KeyError, RecursionError):
            return False
        if lines == self._lines and objects == self._objects:
            return False
        line, names = spelled(tuple(lines), "image"), spelled(tuple(objects), "object")
        if _may_use_aliases(lines, line, "image") or _may_use_aliases(objects, names, "object"):
            return False
        self._lines, self._objects, self.line = lines, objects, line
        self.decoder = self._decoder(line, names)
        return True

    def _decoder(
        self, line: Mapping[str, str], names: Mapping[str, str]
    ) -> msgspec.json.Decoder[Any]:
        more = [(key, Raw | UnsetType, UNSET) for key in self._objects if key not in names.values()]
        rest = [(key, _NoObjects, None) for key in self._lines if key not in line.values()]
        unread = [name for name in names if name not in {field[0] for field in self._fields}]
        fields = [*self._fields, *((name, Raw | UnsetType, UNSET) for name in unread)]
        one = _struct("Object", fields, more, names)
        return msgspec.json.Decoder(
            _struct("Line", [*_LINE, ("objects", list[one])], rest, line)  # type: ignore[valid-type] # a type made just now
        )


def _struct(name: str, fields: _Fields, more: _Fields, names: Mapping[str, str]) -> Any:
    """A type of records by standard keys, with `more` that may have any names."""
    numbered = [(f"more_{at}", *field[1:]) for at, field in enumerate(more)]
    renamed = {f"more_{at}": field[0] for at, field in enumerate(more)}
    return msgspec.defstruct(
        name,
        [*fields, *numbered],
        rename={**names, **renamed},
        gc=False,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _may_use_aliases(keys: Iterable[str], names: Mapping[str, str], kind: str) -> bool:
    """Whether some records may have an optional key under one of its aliases."""
    read = names.values()
    return any(standard_of(key, kind) in _OPTIONAL for key in keys if key not in read)


class PlainLines:
    """The fast path for lines whose objects are boxes.

    Attributes:
        found: How many objects there were so far.
    """

    __slots__ = ("_images", "_keys", "_labels", "_records", "_role", "_shaped", "found")

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
        fields: list[Any] = [("label", str), ("box", _Sides)]
        fields += [("score", float)] if role == "predictions" else _TRUTH
        if self._shaped:
            fields += [(name, Raw | UnsetType, UNSET) for name in _SHAPES]
        self._keys = _Keys(fields)
        self.found = 0

    def piece(self, block: bytes, first: int) -> Piece | None:
        """Read the objects of whole lines; the first has number `first`."""
        lines = self._lines(block)
        if lines is None:
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

    def _lines(self, block: bytes) -> Sequence[Any] | None:
        try:
            return self._keys.decoder.decode_lines(block)
        except (msgspec.MsgspecError, RecursionError):
            if not self._keys.learn(block):
                return None
        try:
            return self._keys.decoder.decode_lines(block)
        except (msgspec.MsgspecError, RecursionError):
            return None

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

    def _note(self, lines: Sequence[Any], block: bytes, first: int) -> None:
        """Add the images of the lines."""
        images = self._images
        images.ids += [line.image_id for line in lines]
        images.lines += range(first, first + len(lines))
        images.width += [line.width for line in lines]
        images.height += [line.height for line in lines]
        images.file_name += [line.file_name for line in lines]
        if self._records is not None:
            for raw in _RAW.decode_lines(block):
                left = self._keys.line["objects"]
                self._records.append(
                    {key: msgspec.json.decode(raw[key]) for key in raw if key != left}
                )


def _sound(lines: Sequence[Any]) -> bool:
    return all(
        0 <= line.width <= LARGEST_SIDE and 0 <= line.height <= LARGEST_SIDE for line in lines
    )


def _has_more(one: Any) -> bool:
    """Whether an object has another geometry than its box."""
    return any(getattr(one, name) is not UNSET for name in _SHAPES)
