"""Read objects from a table of any format, one object a row.

Columns (`shapes.objects.columns.ALIASES`): image_id and label; a box as x, y, width and height, as
xmin, ymin, xmax and ymax, or rotated as cx, cy, width, height and angle; score in predictions;
optionally id, crowd, area, image_width and image_height in ground truth. A row with an empty label
and box names an image without objects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.data.batch import Batch, Fault, RowFile, TypedReading
from valor_cli.data.column_names import number_in
from valor_cli.data.inputs.row_objects import ObjectReader, coder
from valor_cli.data.schema import cell_of, value_at
from valor_cli.data.shapes.objects.checks import crowd_flag, image_side, side_fault
from valor_cli.data.shapes.objects.columns import ObjectColumns, columns_of
from valor_cli.data.shapes.objects.object_file import ObjectFile, Piece, Role, text_column
from valor_cli.data.shapes.objects.parse import CROWD, ObjectFields
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import ImageRows, ObjectRows
from valor_cli.data.table import Problems
from valor_cli.data.tape import NUMBER, Bools, Column, Ints
from valor_cli.data.values import describe
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.kernels.geometry.shapes import BOX, ROTATED_BOX

_SIDES = ("image_width", "image_height")


def read_object_rows(
    file: RowFile, names: Sequence[str], role: Role, reading: Reading
) -> ObjectFile:
    """The objects of a table; image ids are text.

    Args:
        file: The table.
        names: Its columns, or the keys of its rows.
        role: Which side it is.
        reading: How to read it; metadata are columns of which all rows of an image must say the
            same.

    Raises:
        DataError: The file cannot be read; a column is missing; a row or a value is wrong.
    """
    columns = columns_of(file, names, role, reading)
    rows = _Rows(file, role, reading, columns)
    wanted = [*columns.ways.values(), *((name,) for name in columns.metadata)]
    found = rows.read(TypedReading(wanted))
    if role == "ground_truth":
        found.columns["id"] = _typed(found.columns["id"].tolist())
    return rows.object_file(
        found,
        rows.all_images(),
        reading.invalid,
        lambda: {name: rows.facts.values(name) for name in columns.metadata},
        listed=role == "ground_truth",
        image_names="text",
    )


class _Rows(ObjectReader):
    """The rows of a table.

    Attributes:
        images: Names that were found so far.
        facts: What rows say of their images.
    """

    def __init__(self, file: RowFile, role: Role, reading: Reading, columns: ObjectColumns) -> None:
        super().__init__(file, role, reading)
        self.images = Vocabulary()
        self._image_code = coder(self.images)
        self.facts = _ImageFacts(columns, self.faults)
        self._columns = columns

    def all_images(self) -> ImageRows:
        """The images, in order of appearance."""
        ids = list(self.images.names)
        width, height = (self.facts.sides(name, len(ids)) for name in _SIDES)
        return ImageRows(list(ids), [], width, height, [None] * len(ids))

    def columns(self, batch: Batch) -> tuple[Piece, Bools]:
        """The objects of a batch, and (n,) which rows are read one by one instead."""
        held = {name: batch.at([way]) for name, way in self._columns.ways.items()}
        image_id = held.pop("image_id")
        image = image_id.codes(self.images)
        # Decimal numbers of typed columns have no text yet.
        decimal = np.flatnonzero((image < 0) & image_id.is_of(NUMBER))
        image[decimal] = list(map(self._image_code, image_id.take(decimal).texts()))
        said = [held[name] for name in ("label", *self._columns.sides)]
        empty = np.all([(one.length == 0) & ~one.is_of(NUMBER) for one in said], axis=0)
        wrong, n = image < 0, len(image)
        self.facts.add(batch, image, np.flatnonzero(~wrong))
        fields = ObjectFields(
            row=np.arange(n),
            line=batch.line,
            position=np.full(n, -1),
            unusable=wrong,
            values=held,
            form=self._columns.form,
        )
        piece = self._parser.parse(fields.take(~empty), np.zeros((n, 2), np.int64), wrong)
        piece.columns["image"] = image[piece.columns["image"]]
        return piece, wrong

    def refuse(self, line: int, faults: Sequence[Fault]) -> None:
        """Note what is wrong with a row, which counts as an object."""
        self.found += 1
        for key, message in faults:
            self.problems.add(line, key, message)

    def row(self, record: Any, line: int, rows: ObjectRows) -> None:
        """Read a row that is wrong or unusual."""
        columns, before = self._columns, self.problems.total
        values = {name: value_at(record, way) for name, way in columns.ways.items()}
        several = {name: one for name, one in values.items() if isinstance(one, list | dict)}
        if several:
            self.found += 1
            for name, one in several.items():
                self._note(line, name, f"expected a single value, found {describe(one)}")
            return
        cells = {name: cell_of(record, way) for name, way in columns.ways.items()}
        sides = (cells[name].strip() for name in columns.sides)
        if cells["image_id"] and not cells["label"] and not any(sides):
            return
        self.found += 1
        if not cells["image_id"]:
            self._note(line, "image_id", "expected the id of an image, found nothing")
            return
        if not cells["label"]:
            self._note(line, "label", "expected a label, found nothing")
        box = self._box(cells, line)
        score, area = 0.0, math.nan
        if self._role == "predictions":
            score = self._number(cells, "score", line)
        crowd = False
        if said := cells.get("crowd", "").strip():
            value = values["crowd"]
            # The numbers of a typed column are 1.0 where others of it are null.
            flag = int(value) if isinstance(value, float) and value in (0, 1) else said
            value = CROWD.get(said.casefold(), flag)
            crowd = crowd_flag(value, self.problems, line, columns.name("crowd"))
        if cells.get("area", "").strip():
            area = self._number(cells, "area", line)
            if area < 0:
                self._note(line, "area", f"expected an area of 0 or more, found {area!r}")
        if self.problems.total == before:
            rows.add(
                ROTATED_BOX if columns.form == "rotated_box" else BOX,
                box,
                self._image_code(cells["image_id"]),
                self.label_code(cells["label"]),
                line,
                score=score,
                crowd=crowd,
                area=area,
                identity=cells.get("id") or None,
            )

    def _box(self, cells: Mapping[str, str], line: int) -> list[float]:
        """The sides of a box; faults are noted."""
        before = self.problems.total
        columns, names = self._columns, self._columns.sides
        box = [self._number(cells, name, line) for name in names]
        if self.problems.total > before:
            return box
        for name, side in zip(names, box, strict=True):
            self._note(line, name, side_fault(name, side, side))
        if columns.form != "corners":
            return box
        left, top, right, bottom = box
        for first, low, last, high in (
            ("xmin", left, "xmax", right),
            ("ymin", top, "ymax", bottom),
        ):
            if high < low:
                least = f"{columns.name(first)} ({low!r})"
                self._note(line, last, f"expected at least {least}, found {high!r}")
        return [left, top, right - left, bottom - top]

    def _number(self, cells: Mapping[str, str], name: str, line: int) -> float:
        value, fault = number_in(cells[name])
        self._note(line, name, fault)
        return value

    def _note(self, line: int, name: str, fault: str) -> None:
        """Note what is wrong with a cell, if anything is."""
        if fault:
            self.problems.add(line, self._columns.name(name), fault)


class _ImageFacts:
    """Columns with one value per image, repeated in each of its rows.

    Rows of an image that differ, and values that are no size, are faults.
    """

    def __init__(self, columns: ObjectColumns, faults: Problems) -> None:
        ways = {name: columns.ways[name] for name in _SIDES if name in columns.ways}
        self._ways = {**ways, **{name: (name,) for name in columns.metadata}}
        self._known: dict[str, dict[Any, int]] = {name: {} for name in self._ways}
        self._faults = faults
        # By image: its first line, and the codes of its values there.
        self._line = np.zeros(0, np.int64)
        self._code = np.zeros((0, len(self._ways)), np.int64)

    def add(self, batch: Batch, image: Ints, chosen: Ints) -> None:
        """Add rows of images; these are numbered as they appear."""
        if not self._ways or not len(chosen):
            return
        image, line = image[chosen], batch.line[chosen]
        columns = [batch.at([way]).take(chosen) for way in self._ways.values()]
        pairs = zip(self._known.values(), columns, strict=True)
        code = np.stack([_codes(known, one) for known, one in pairs], axis=1)
        new = np.flatnonzero(image >= len(self._line))
        _, first = np.unique(image[new], return_index=True)
        self._line = np.append(self._line, line[new[first]])
        self._code = np.concatenate([self._code, code[new[first]]])
        for at, column in np.argwhere(code != self._code[image]).tolist():
            name, before = list(self._ways)[column], int(image[at])
            values = list(self._known[name])
            found = (values[one[column]] for one in (self._code[before], code[at]))
            there, here = ("" if value is None else value for value in found)
            where = f"{describe(there)} in line {self._line[before]}"
            message = f"the image has {where} and {describe(here)} here"
            self._faults.add(int(line[at]), name, message)

    def values(self, name: str) -> list[Any]:
        """The value of each image; None for none."""
        values = list(self._known[name])
        return [values[code] for code in self._code[:, list(self._ways).index(name)].tolist()]

    def sides(self, name: str, count: int) -> list[int]:
        """Width or height of each of some images; 0 where unknown. Faults are recorded."""
        if name not in self._ways:
            return [0] * count
        said = zip(self.values(name), self._line.tolist(), strict=True)
        return [
            image_side(_number_of(value or 0), value, self._faults, line, name)
            for value, line in said
        ]


def _codes(known: dict[Any, int], column: Column) -> Ints:
    """(n,) codes of the values of a column."""
    named = Vocabulary()
    if column.is_cells:
        # Cells are texts, most of which say the same as the rows above.
        own = named.codes(column.tape.text, *column.spans())
        code = [known.setdefault(name or None, len(known)) for name in named.names]
        return np.array(code, np.int64)[own]
    found = [known.setdefault(value, len(known)) for value in column.scalars().tolist()]
    return np.array(found, np.int64)


def _number_of(value: Any) -> float:
    return number_in(value)[0] if isinstance(value, str) else float(value)


def _typed(ids: Sequence[Any]) -> Any:
    """Ids as numbers if all are."""
    numbers = [one for one in ids if isinstance(one, str) and one.isascii() and one.isdigit()]
    if len(numbers) == len(ids) and all(one == "0" or one[0] != "0" for one in numbers):
        return text_column([int(one) if len(one) < 19 else one for one in numbers])
    return text_column(ids)
