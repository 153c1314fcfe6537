"""Read lines of JSONL one by one: those that are wrong, to say what is, and unusual ones."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from valor_cli.data.formats.jsonl.object_geometry import (
    GEOMETRIES,
    GeometryReader,
    MaskFiles,
    geometry_of,
)
from valor_cli.data.json_records import not_json, present_keys
from valor_cli.data.shapes.objects.checks import crowd_flag, missing_keys, stated_area
from valor_cli.data.shapes.objects.names import (
    IMAGE_NAMES,
    spelled,
    standard_object,
    unread_lists,
)
from valor_cli.data.shapes.objects.object_file import Piece, Role, Wanted
from valor_cli.data.shapes.objects.rows import ImageRows, ObjectRows
from valor_cli.data.values import LineProblems, describe, number, text
from valor_cli.errors import did_you_mean, printable
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.kernels.geometry.rle import LARGEST_SIDE

_SHOWN = 40
_SIDES = ("width", "height")
_OF_AN_OBJECT = ("label", "score", "category_id", "bbox", "segmentation", *GEOMETRIES)
"""Keys that have no meaning beside `image_id`."""

_LONGEST_INTEGER = 4000
"""Digits. Python refuses to convert more than 4,300 by default."""


class LineReader:
    """Reads lines one by one.

    Attributes:
        found: How many objects there were so far, good or not.
        faults: Of lines as such.
        problems: Of objects.
    """

    def __init__(
        self,
        role: Role,
        wanted: Wanted,
        labels: Vocabulary,
        images: ImageRows,
        records: list[dict[str, Any]] | None,
        masks: MaskFiles,
        faults: LineProblems,
        problems: LineProblems,
    ) -> None:
        """Initialise with the columns to fill.

        Args:
            role, wanted: As in `read_jsonl`.
            labels, images: What has been seen; new ones are added.
            records: Where lines go for their metadata, without objects; None for nowhere.
            masks: PNG files of masks.
            faults: Of lines as such.
            problems: Of objects.
        """
        self.found = 0
        self._role = role
        self._wanted = wanted
        self._labels = labels
        self._images = images
        self._records = records
        self._masks = masks
        self.faults = faults
        self.problems = problems

    def piece(self, lines: Iterable[tuple[int, bytes]]) -> Piece:
        """Read the objects of lines with these numbers."""
        rows = ObjectRows(self._role)
        geometry = GeometryReader(rows.shapes, self._masks, self.problems)
        for line, content in lines:
            self._line(content, line, rows, geometry)
        return rows.piece()

    def _line(self, content: bytes, line: int, rows: ObjectRows, geometry: GeometryReader) -> None:
        record = self._parsed(content, line)
        if record is None:
            return
        before = self.faults.total
        names = spelled(tuple(record), "image")
        if "image_id" not in names:
            self.faults.add(line, "", missing_keys(["image_id"], record))
        width, height = (self._side(record, names.get(key, key), line) for key in _SIDES)
        name = record.get(names.get("file_name", ""))
        if name is not None:
            name = text(name, self.faults, line, names["file_name"])
        key = names.get("objects", "objects")
        objects = record.get(key, [])
        for message in _not_read(record, names):
            self.faults.add(line, "", message)
        if not isinstance(objects, list):
            message = f"expected a list, found {describe(objects)}"
            self.faults.add(line, key, message)
        if self.faults.total > before:
            return
        images = self._images
        image = len(images.ids)
        images.ids.append(record[names["image_id"]])
        images.lines.append(line)
        images.width.append(width)
        images.height.append(height)
        images.file_name.append(name)
        if self._records is not None:
            self._records.append({one: record[one] for one in record if one != key})
        geometry.frame = (height, width)
        self.found += len(objects)
        for position, value in enumerate(objects):
            self._object(value, image, line, f"{key}[{position}]", position, rows, geometry)

    def _object(
        self,
        value: object,
        image: int,
        line: int,
        key: str,
        position: int,
        rows: ObjectRows,
        geometry: GeometryReader,
    ) -> None:
        problems = self.problems
        if not isinstance(value, dict):
            problems.add(line, key, f"expected an object, found {describe(value)}")
            return
        said, value = value, standard_object(value)
        names = spelled(tuple(said), "object")
        predicted = self._role == "predictions"
        missing = [one for one in ("label", "score")[: 1 + predicted] if one not in value]
        if missing:
            problems.add(line, key, missing_keys(missing, said))
            return
        kind = geometry_of(value, self._wanted)
        if kind is None:
            shown = ", ".join(reversed(GEOMETRIES))
            problems.add(line, key, f"there is no geometry, one of {shown} ({present_keys(said)})")
            return
        before = problems.total
        shape = f"{key}.{names.get(kind) or names['segmentation']}"
        label = text(value["label"], problems, line, f"{key}.{names['label']}")
        score, crowd, area = 0.0, False, math.nan
        if predicted:
            given = number(value["score"], problems, line, f"{key}.{names['score']}")
            score = 0.0 if given is None else given
        else:
            place = f"{key}.{names.get('crowd')}"
            crowd = crowd_flag(value.get("crowd", False), problems, line, place)
            if value.get("area") is not None:
                area = stated_area(value["area"], problems, line, f"{key}.{names['area']}")
        # Last, for what is added to the shapes must become a row.
        if problems.total > before or label is None:
            geometry = GeometryReader(ObjectRows(self._role).shapes, self._masks, problems)
            geometry.add(kind, value[kind], line, shape)
            return
        if geometry.add(kind, value[kind], line, shape):
            rows.add(
                image,
                self._labels.code(label.encode()),
                line,
                position=position,
                score=score,
                crowd=crowd,
                area=area,
                identity=value.get("id"),
            )

    def _parsed(self, content: bytes, line: int) -> dict[str, Any] | None:
        try:
            value = _json(content)
        except (json.JSONDecodeError, RecursionError) as error:
            self.faults.add(line, "", not_json(error))
            return None
        if isinstance(value, dict):
            return value
        message = f"expected an object with image_id and objects, found {describe(value)}"
        self.faults.add(line, "", message)
        return None

    def _side(self, record: Mapping[str, Any], key: str, line: int) -> int:
        """The width or height of an image; 0 where it is not said."""
        value = record.get(key)
        if value is None:
            return 0
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is int and 0 <= value <= LARGEST_SIDE:
            return value
        message = f"expected a whole number from 0 to {LARGEST_SIDE:,}, found {describe(value)}"
        self.faults.add(line, key, message)
        return 0


def _json(content: bytes) -> object:
    """A JSON value as `json.loads` has it: with NaN and lone surrogates, to be named later."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return json.loads(content.decode("utf-8"), parse_int=_integer)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def _not_read(record: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with where the objects of an image stand."""
    key = names.get("objects")
    if key is None and (unexpected := [one for one in _OF_AN_OBJECT if one in record]):
        yield (
            f'"objects" is missing, yet there is {", ".join(unexpected)}: '
            "each line is an image with the list of its objects"
        )
        return
    for one in unread_lists(record, tuple(names.values()), alone=key is None):
        shown = f'"{printable(one[:_SHOWN])}"'
        if key is None:
            near = did_you_mean(one, ("objects", *IMAGE_NAMES["objects"]))
            yield (
                f'"objects" is missing, yet {shown} holds a list{near}: objects go under '
                '"objects", and an image without any has "objects": []'
            )
        else:
            yield (
                f'{shown} holds a list of objects, which is not read beside "{key}": keep one of '
                'them; what describes the image belongs under "metadata"'
            )
