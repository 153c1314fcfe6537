"""The text of a YOLO label file comes in; its objects go out in pixels, faults are noted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.readers.checks import LARGEST_COORDINATE, describe
from valor_cli.readers.object_rows import LineProblems, ObjectRows
from valor_cli.readers.objects import Role
from valor_cli.readers.shape_rows import Frame

_SIDES = ("cx", "cy", "width", "height")
_LARGEST = LARGEST_COORDINATE / 1e9
"""Of a number in units of the image: in pixels it still has its place."""


class LabelReader:
    """Reads label files.

    Attributes:
        rows: The objects so far.
        found: How many lines there were, good or not.
    """

    def __init__(self, role: Role, codes: Mapping[int, int], problems: LineProblems) -> None:
        """Say what is known.

        Args:
            role: Predictions need a score at the end of each line.
            codes: Class to the code of its label.
            problems: Where faults go; its `path` is the file's.
        """
        self.rows = ObjectRows(role)
        self.found = 0
        self._predicted = role == "predictions"
        self._codes = codes
        self._problems = problems

    def read(self, text: str, image: int, frame: Frame | None) -> None:
        """Add the objects of a file.

        Args:
            text: Its content.
            image: Position of its image.
            frame: Height and width; None where unknown, which only a file without objects may be.
        """
        for line, content in enumerate(text.split("\n"), 1):
            fields = content.split()
            if not fields:
                continue
            self.found += 1
            values = self._numbers(fields, line)
            if values is None:
                continue
            label = self._label(values[0], fields[0], line)
            if label is not None and frame is not None:
                self._add(values[1:], image, label, frame, line)

    def _numbers(self, fields: Sequence[str], line: int) -> list[float] | None:
        try:
            values = list(map(float, fields))
        except ValueError:
            values = []
        # Python's float takes more than what other tools call a number.
        if values and all(map(math.isfinite, values)) and "_" not in "".join(fields):
            return values
        for at, field in enumerate(fields, 1):
            try:
                sound = math.isfinite(float(field)) and "_" not in field
            except ValueError:
                sound = False
            if not sound:
                message = f"expected a finite number, found {describe(field)}"
                self._problems.add(line, f"field {at}", message)
        return None

    def _label(self, value: float, field: str, line: int) -> int | None:
        code = self._codes.get(int(value)) if value.is_integer() else None
        if code is not None:
            return code
        if not value.is_integer() or value < 0:
            message = f"expected a class of 0, 1, 2, …, found {field}"
        else:
            message = (
                f"there is no name for class {int(value)} ({len(self._codes)} names are known)"
            )
        self._problems.add(line, "", message)
        return None

    def _add(
        self, values: Sequence[float], image: int, label: int, frame: Frame, line: int
    ) -> None:
        n = len(values)
        scored = n == 5 or (n >= 7 and n % 2 == 1)
        if n < 4 or (self._predicted and not scored):
            self._problems.add(line, "", self._expected(n))
            return
        score = values[-1] if scored else 0.0
        sides = values[:-1] if scored else values
        if any(abs(side) > _LARGEST for side in sides):
            self._problems.add(line, "", f"expected numbers of at most {_LARGEST}")
            return
        if len(sides) == 4:
            for name, side in zip(_SIDES[2:], sides[2:], strict=True):
                if side < 0:
                    message = f"expected a {name} of 0 or more, found {side!r}"
                    self._problems.add(line, "", message)
                    return
            self.rows.shapes.add_box(pixel_box(sides, frame))
        else:
            ring = _ring(sides, frame)
            if len(ring) < 6:
                message = f"expected a polygon of at least 3 points, found {len(ring) // 2}"
                self._problems.add(line, "", message)
                return
            self.rows.shapes.add_polygon([[ring]])
        self.rows.add(image, label, line, position=-1, score=score)

    def _expected(self, found: int) -> str:
        if not self._predicted:
            return (
                "expected a class and cx, cy, width, height, or a class and x, y, x, y, … of a "
                f"polygon, found a class and {found} numbers"
            )
        hint = ""
        if found == 4 or (found >= 6 and found % 2 == 0):
            hint = ": the score is missing; predict with save_conf=True"
        return (
            "expected a class, cx, cy, width, height and a score, or a class, x, y, x, y, … of a "
            f"polygon and a score, found a class and {found} numbers{hint}"
        )


def pixel_box(sides: Sequence[float], frame: Frame) -> list[float]:
    """Left, top, width and height in pixels of a box by its centre in units of the image."""
    cx, cy, width, height = sides
    rows, columns = frame
    return [
        (cx - width / 2) * columns,
        (cy - height / 2) * rows,
        width * columns,
        height * rows,
    ]


def _ring(sides: Sequence[float], frame: Frame) -> list[float]:
    rows, columns = frame
    points: NDArray[np.float64] = np.array(sides, np.float64).reshape(-1, 2) * (columns, rows)
    ring: list[float] = points.ravel().tolist()
    return ring[:-2] if len(ring) > 2 and ring[:2] == ring[-2:] else ring
