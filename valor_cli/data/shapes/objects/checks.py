"""Check values of parsed JSON objects and report what is wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.json_records import present_keys
from valor_cli.data.table import Problems
from valor_cli.data.values import LARGEST_COORDINATE, describe, number
from valor_cli.kernels.geometry import rle

_LONGEST: Final = 12
"""Characters of a number of compressed counts."""

_AXES = ("height", "width")


class Size(NamedTuple):
    """Height and width of an image; 0 where unknown."""

    height: int
    width: int


class Runs(NamedTuple):
    """A run-length mask."""

    counts: Sequence[int]
    size: Size


UNKNOWN: Final = Size(0, 0)


def missing_keys(keys: Sequence[str], record: Mapping[str, Any]) -> str:
    """The message for missing keys, with the keys that are present."""
    return f"{_are_missing(keys)} ({present_keys(dict(record))})"


def _are_missing(keys: Sequence[str]) -> str:
    names = " and ".join(f'"{key}"' for key in keys)
    return f"{names} {'is' if len(keys) == 1 else 'are'} missing"


def main_kind(ids: Iterable[Any]) -> type[int] | type[str]:
    """The most frequent type of ids."""
    strings = numbers = 0
    for one in ids:
        strings += isinstance(one, str)
        numbers += isinstance(one, int | float)
    return str if strings > numbers else int


def quoted(found: int | str) -> str:
    """An id for a message."""
    return describe(found).removeprefix("the string ")


def crowd_flag(value: object, problems: Problems, row: int, key: str) -> bool:
    """Whether an object is a crowd; false if a problem was recorded."""
    if type(value) in (int, bool) and value in (0, 1):
        return bool(value)
    problems.add(row, key, f"expected 0, 1, true or false, found {describe(value)}")
    return False


def stated_area(value: object, problems: Problems, row: int, key: str) -> float:
    """An area in pixels; NaN if a problem was recorded."""
    area = number(value, problems, row, key)
    if area is not None and area < 0:
        problems.add(row, key, f"expected an area of 0 or more, found {describe(value)}")
    return math.nan if area is None else area


def image_side(
    side: object, shown: object, problems: Problems, row: int, key: str, *, least: int = 0
) -> int:
    """The width or height of an image; 0 if it is not said, or a problem was recorded.

    Args:
        side: As a number, or None.
        shown: As the file says it.
        problems, row, key: Where to note what is wrong.
        least: The smallest that it may be.
    """
    found = 0 if side is None else whole(side, least, rle.LARGEST_SIDE)
    if found is None:
        expected = f"a whole number from {least} to {rle.LARGEST_SIDE:,}"
        problems.add(row, key, f"expected {expected}, found {describe(shown)}")
    return found or 0


def box(value: object, problems: Problems, row: int, key: str) -> list[float] | None:
    """A box as x, y, width, height in pixels."""
    if not isinstance(value, list):
        message = f"expected a list of x, y, width and height, found {describe(value)}"
        problems.add(row, key, message)
        return None
    return _sides(value, ("x", "y", "width", "height"), " pixels", problems, row, key)


def rotated_box(value: object, problems: Problems, row: int, key: str) -> list[float] | None:
    """A rotated box as centre x, centre y, width, height and degrees."""
    return _sides(value, ("cx", "cy", "width", "height", "degrees"), "", problems, row, key)


def _sides(
    value: object, names: Sequence[str], unit: str, problems: Problems, row: int, key: str
) -> list[float] | None:
    """The sides of a box; None if a problem was recorded."""
    if not isinstance(value, list) or len(value) != len(names):
        found = len(value) if isinstance(value, list) else describe(value)
        expected = f"{len(names)} numbers ({', '.join(names)})"
        problems.add(row, key, f"expected {expected}, found {found}")
        return None
    before = problems.total
    sides: list[float] = []
    for at, (name, one) in enumerate(zip(names, value, strict=True)):
        side = number(one, problems, row, f"{key}[{at}]")
        if side is None:
            continue
        sides.append(side)
        if fault := side_fault(name, side, one, unit):
            problems.add(row, f"{key}[{at}]", fault)
    return sides if problems.total == before else None


def side_fault(name: str, side: float, found: object, unit: str = " pixels") -> str:
    """What is wrong with a side of a box; empty for nothing.

    Args:
        name: Of the side.
        side: Its length.
        found: The same as the file says it.
        unit: Of the largest.
    """
    if abs(side) > LARGEST_COORDINATE:
        return f"expected at most {LARGEST_COORDINATE}{unit}, found {describe(found)}"
    if name in ("width", "height") and side < 0:
        return f"expected a {name} of 0 or more, found {describe(found)}"
    return ""


def coordinates(
    values: Sequence[Any], problems: Problems, row: int, key: str
) -> list[float] | None:
    """Coordinates in pixels; None if a problem was recorded."""
    if set(map(type, values)) == {float}:
        found: NDArray[np.float64] = np.array(values, np.float64)
        if (np.abs(found) <= LARGEST_COORDINATE).all():
            return list(values)
    before = problems.total
    read: list[float] = []
    for at, one in enumerate(values):
        side = number(one, problems, row, f"{key}[{at}]")
        if side is not None and abs(side) > LARGEST_COORDINATE:
            message = f"expected at most {LARGEST_COORDINATE} pixels, found {describe(one)}"
            problems.add(row, f"{key}[{at}]", message)
        read.append(0.0 if side is None else side)
    return read if problems.total == before else None


def run_lengths(
    value: Mapping[str, Any],
    image: Size,
    problems: Problems,
    row: int,
    key: str,
    *,
    least: int = 1,
) -> Runs | None:
    """Run lengths, compressed or not; faults are noted.

    Args:
        value: An object with size and counts.
        image: Size that they must have.
        problems, row, key: Where to note what is wrong.
        least: Of a height or width.
    """
    missing = [name for name in ("size", "counts") if name not in value]
    if missing:
        problems.add(row, key, f"{_are_missing(missing)}; run lengths have size and counts")
        return None
    size = _size(value["size"], image, least, problems, row, f"{key}.size")
    counts = _counts(value["counts"], problems, row, f"{key}.counts")
    if size is None or counts is None:
        return None
    pixels, total = size.height * size.width, sum(counts)
    if total != pixels:
        expected = f"counts that add up to {size.height} * {size.width} = {pixels:,} pixels"
        problems.add(row, f"{key}.counts", f"expected {expected}, found {_shown(total)}")
        return None
    return Runs(counts, size)


def _size(
    value: object, image: Size, least: int, problems: Problems, row: int, key: str
) -> Size | None:
    if not isinstance(value, list) or len(value) != 2:
        found = len(value) if isinstance(value, list) else describe(value)
        problems.add(row, key, f"expected 2 whole numbers (height, width), found {found}")
        return None
    sides = [whole(side, least, rle.LARGEST_SIDE) for side in value]
    for axis, side in enumerate(sides):
        if side is None:
            expected = f"a {_AXES[axis]} from {least} to {rle.LARGEST_SIDE:,}"
            message = f"expected {expected}, found {describe(value[axis])}"
            problems.add(row, f"{key}[{axis}]", message)
        elif image[axis] and side != image[axis]:
            message = f"expected the {_AXES[axis]} of its image, {image[axis]}, found {side}"
            problems.add(row, f"{key}[{axis}]", message)
    known = [side for side in sides if side is not None]
    return Size(*known) if len(known) == 2 else None


def _counts(value: object, problems: Problems, row: int, key: str) -> list[int] | None:
    if isinstance(value, list):
        counts = [whole(count, 0, None) for count in value]
        known = [count for count in counts if count is not None]
        if len(known) == len(counts):
            return known
        at = counts.index(None)
        key = f"{key}[{at}]"
        message = f"expected a whole number of 0 or more, found {describe(value[at])}"
    elif not isinstance(value, str):
        expected = "a string of compressed counts or a list of counts"
        message = f"expected {expected}, found {describe(value)}"
    elif (found := rle.uncompressed(value, _LONGEST)) is None:
        message = _broken(value)
    elif (at := next((at for at, count in enumerate(found) if count < 0), -1)) < 0:
        return found
    else:
        message = f"expected counts of 0 or more, found {found[at]} as number {at + 1}"
    problems.add(row, key, message)
    return None


def _broken(text: str) -> str:
    """Why a string is not a sequence of numbers."""
    foreign = re.search("[^0-o]", text)
    if foreign:
        found = f"{describe(foreign[0])} at position {foreign.start()}"
        return f"expected compressed counts (characters 0 to o), found {found}"
    if text[-1] >= "P":
        return "the compressed counts are cut off inside a number"
    return f"expected numbers of at most {_LONGEST} characters, found a longer one"


def _shown(total: int) -> str:
    return f"{total:,}" if total < 10**18 else "far more"


def whole(value: object, least: int, most: int | None) -> int | None:
    """An integer within limits; 480.0 is accepted, since pandas writes integers so."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < least or (most is not None and value > most):
        return None
    return value
