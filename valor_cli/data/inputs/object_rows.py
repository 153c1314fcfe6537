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

from valor_cli.data.batch import Batch, Block, RowFile, TypedReading
from valor_cli.data.column_names import number_in
from valor_cli.data.schema import cell_of
from valor_cli.data.shapes.objects.columns import ObjectColumns, columns_of
from valor_cli.data.shapes.objects.object_file import (
    ObjectFile,
    Piece,
    Role,
    id_column,
    text_column,
)
from valor_cli.data.shapes.objects.parse import CROWD, ObjectFields, ObjectParser, Sides
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.shapes.objects.rows import (
    ImageRows,
    Named,
    ObjectRows,
    checked_ids,
    in_line_order,
    joined_pieces,
    object_file,
)
from valor_cli.data.table import SKIP_HINT, RowProblems, Table
from valor_cli.data.tape import Column, Ints
from valor_cli.data.values import LARGEST_COORDINATE, describe, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.kernels.geometry.rle import LARGEST_SIDE
from valor_cli.results import InputFile

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
    columns = columns_of(
        file,
        names,
        role,
        wanted=reading.wanted,
        columns=reading.columns,
        metadata=reading.metadata,
    )
    rows = _Rows(file, columns, role, reading)
    wanted = [*columns.ways.values(), *((name,) for name in columns.metadata)]
    for block in file.blocks(typed=TypedReading(wanted)):
        rows.add(block)
    faults, problems = rows.facts.faults, rows.problems
    found = in_line_order(joined_pieces(rows.pieces, role))
    if role == "ground_truth":
        found.columns["id"] = _typed(found.columns["id"].tolist())
        found = checked_ids(found, problems)
    if reading.invalid == "error":
        stop_on([faults, problems], SKIP_HINT * bool(problems.total))
    images, values = _images(file.path, role, rows)
    stop_on([faults])
    skipped = rows.found - len(found.shapes)
    ids = list(rows.images.names)
    return object_file(
        file.path,
        found,
        images=images,
        image_ids=id_column(ids) if ids else text_column([]),
        labels=Named.in_order(rows.labels.names),
        files=[InputFile(file.path, file.sha256, rows.found, skipped)],
        metadata=values,
        skipped=skipped,
        image_names="text",
        place=file.place,
    )


