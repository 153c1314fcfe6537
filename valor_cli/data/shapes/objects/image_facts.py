"""Reduce per-row values that describe images to one value per image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.values import LineProblems, describe
from valor_cli.kernels.geometry.rle import LARGEST_SIDE


class ImageFacts:
    """Columns with one value per image, repeated in each of its rows.

    Attributes:
        names: Of the columns.
        positions: Positions in a row.
    """

    __slots__ = ("_faults", "_lines", "_values", "names", "positions")

    def __init__(self, names: Sequence[str], positions: Sequence[int], faults: LineProblems):
        self.names = names
        self.positions = positions
        self._faults = faults
        self._values: dict[int, tuple[str, ...]] = {}
        self._lines: dict[int, int] = {}

    def note_rows(
        self, images: NDArray[np.int64], lines: NDArray[np.int64], columns: Sequence[Iterable[str]]
    ) -> None:
        """Record the values of many rows."""
        if not self.names:
            return
        values = zip(*columns, strict=True)
        for image, line, said in zip(images.tolist(), lines.tolist(), values, strict=True):
            self.note(image, line, said)

    def note(self, image: int, line: int, said: tuple[str, ...]) -> None:
        """Record the values of a row, which must equal those of the image's other rows."""
        before = self._values.get(image)
        if before is None:
            self._values[image] = said
            self._lines[image] = line
        elif before != said:
            for name, old, new in zip(self.names, before, said, strict=True):
                if old != new:
                    where = f"{describe(old)} in line {self._lines[image]}"
                    message = f"the image has {where} and {describe(new)} here"
                    self._faults.add(line, name, message)

    def values(self, name: str, count: int) -> list[str]:
        """The value of each of `count` images."""
        at = list(self.names).index(name)
        return [self._values[image][at] for image in range(count)]

    def sides(self, name: str, count: int) -> list[int]:
        """Width or height of each image; 0 where unknown. Faults are recorded."""
        if name not in self.names:
            return [0] * count
        sides: list[int] = []
        for image, value in enumerate(self.values(name, count)):
            side = _whole(value)
            if side is None:
                message = (
                    f"expected a whole number from 0 to {LARGEST_SIDE:,}, found {describe(value)}"
                )
                self._faults.add(self._lines[image], name, message)
            sides.append(side or 0)
        return sides


def _whole(value: str) -> int | None:
    try:
        side: Any = float(value or "0")
    except ValueError:
        return None
    return int(side) if side.is_integer() and 0 <= side <= LARGEST_SIDE else None
