"""Parse rows of an object CSV one at a time and report every fault.

The slow path: all messages about a row are written here. Where `csv_lines` returns columns, this
returns the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from valor_cli.data.column_names import number_in, wrong_field_count
from valor_cli.data.formats.csv.object_header import Header
from valor_cli.data.formats.csv.object_lines import CROWD
from valor_cli.data.shapes.objects.image_facts import ImageFacts
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.shapes.objects.rows import Codes, ObjectRows, Piece
from valor_cli.data.values import LARGEST_COORDINATE, LineProblems, describe


class RowReader:
    """Reads rows one by one.

    Attributes:
        empty: How many rows named an image without objects so far.
    """

    def __init__(
        self,
        header: Header,
        role: Role,
        labels: Codes,
        images: Codes,
        facts: ImageFacts,
        problems: LineProblems,
    ) -> None:
        self.empty = 0
        self._header = header
        self._role = role
        self._labels = labels
        self._images = images
        self._facts = facts
        self._problems = problems

    def piece(self, records: Sequence[Sequence[str]], lines: Sequence[int]) -> Piece:
        """The valid rows."""
        rows = ObjectRows(self._role)
        for record, line in zip(records, lines, strict=True):
            if len(record) == len(self._header.names):
                self._row(record, line, rows)
            else:
                expected = len(self._header.names)
                message = wrong_field_count(len(record), expected, self._header.delimiter, "label")
                self._problems.add(line, "", message)
        return rows.piece(self._problems)

    def _row(self, record: Sequence[str], line: int, rows: ObjectRows) -> None:
        header, problems, before = self._header, self._problems, self._problems.total
        image_id, label = (record[header.at[name]] for name in ("image_id", "label"))
        if not image_id:
            problems.add(line, self._name("image_id"), "expected the id of an image, found nothing")
            return
        sides = [record[header.at[name]].strip() for name in header.sides]
        if not label and not any(sides):
            self.empty += 1
            self._note_image(image_id, record, line)
            return
        if not label:
            problems.add(line, self._name("label"), "expected a label, found nothing")
        box = self._box(record, line)
        score, crowd, area = 0.0, False, math.nan
        if self._role == "predictions":
            score = self._number(record, "score", line)
        else:
            crowd = self._crowd(record, line)
            area = self._area(record, line)
        # An image stays one when its objects are left out.
        image = self._note_image(image_id, record, line)
        if problems.total > before:
            return
        if header.form == "rotated_box":
            rows.shapes.add_rotated_box(box)
        else:
            rows.shapes.add_box(box)
        identity = record[header.at["id"]] if "id" in header.at else ""
        rows.add(
            image,
            self._labels[label],
            line,
            position=-1,
            score=score,
            crowd=crowd,
            area=area,
            identity=identity or None,
        )

    def _note_image(self, image_id: str, record: Sequence[str], line: int) -> int:
        image = self._images[image_id]
        if self._facts.names:
            self._facts.note(image, line, tuple(record[at] for at in self._facts.positions))
        return image

    def _box(self, record: Sequence[str], line: int) -> list[float]:
        """The sides of a box; faults are noted."""
        before = self._problems.total
        names = self._header.sides
        box = [self._number(record, name, line) for name in names]
        if self._problems.total > before:
            return box
        for name, side in zip(names, box, strict=True):
            if abs(side) > LARGEST_COORDINATE:
                message = f"expected at most {LARGEST_COORDINATE} pixels, found {side!r}"
                self._problems.add(line, self._name(name), message)
        if self._header.form == "corners":
            for first, last in (("xmin", "xmax"), ("ymin", "ymax")):
                low, high = box[names.index(first)], box[names.index(last)]
                if high < low:
                    message = f"expected at least {self._name(first)} ({low!r}), found {high!r}"
                    self._problems.add(line, self._name(last), message)
            return [box[0], box[1], box[2] - box[0], box[3] - box[1]]
        for name in ("width", "height"):
            if box[names.index(name)] < 0:
                message = f"expected a {name} of 0 or more, found {box[names.index(name)]!r}"
                self._problems.add(line, self._name(name), message)
        return box

    def _number(self, record: Sequence[str], name: str, line: int) -> float:
        value, fault = number_in(record[self._header.at[name]])
        if fault:
            self._problems.add(line, self._name(name), fault)
        return value

    def _crowd(self, record: Sequence[str], line: int) -> bool:
        if "crowd" not in self._header.at:
            return False
        text = record[self._header.at["crowd"]].strip()
        crowd = CROWD.get(text.casefold())
        if crowd is None:
            message = f"expected 0, 1, true or false, found {describe(text)}"
            self._problems.add(line, self._name("crowd"), message)
        return bool(crowd)

    def _area(self, record: Sequence[str], line: int) -> float:
        if "area" not in self._header.at or not record[self._header.at["area"]].strip():
            return math.nan
        area = self._number(record, "area", line)
        if area < 0:
            message = f"expected an area of 0 or more, found {area!r}"
            self._problems.add(line, self._name("area"), message)
        return area

    def _name(self, name: str) -> str:
        """A column as the file calls it."""
        return self._header.names[self._header.at[name]]