class _Rows:
    """The rows of a file.

    Attributes:
        images, labels: Names that were found so far.
        facts: What rows say of their images.
        pieces: The objects.
        problems: Of rows.
        found: How many rows have an object, good or not.
    """

    def __init__(self, file: RowFile, columns: ObjectColumns, role: Role, reading: Reading) -> None:
        self.images, self.labels = Vocabulary(), Vocabulary()
        self.facts = _ImageFacts(columns, RowProblems(file.path, file.place))
        self.pieces: list[Piece] = []
        self.problems = RowProblems(file.path, file.place)
        self.found = 0
        self._columns = columns
        self._role = role
        self._parser = ObjectParser(role, reading.wanted, self.labels)

    def add(self, block: Block) -> None:
        """Add the rows of a block."""
        rejected: list[tuple[int, list[tuple[str, str]] | tuple[Any, int]]] = [*block.wrong]
        for batch in block.batches:
            if len(batch):
                rejected += self._add(batch)
        rows = ObjectRows(self._role)
        for line, why in sorted(rejected, key=lambda one: one[0]):
            if isinstance(why, list):
                self.found += 1
                for key, message in why:
                    self.problems.add(line, key, message)
            else:
                self._row(*why, line, rows)
        if rejected:
            self.pieces.append(rows.piece())

    def _add(self, batch: Batch) -> list[tuple[int, tuple[Any, int]]]:
        """Add rows; returns the line, record and image of each that must be read by itself."""
        ways = self._columns.ways
        held = {name: batch.at([way]) for name, way in ways.items()}
        image = held["image_id"].codes(self.images)
        sides = [held[name] for name in self._columns.sides]
        empty = held["label"].length == 0
        for side in sides:
            empty &= side.length == 0
        wrong = image < 0
        self.facts.add(batch, image, np.flatnonzero(~wrong))
        n = len(image)
        more = ("score",) if self._role == "predictions" else ("crowd", "area", "id")
        fields = ObjectFields(
            row=np.arange(n),
            line=batch.line,
            position=np.full(n, -1),
            label=held["label"],
            geometry=Sides(sides, self._columns.form == "corners"),
            unusable=wrong,
            **{name: held[name] for name in more if name in held},
        )
        piece = self._parser.parse(fields.take(~empty), np.zeros((n, 2), np.int64), wrong)
        columns = {**piece.columns, "image": image[piece.columns["image"]]}
        self.pieces.append(Piece(columns, piece.shapes))
        self.found += len(piece.shapes)
        rejected = np.flatnonzero(wrong).tolist()
        records = batch.records(rejected) if rejected else []
        return [
            (int(batch.line[at]), (record, int(image[at])))
            for at, record in zip(rejected, records, strict=True)
        ]

    def _row(self, record: Any, image: int, line: int, rows: ObjectRows) -> None:
        """Read a row that is wrong or unusual."""
        columns, problems, before = self._columns, self.problems, self.problems.total
        cells = {name: cell_of(record, way) for name, way in columns.ways.items()}
        self.found += 1
        if not cells["image_id"]:
            name = columns.name("image_id")
            problems.add(line, name, "expected the id of an image, found nothing")
            return
        if not cells["label"] and not any(cells[name].strip() for name in columns.sides):
            self.found -= 1
            return
        if not cells["label"]:
            problems.add(line, columns.name("label"), "expected a label, found nothing")
        box = self._box(cells, line)
        score, crowd, area = 0.0, False, math.nan
        if self._role == "predictions":
            score = self._number(cells, "score", line)
        else:
            crowd = self._crowd(cells, line)
            area = self._area(cells, line)
        if problems.total > before:
            return
        if columns.form == "rotated_box":
            rows.shapes.add_rotated_box(box)
        else:
            rows.shapes.add_box(box)
        rows.add(
            image,
            self.labels.code(cells["label"].encode()),
            line,
            position=-1,
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
            if abs(side) > LARGEST_COORDINATE:
                message = f"expected at most {LARGEST_COORDINATE} pixels, found {side!r}"
                self.problems.add(line, columns.name(name), message)
        if columns.form == "corners":
            for first, last in (("xmin", "xmax"), ("ymin", "ymax")):
                low, high = box[names.index(first)], box[names.index(last)]
                if high < low:
                    least = f"{columns.name(first)} ({low!r})"
                    message = f"expected at least {least}, found {high!r}"
                    self.problems.add(line, columns.name(last), message)
            return [box[0], box[1], box[2] - box[0], box[3] - box[1]]
        for name in ("width", "height"):
            if box[names.index(name)] < 0:
                message = f"expected a {name} of 0 or more, found {box[names.index(name)]!r}"
                self.problems.add(line, columns.name(name), message)
        return box

    def _number(self, cells: Mapping[str, str], name: str, line: int) -> float:
        value, fault = number_in(cells[name])
        if fault:
            self.problems.add(line, self._columns.name(name), fault)
        return value

    def _crowd(self, cells: Mapping[str, str], line: int) -> bool:
        text = cells.get("crowd", "").strip()
        crowd = CROWD.get(text.casefold())
        if crowd is None:
            message = f"expected 0, 1, true or false, found {describe(text)}"
            self.problems.add(line, self._columns.name("crowd"), message)
        return bool(crowd)

    def _area(self, cells: Mapping[str, str], line: int) -> float:
        if not cells.get("area", "").strip():
            return math.nan
        area = self._number(cells, "area", line)
        if area < 0:
            message = f"expected an area of 0 or more, found {area!r}"
            self.problems.add(line, self._columns.name("area"), message)
        return area


class _ImageFacts:
    """Columns with one value per image, repeated in each of its rows.

    Attributes:
        names: Of the columns.
        faults: Rows of an image that differ, and values that are no size.
    """

    def __init__(self, columns: ObjectColumns, faults: RowProblems) -> None:
        sides = {name: columns.ways[name] for name in _SIDES if name in columns.ways}
        self._ways = [*sides.values(), *((name,) for name in columns.metadata)]
        self.names, self.metadata = [*sides, *columns.metadata], columns.metadata
        self.faults = faults
        self._values: list[dict[Any, int]] = [{} for _ in self.names]
        # By image: its first line, and the codes of its values there.
        self._line = np.zeros(0, np.int64)
        self._code = np.zeros((0, len(self.names)), np.int64)

    def add(self, batch: Batch, image: Ints, chosen: Ints) -> None:
        """Add rows of images; these are numbered as they appear."""
        if not self.names or not len(chosen):
            return
        image, line = image[chosen], batch.line[chosen]
        columns = [batch.at([way]).take(chosen) for way in self._ways]
        pairs = zip(self._values, columns, strict=True)
        code = np.stack([_codes(known, one) for known, one in pairs], axis=1)
        new = np.flatnonzero(image >= len(self._line))
        _, first = np.unique(image[new], return_index=True)
        self._line = np.append(self._line, line[new[first]])
        self._code = np.concatenate([self._code, code[new[first]]])
        for at in np.flatnonzero((code != self._code[image]).any(axis=1)).tolist():
            self._differs(int(line[at]), int(image[at]), code[at].tolist())

    def _differs(self, line: int, image: int, codes: Sequence[int]) -> None:
        before = self._code[image].tolist()
        for name, known, old, new in zip(self.names, self._values, before, codes, strict=True):
            if old != new:
                values = list(known)
                there, here = ("" if values[at] is None else values[at] for at in (old, new))
                where = f"{describe(there)} in line {self._line[image]}"
                message = f"the image has {where} and {describe(here)} here"
                self.faults.add(line, name, message)

    def values(self, name: str) -> list[Any]:
        """The value of each image; None for none."""
        at = self.names.index(name)
        values = list(self._values[at])
        return [values[code] for code in self._code[:, at].tolist()]

    def sides(self, name: str, count: int) -> list[int]:
        """Width or height of each of some images; 0 where unknown. Faults are recorded."""
        if name not in self.names:
            return [0] * count
        sides: list[int] = []
        for line, value in zip(self._line.tolist(), self.values(name), strict=True):
            side = _whole(value)
            if side is None:
                message = (
                    f"expected a whole number from 0 to {LARGEST_SIDE:,}, found {describe(value)}"
                )
                self.faults.add(line, name, message)
            sides.append(side or 0)
        return sides


def _codes(known: dict[Any, int], column: Column) -> Ints:
    """(n,) codes of the values of a column."""
    named = Vocabulary()
    if column.tape.number is None:
        # Cells are texts, most of which say the same as the rows above.
        own = named.codes(column.tape.text, *column.spans())
        code = [known.setdefault(name or None, len(known)) for name in named.names]
        return np.array(code, np.int64)[own]
    found = [known.setdefault(value, len(known)) for value in column.scalars().tolist()]
    return np.array(found, np.int64)


def _whole(value: Any) -> int | None:
    try:
        side: Any = float(value or "0")
    except ValueError:
        return None
    return int(side) if side.is_integer() and 0 <= side <= LARGEST_SIDE else None


def _typed(ids: Sequence[Any]) -> Any:
    """Ids as numbers if all are."""
    numbers = [one for one in ids if isinstance(one, str) and one.isascii() and one.isdigit()]
    if len(numbers) == len(ids) and all(one == "0" or one[0] != "0" for one in numbers):
        return text_column([int(one) if len(one) < 19 else one for one in numbers])
    return text_column(ids)


def _images(path: str, role: Role, rows: _Rows) -> tuple[Table | None, dict[str, list[Any]]]:
    """The images of ground truth, in order of appearance, and their metadata.

    Raises:
        DataError: There are none.
    """
    if role == "predictions":
        return None, {}
    names, facts = list(rows.images.names), rows.facts
    if not names:
        raise DataError(Problem(path, "there are no images; at least one is needed"))
    count = len(names)
    images = ImageRows(
        ids=list(names),
        lines=[],
        width=facts.sides("image_width", count),
        height=facts.sides("image_height", count),
        file_name=[None] * count,
    )
    return images.table(path), {name: facts.values(name) for name in facts.metadata}
