"""Lines of any JSON come in; columns of their objects go out, with a noted problem per fault.

The slow reading: it owns every message about the content of a line. Where `jsonl_lines` finds
columns, this finds the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from valor_cli.errors import printable
from valor_cli.kernels.rle import LARGEST_SIDE
from valor_cli.readers.checks import LineProblems, describe, number, text
from valor_cli.readers.json_geometry import GEOMETRIES, GeometryReader, geometry_of
from valor_cli.readers.mask_files import MaskFiles
from valor_cli.readers.object_rows import Codes, ImageRows, ObjectRows, Piece
from valor_cli.readers.objects import Role, Wanted

_LISTED_KEYS = 12
_SHOWN = 40
_OF_AN_OBJECT = ("label", "score", "category_id", "bbox", "segmentation", *GEOMETRIES)
"""Keys that have no meaning beside `image_id`."""

_LONGEST_INTEGER = 4000
"""Digits. Python refuses to convert more than 4,300 by default."""


class LineReader:
    """Reads lines one by one.

    Attributes:
        found: How many objects there were so far, good or not.
    """

    def __init__(
        self,
        role: Role,
        wanted: Wanted,
        labels: Codes,
        images: ImageRows,
        records: list[dict[str, Any]] | None,
        masks: MaskFiles,
        faults: LineProblems,
        problems: LineProblems,
    ) -> None:
        """Say where things go.

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
        self._faults = faults
        self._problems = problems

    def piece(self, block: bytes, first: int) -> Piece:
        """The objects of a block of whole lines, the first of which has the number `first`."""
        rows = ObjectRows(self._role)
        geometry = GeometryReader(rows.shapes, self._masks, self._problems)
        for line, content in enumerate(block.split(b"\n"), first):
            if content.strip():
                self._line(content, line, rows, geometry)
        return rows.piece(self._problems)

    def _line(self, content: bytes, line: int, rows: ObjectRows, geometry: GeometryReader) -> None:
        record = self._parsed(content, line)
        if record is None:
            return
        before = self._faults.total
        if "image_id" not in record:
            self._faults.add(line, "", f'"image_id" is missing ({_there(record)})')
        width, height = (self._side(record, key, line) for key in ("width", "height"))
        name = record.get("file_name")
        if name is not None:
            name = text(name, self._faults, line, "file_name")
        objects = record.get("objects", [])
        stray = [key for key in _OF_AN_OBJECT if key in record]
        if "objects" not in record and stray:
            message = (
                f'"objects" is missing, yet there is {", ".join(stray)}: '
                "each line is an image with the list of its objects"
            )
            self._faults.add(line, "", message)
        if not isinstance(objects, list):
            message = f"expected a list, found {describe(objects)}"
            self._faults.add(line, "objects", message)
        if self._faults.total > before:
            return
        images = self._images
        image = len(images.ids)
        images.ids.append(record["image_id"])
        images.lines.append(line)
        images.width.append(width)
        images.height.append(height)
        images.file_name.append(name)
        if self._records is not None:
            self._records.append({key: record[key] for key in record if key != "objects"})
        geometry.frame = (height, width)
        self.found += len(objects)
        for position, value in enumerate(objects):
            self._object(value, image, line, position, rows, geometry)

    def _object(
        self,
        value: object,
        image: int,
        line: int,
        position: int,
        rows: ObjectRows,
        geometry: GeometryReader,
    ) -> None:
        problems, key = self._problems, f"objects[{position}]"
        if not isinstance(value, dict):
            problems.add(line, key, f"expected an object, found {describe(value)}")
            return
        predicted = self._role == "predictions"
        missing = [one for one in ("label", "score")[: 1 + predicted] if one not in value]
        if missing:
            names = " and ".join(f'"{one}"' for one in missing)
            verb = "is" if len(missing) == 1 else "are"
            problems.add(line, key, f"{names} {verb} missing ({_there(value)})")
            return
        kind = geometry_of(value, self._wanted)
        if kind is None:
            names = ", ".join(reversed(GEOMETRIES))
            problems.add(line, key, f"there is no geometry, one of {names} ({_there(value)})")
            return
        before = problems.total
        label = text(value["label"], problems, line, f"{key}.label")
        score, crowd, area = 0.0, False, math.nan
        if predicted:
            score = number(value["score"], problems, line, f"{key}.score") or 0.0
        else:
            crowd = self._crowd(value, line, key)
            area = self._area(value, line, key)
        # Last, for what is added to the shapes must become a row.
        if problems.total > before or label is None:
            geometry = GeometryReader(ObjectRows(self._role).shapes, self._masks, problems)
            geometry.add(kind, value[kind], line, f"{key}.{kind}")
            return
        if geometry.add(kind, value[kind], line, f"{key}.{kind}"):
            rows.add(
                image,
                self._labels[label],
                line,
                position=position,
                key=f"{key}.{kind}.counts",
                score=score,
                crowd=crowd,
                area=area,
                identity=value.get("id"),
            )

    def _parsed(self, content: bytes, line: int) -> dict[str, Any] | None:
        try:
            value = _json(content)
        except json.JSONDecodeError as error:
            message = f"not JSON ({error.msg}, column {error.colno}); each line is one JSON object"
            self._faults.add(line, "", message)
            return None
        except RecursionError:
            self._faults.add(line, "", "the JSON is nested too deeply to be read")
            return None
        if isinstance(value, dict):
            return value
        message = f"expected an object with image_id and objects, found {describe(value)}"
        self._faults.add(line, "", message)
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
        self._faults.add(line, key, message)
        return 0

    def _crowd(self, value: Mapping[str, Any], line: int, key: str) -> bool:
        crowd = value.get("crowd", False)
        if type(crowd) in (int, bool) and crowd in (0, 1):
            return bool(crowd)
        message = f"expected 0, 1, true or false, found {describe(crowd)}"
        self._problems.add(line, f"{key}.crowd", message)
        return False

    def _area(self, value: Mapping[str, Any], line: int, key: str) -> float:
        """The area that the object says; NaN where it is the shape's own."""
        if value.get("area") is None:
            return math.nan
        area = number(value["area"], self._problems, line, f"{key}.area")
        if area is not None and area < 0:
            message = f"expected an area of 0 or more, found {describe(value['area'])}"
            self._problems.add(line, f"{key}.area", message)
        return math.nan if area is None else area


def _json(content: bytes) -> object:
    """A JSON value as `json.loads` has it: with NaN and lone surrogates, to be named later."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return json.loads(content.decode("utf-8"), parse_int=_integer)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def _there(record: Mapping[str, Any]) -> str:
    names = ", ".join(printable(key[:_SHOWN]) for key in list(record)[:_LISTED_KEYS])
    return f"there is: {names or 'nothing'}"
