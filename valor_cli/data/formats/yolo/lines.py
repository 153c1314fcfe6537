"""Parse a YOLO label file into objects in pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.object_file import Piece, Role
from valor_cli.data.shapes.objects.rows import Frame, ObjectRows
from valor_cli.data.table import Columns
from valor_cli.data.values import LineProblems, describe
from valor_cli.kernels.geometry.shapes import Shapes

_SIDES = ("cx", "cy", "width", "height")
_NEAR = (-1, 2)
"""Range of coordinates in units of the image: predictions may reach over its edges."""

_WIDEST = 2
"""Of a width or height, likewise."""


class LabelReader:
    """Reads label files.

    Attributes:
        found: How many lines there were, good or not.
    """

    def __init__(self, role: Role, codes: Mapping[int, int], problems: LineProblems) -> None:
        """Say what is known.

        Args:
            role: Predictions need a score at the end of each line.
            codes: Class to the code of its label.
            problems: Where faults go; its `path` is the file's.
        """
        self.found = 0
        self._role: Role = role
        self._predicted = role == "predictions"
        self._codes = codes
        self._problems = problems
        self._rows = ObjectRows(role)

    def read(self, text: str, image: int, frame: Frame | None) -> Piece:
        """The objects of a file.

        Args:
            text: Its content.
            image: Position of its image.
            frame: Height and width; None where unknown, which only a file without objects may be.
        """
        lines = [line.split() for line in text.split("\n")]
        self.found += sum(map(bool, lines))
        if lines and not lines[-1]:
            lines.pop()
        # Python's float takes more than what other tools call a number.
        if frame is not None and text.isascii() and "_" not in text:
            piece = self._plain(lines, image, frame)
            if piece is not None:
                return piece
        self._rows = ObjectRows(self._role)
        for line, fields in enumerate(lines, 1):
            values = self._numbers(fields, line) if fields else None
            if values is None:
                continue
            label = self._label(values[0], fields[0], line)
            if label is not None and frame is not None:
                self._add(values[1:], image, label, frame, line)
        return self._rows.piece()

    def _plain(self, lines: Sequence[Sequence[str]], image: int, frame: Frame) -> Piece | None:
        """The objects of lines that are all boxes; None if anything is unusual."""
        n, k = len(lines), 5 + self._predicted
        if set(map(len, lines)) != {k}:
            return None
        try:
            numbers = np.fromiter(map(float, chain.from_iterable(lines)), np.float64, n * k)
        except ValueError:
            return None
        values = numbers.reshape(n, k)
        codes = [self._codes.get(number, -1) for number in values[:, 0].tolist()]
        if -1 in codes or not _in_range(values[:, 1:5]) or not np.isfinite(values).all():
            return None
        columns: Columns = {
            "image": np.full(n, image),
            "label": np.array(codes, np.int64),
            "line": np.arange(1, n + 1),
            "position": np.full(n, -1),
        }
        if self._predicted:
            columns["score"] = values[:, 5]
        else:
            columns |= {
                "crowd": np.zeros(n, np.bool_),
                "area": np.full(n, np.nan),
                "id": np.full(n, None, dtype=object),
            }
        return Piece(columns, Shapes.boxes(pixel_boxes(values[:, 1:5], frame)))

    def _numbers(self, fields: Sequence[str], line: int) -> list[float] | None:
        try:
            values = list(map(float, fields))
        except ValueError:
            values = []
        written = "".join(fields)
        plain = written.isascii() and "_" not in written
        if plain and values and all(map(math.isfinite, values)):
            return values
        for at, field in enumerate(fields, 1):
            try:
                sound = math.isfinite(float(field)) and field.isascii() and "_" not in field
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
        if len(sides) == 4:
            for name, side in zip(_SIDES[2:], sides[2:], strict=True):
                if side < 0:
                    message = f"expected a {name} of 0 or more, found {side!r}"
                    self._problems.add(line, "", message)
                    return
        if far := _out_of_range(sides):
            message = f"expected fractions of the image, found {far[0]:g} (pixels?)"
            self._problems.add(line, "", message)
            return
        if len(sides) == 4:
            box = pixel_boxes(np.array([sides]), frame)[0]
            self._rows.shapes.add_box(box.tolist())
        else:
            ring = _ring(sides, frame)
            if len(ring) < 6:
                message = f"expected a polygon of at least 3 points, found {len(ring) // 2}"
                self._problems.add(line, "", message)
                return
            self._rows.shapes.add_polygon([[ring]])
        self._rows.add(image, label, line, position=-1, score=score)

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


def _out_of_range(sides: Sequence[float]) -> list[float]:
    """The coordinates of a box or a polygon that are not fractions of the image."""
    count = 2 if len(sides) == 4 else len(sides)
    low, high = _NEAR
    far = [one for one in sides[:count] if not low <= one <= high]
    return far + [one for one in sides[count:] if one > _WIDEST]


def _in_range(sides: NDArray[np.float64]) -> bool:
    """Whether boxes, by centre and size, are fractions of the image and no size is negative."""
    centre, size = sides[:, :2], sides[:, 2:]
    low, high = _NEAR
    return bool(
        ((centre >= low) & (centre <= high)).all() and ((size >= 0) & (size <= _WIDEST)).all()
    )


def pixel_boxes(sides: NDArray[np.float64], frame: Frame) -> NDArray[np.float64]:
    """Left, top, width and height in pixels of boxes by their centre in units of the image.

    Args:
        sides: (n, 4) centre x, centre y, width, height.
        frame: Height and width of the image.
    """
    cx, cy, width, height = sides.T
    rows, columns = frame
    left, top = (cx - width / 2) * columns, (cy - height / 2) * rows
    return np.column_stack([left, top, width * columns, height * rows])


def _ring(sides: Sequence[float], frame: Frame) -> list[float]:
    rows, columns = frame
    points: NDArray[np.float64] = np.array(sides, np.float64).reshape(-1, 2) * (columns, rows)
    ring: list[float] = points.ravel().tolist()
    return ring[:-2] if len(ring) > 2 and ring[:2] == ring[-2:] else ring
