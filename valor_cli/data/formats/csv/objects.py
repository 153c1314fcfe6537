"""Read objects from CSV, one box per line.

The first line names the columns (`object_header.ALIASES`): image_id and label; a box as x, y, width
and height, as xmin, ymin, xmax and ymax, or rotated as cx, cy, width, height and angle; score in
predictions; optionally id, crowd, area, image_width and image_height in ground truth. Fields are
separated by commas, semicolons, tabs or bars, and quoted with double quotes where needed. A row
with an empty label and box names an image without objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.data.formats.csv.object_header import Header, read_header
from valor_cli.data.formats.csv.object_rows import RowReader
from valor_cli.data.formats.csv.old_table import CsvRows, CsvTable, csv_head
from valor_cli.data.shapes.objects.object_file import (
    ObjectFile,
    Piece,
    Role,
    Wanted,
    id_column,
    text_column,
)
from valor_cli.data.shapes.objects.parse import ObjectFields, ObjectParser, Sides
from valor_cli.data.shapes.objects.rows import (
    ImageRows,
    Named,
    checked_ids,
    in_line_order,
    joined_pieces,
    object_file,
)
from valor_cli.data.source.files import TextSource
from valor_cli.data.table import SKIP_HINT, InvalidRows, Table
from valor_cli.data.tape import Ints
from valor_cli.data.values import LineProblems, describe, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.columns.spans import Vocabulary
from valor_cli.kernels.geometry.rle import LARGEST_SIDE
from valor_cli.results import InputFile

_SIDES = ("image_width", "image_height")


def read_csv(
    path: str,
    role: Role,
    *,
    wanted: Wanted = "box",
    metadata: Sequence[str] = (),
    invalid: InvalidRows = "error",
    columns: Mapping[str, str] | None = None,
) -> ObjectFile:
    """Read objects from a CSV file; image ids are text.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        role: Which side it is.
        wanted: Which form to take of a file that has boxes and rotated boxes.
        metadata: Columns to read for every image; all rows of an image must say the same.
        invalid: "skip" leaves out rows that cannot be used and counts them.
        columns: Standard name to the name in the file.

    Raises:
        DataError: The file cannot be read; a column is missing; a row or a value is wrong.
    """
    source = TextSource(path)
    head = csv_head(source)
    header = read_header(
        head.first, path, role, wanted=wanted, columns=columns or {}, metadata=metadata
    )
    rows = _Rows(header, role, wanted, path)
    table = CsvTable(path, header.delimiter, len(header.names), spaced=header.spaced)
    for some in table.rows(head.blocks, head.line):
        rows.add(some)
    faults, problems = rows.facts.faults, rows.problems
    found = in_line_order(joined_pieces(rows.pieces, role))
    if role == "ground_truth":
        found.columns["id"] = _typed(found.columns["id"].tolist())
        found = checked_ids(found, problems)
    if invalid == "error":
        stop_on([faults, problems], SKIP_HINT * bool(problems.total))
    images, values = _images(path, role, rows, header)
    stop_on([faults])
    skipped = rows.found - len(found.shapes)
    names = list(rows.images.names)
    return object_file(
        path,
        found,
        images=images,
        image_ids=id_column(names) if names else text_column([]),
        labels=Named.in_order(rows.labels.names),
        files=[InputFile(path, source.sha256, rows.found, skipped)],
        metadata=values,
        skipped=skipped,
        image_names="text",
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

    def __init__(self, header: Header, role: Role, wanted: Wanted, path: str) -> None:
        self.images, self.labels = Vocabulary(), Vocabulary()
        self.facts = _ImageFacts(header, LineProblems(path))
        self.pieces: list[Piece] = []
        self.problems = LineProblems(path)
        self.found = 0
        self._header = header
        self._role = role
        self._parser = ObjectParser(role, wanted, self.labels)
        self._slow = RowReader(header, role, self.labels, self.problems)

    def add(self, rows: CsvRows) -> None:
        """Add rows."""
        header, at, column = self._header, self._header.at, rows.column
        image = column(at["image_id"]).codes(self.images)
        label = column(at["label"])
        sides = [column(at[name]) for name in header.sides]
        empty = label.length == 0
        for side in sides:
            empty &= side.length == 0
        wrong = image < 0
        self.facts.add(rows, image, np.flatnonzero(~wrong))
        n = len(image)
        more = ("score",) if self._role == "predictions" else ("crowd", "area", "id")
        fields = ObjectFields(
            row=np.arange(n),
            line=rows.line,
            position=np.full(n, -1),
            label=label,
            geometry=Sides(sides, header.form == "corners"),
            unusable=wrong,
            **{name: column(at[name]) for name in more if name in at},
        )
        piece = self._parser.parse(fields.take(~empty), np.zeros((n, 2), np.int64), wrong)
        columns = {**piece.columns, "image": image[piece.columns["image"]]}
        self.pieces.append(Piece(columns, piece.shapes))
        self.found += n - int(np.count_nonzero(empty & ~wrong)) + len(rows.uneven)
        rejected = np.flatnonzero(wrong).tolist()
        if rejected or rows.uneven:
            left = {int(rows.line[at]): (rows.record(at), int(image[at])) for at in rejected}
            self.pieces.append(self._slow.piece(left, dict(rows.uneven)))
            self.found -= self._slow.empty
            self._slow.empty = 0


class _ImageFacts:
    """Columns with one value per image, repeated in each of its rows.

    Attributes:
        names: Of the columns.
        faults: Rows of an image that differ, and values that are no size.
    """

    def __init__(self, header: Header, faults: LineProblems) -> None:
        at = {name: header.at[name] for name in _SIDES if name in header.at}
        self._positions = [*at.values(), *header.metadata.values()]
        self.names = [*at, *header.metadata]
        self.faults = faults
        self._values = [Vocabulary() for _ in self.names]
        # By image: its first line, and the codes of its values there.
        self._line = np.zeros(0, np.int64)
        self._code = np.zeros((0, len(self.names)), np.int64)

    def add(self, rows: CsvRows, image: Ints, chosen: Ints) -> None:
        """Add rows of images; these are numbered as they appear."""
        if not self.names or not len(chosen):
            return
        image, line = image[chosen], rows.line[chosen]
        columns = [rows.column(at).take(chosen) for at in self._positions]
        pairs = zip(self._values, columns, strict=True)
        code = np.stack([known.codes(one.tape.text, *one.spans()) for known, one in pairs], axis=1)
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
                where = f"{describe(known.names[old])} in line {self._line[image]}"
                message = f"the image has {where} and {describe(known.names[new])} here"
                self.faults.add(line, name, message)

    def values(self, name: str) -> list[str]:
        """The value of each image."""
        at = self.names.index(name)
        names = self._values[at].names
        return [names[code] for code in self._code[:, at].tolist()]

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


def _whole(value: str) -> int | None:
    try:
        side: Any = float(value or "0")
    except ValueError:
        return None
    return int(side) if side.is_integer() and 0 <= side <= LARGEST_SIDE else None


def _typed(ids: Sequence[str | None]) -> Any:
    """Ids as numbers if all are."""
    numbers = [one for one in ids if one is not None and one.isascii() and one.isdigit()]
    if len(numbers) == len(ids) and all(one == "0" or one[0] != "0" for one in numbers):
        return text_column([int(one) if len(one) < 19 else one for one in numbers])
    return text_column(ids)


def _images(
    path: str, role: Role, rows: _Rows, header: Header
) -> tuple[Table | None, dict[str, list[Any]]]:
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
    values = {name: [value or None for value in facts.values(name)] for name in header.metadata}
    return images.table(path), values
