"""Check parsed COCO segmentations: polygons and run-length masks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from valor_cli.data.formats.coco.geometry import FEWEST, polygons_of
from valor_cli.data.values import LARGEST_COORDINATE, Problems, describe, number
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.geometry.shapes import BOX, MASK, POLYGON, Polygons, Shapes

KEY: Final = ".segmentation"

_LONGEST = 12
_NUMBER = re.compile(f"[P-o]{{0,{_LONGEST - 1}}}[0-O]")
"""Characters with the bit that says that more follow, then one without."""

_AXES = ("height", "width")


class Size(NamedTuple):
    """Height and width of an image; 0 where unknown."""

    height: int
    width: int


class Outline(NamedTuple):
    """A polygon: flat coordinates of each part."""

    parts: Sequence[Sequence[float]]


class Runs(NamedTuple):
    """A run-length mask."""

    counts: Sequence[int]
    size: Size


Geometry: TypeAlias = Sequence[float] | Outline | Runs
"""Checked: x, y, width and height of a box, a polygon, or a mask."""


def is_none(value: object) -> bool:
    """Whether there is no geometry: null, or the empty list that some tools write."""
    return value is None or value == []


def segmentation(value: object, image: Size, problems: Problems, row: int) -> Geometry | None:
    """A list of polygons, or run lengths, compressed or not.

    Args:
        value: The value of the key.
        image: Size that run lengths must have.
        problems, row: Where to note what is wrong.
    """
    if isinstance(value, list):
        return _outline(value, problems, row)
    if isinstance(value, dict):
        return _runs(value, image, problems, row)
    expected = "a list of polygons, or an object with size and counts"
    problems.add(row, KEY, f"expected {expected}, found {describe(value)}")
    return None


def geometry_column(values: Sequence[Geometry]) -> Shapes:
    """Checked geometry of many objects."""
    outlines = [value for value in values if isinstance(value, Outline)]
    runs = [value for value in values if isinstance(value, Runs)]
    boxes = [value for value in values if not isinstance(value, Outline | Runs)]
    kinds = {Outline: POLYGON, Runs: MASK}
    polygon = polygons_of([outline.parts for outline in outlines])
    sizes = np.array([each.size for each in runs], dtype=np.int64).reshape(-1, 2)
    return Shapes(
        np.array([kinds.get(type(value), BOX) for value in values], dtype=np.uint8),
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
        np.zeros((0, 5)),
        Polygons.none() if polygon is None else polygon,
        rle.from_counts([each.counts for each in runs], sizes)[0],
    )


def _outline(value: Sequence[Any], problems: Problems, row: int) -> Outline | None:
    before = problems.total
    parts: list[list[float]] = []
    for position, part in enumerate(value):
        key = f"{KEY}[{position}]"
        if not isinstance(part, list):
            problems.add(row, key, f"expected a list of x and y in turn, found {describe(part)}")
            # A bare list of numbers is one mistake, not one a number.
            return None
        if len(part) < FEWEST or len(part) % 2:
            expected = f"an even number of numbers, {FEWEST} at least (x and y in turn)"
            problems.add(row, key, f"expected {expected}, found {len(part)}")
        else:
            places = (f"{key}[{at}]" for at in range(len(part)))
            pairs = zip(part, places, strict=True)
            parts.append([coordinate(each, problems, row, place) for each, place in pairs])
    return Outline(parts) if problems.total == before else None


def coordinate(value: object, problems: Problems, row: int, key: str) -> float:
    """A coordinate; 0 if a problem was recorded."""
    found = number(value, problems, row, key)
    if found is not None and abs(found) > LARGEST_COORDINATE:
        message = f"expected at most {LARGEST_COORDINATE} pixels, found {describe(value)}"
        problems.add(row, key, message)
    return 0.0 if found is None else found


def _runs(value: Mapping[str, Any], image: Size, problems: Problems, row: int) -> Runs | None:
    missing = [key for key in ("size", "counts") if key not in value]
    if missing:
        names = " and ".join(f'"{key}"' for key in missing)
        verb = "is" if len(missing) == 1 else "are"
        problems.add(row, KEY, f"{names} {verb} missing; run lengths have size and counts")
        return None
    size = _size(value["size"], image, problems, row)
    counts = _counts(value["counts"], problems, row)
    if size is None or counts is None:
        return None
    pixels, total = size.height * size.width, sum(counts)
    if total != pixels:
        expected = f"counts that add up to {size.height} * {size.width} = {pixels:,} pixels"
        problems.add(row, f"{KEY}.counts", f"expected {expected}, found {_shown(total)}")
        return None
    return Runs(counts, size)


def _size(value: object, image: Size, problems: Problems, row: int) -> Size | None:
    key = f"{KEY}.size"
    if not isinstance(value, list) or len(value) != 2:
        found = len(value) if isinstance(value, list) else describe(value)
        problems.add(row, key, f"expected 2 whole numbers (height, width), found {found}")
        return None
    sides = [whole(side, 1, rle.LARGEST_SIDE) for side in value]
    for axis, side in enumerate(sides):
        if side is None:
            expected = f"a {_AXES[axis]} from 1 to {rle.LARGEST_SIDE:,}"
            message = f"expected {expected}, found {describe(value[axis])}"
            problems.add(row, f"{key}[{axis}]", message)
        elif image[axis] and side != image[axis]:
            message = f"expected the {_AXES[axis]} of its image, {image[axis]}, found {side}"
            problems.add(row, f"{key}[{axis}]", message)
    known = [side for side in sides if side is not None]
    return Size(*known) if len(known) == 2 else None


def _counts(value: object, problems: Problems, row: int) -> list[int] | None:
    key = f"{KEY}.counts"
    if isinstance(value, str):
        return _uncompressed(value, problems, row)
    if not isinstance(value, list):
        expected = "a string of compressed counts or a list of counts"
        problems.add(row, key, f"expected {expected}, found {describe(value)}")
        return None
    counts = [whole(count, 0, None) for count in value]
    if None in counts:
        at = counts.index(None)
        message = f"expected a whole number of 0 or more, found {describe(value[at])}"
        problems.add(row, f"{key}[{at}]", message)
    known = [count for count in counts if count is not None]
    return known if len(known) == len(counts) else None


def _uncompressed(text: str, problems: Problems, row: int) -> list[int] | None:
    """The counts of a string: five bits a character, differences from the fourth count on."""
    numbers = _NUMBER.findall(text)
    if sum(map(len, numbers)) != len(text):
        problems.add(row, f"{KEY}.counts", _broken(text))
        return None
    changes = list(map(_number, numbers))
    counts = changes[:1] * len(changes)
    counts[1::2] = accumulate(changes[1::2])
    counts[2::2] = accumulate(changes[2::2])
    if min(counts, default=0) < 0:
        at = next(at for at, count in enumerate(counts) if count < 0)
        message = f"expected counts of 0 or more, found {counts[at]} as number {at + 1}"
        problems.add(row, f"{KEY}.counts", message)
        return None
    return counts


@lru_cache(1 << 16)
def _number(characters: str) -> int:
    """A number of compressed counts."""
    codes = [ord(character) - rle.ZERO for character in characters]
    value = sum((code & (rle.MORE - 1)) << 5 * place for place, code in enumerate(codes))
    return value - (1 << 5 * len(codes)) if codes[-1] & rle.SIGN else value


def _broken(text: str) -> str:
    """Why a string is not a sequence of numbers."""
    foreign = re.search("[^0-o]", text)
    if foreign:
        found = f"{describe(foreign[0])} at position {foreign.start()}"
        return f"expected compressed counts (characters 0 to o), found {found}"
    if text[-1] >= "P":
        return "the compressed counts are cut off inside a number"
    return f"expected numbers of at most {_LONGEST} characters, found a longer one"


def whole(value: object, least: int, most: int | None) -> int | None:
    """An integer within limits; 480.0 is accepted, since pandas writes integers so."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < least or (most is not None and value > most):
        return None
    return value


def _shown(total: int) -> str:
    return f"{total:,}" if total < 10**18 else "far more"
