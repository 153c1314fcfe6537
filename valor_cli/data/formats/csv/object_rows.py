"""Read rows of CSV one by one: those that are wrong, to say what is, and unusual ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from valor_cli.data.column_names import number_in, wrong_field_count
from valor_cli.data.formats.csv.object_header import Header
from valor_cli.data.shapes.objects.object_file import Piece, Role
from valor_cli.data.shapes.objects.parse import CROWD
from valor_cli.data.shapes.objects.rows import ObjectRows
from valor_cli.data.values import LARGEST_COORDINATE, LineProblems, describe
from valor_cli.kernels.columns.spans import Vocabulary


class RowReader:
    """Reads rows one by one.

    Attributes:
        empty: How many rows named an image without objects so far.
    """

    def __init__(
        self, header: Header, role: Role, labels: Vocabulary, problems: LineProblems
    ) -> None:
        self.empty = 0
        self._header = header
        self._role = role
        self._labels = labels
        self._problems = problems

    def piece(
        self,
        records: Mapping[int, tuple[Sequence[str], int]],
        uneven: Mapping[int, int],
    ) -> Piece:
        """The valid rows.

        Args:
            records: By line, the cells of a row and the code of its image.
            uneven: By line, how many cells a row has, which are not as many as the header.
        """
        rows = ObjectRows(self._role)
        header = self._header
        for line in sorted([*records, *uneven]):
            if line in records:
                self._row(*records[line], line, rows)
            else:
                expected = len(header.names)
                message = wrong_field_count(uneven[line], expected, header.delimiter, "label")
                self._problems.add(line, "", message)
        return rows.piece()

    def _row(self, record: Sequence[str], image: int, line: int, rows: ObjectRows) -> None:
        header, problems, before = self._header, self._problems, self._problems.total
        image_id, label = (record[header.at[name]] for name in ("image_id", "label"))
        if not image_id:
            problems.add(line, self._name("image_id"), "expected the id of an image, found nothing")
            return
        sides = [record[header.at[name]].strip() for name in header.sides]
        if not label and not any(sides):
            self.empty += 1
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
        if problems.total > before:
            return
        if header.form == "rotated_box":
            rows.shapes.add_rotated_box(box)
        else:
            rows.shapes.add_box(box)
        identity = record[header.at["id"]] if "id" in header.at else ""
        rows.add(
            image,
            self._labels.code(label.encode()),
            line,
            position=-1,
            score=score,
            crowd=crowd,
            area=area,
            identity=identity or None,
        )

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
