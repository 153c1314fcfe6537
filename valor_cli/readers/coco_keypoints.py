"""Parsed keypoints come in, one object's at a time; numbers go out, or a noted problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from valor_cli.readers.checks import Problems, describe
from valor_cli.readers.coco_segmentation import coordinate

_KEY = ".keypoints"


def numbers_of(rows: Sequence[Any]) -> int:
    """How many numbers most objects with keypoints have, three a keypoint; 0 if there is none."""
    found = [row.get("keypoints") for row in rows if isinstance(row, dict)]
    lengths = Counter(len(each) for each in found if isinstance(each, list) and each)
    whole = Counter({length: count for length, count in lengths.items() if length % 3 == 0})
    return whole.most_common(1)[0][0] if whole else 0


def keypoints(value: object, length: int, problems: Problems, row: int) -> list[float]:
    """x, y and visibility of each keypoint in turn; zeros where there is none, or a problem."""
    if value is None or value == []:
        return [0.0] * length
    if not isinstance(value, list):
        expected = "a list of x, y and visibility of each keypoint"
        problems.add(row, _KEY, f"expected {expected}, found {describe(value)}")
    elif len(value) % 3:
        expected = "three numbers a keypoint (x, y, visibility)"
        problems.add(row, _KEY, f"expected {expected}, found {len(value)} numbers")
    elif len(value) != length:
        expected = f"{length // 3} keypoints as in most rows"
        problems.add(row, _KEY, f"expected {expected}, found {len(value) // 3}")
    else:
        return [coordinate(each, problems, row, f"{_KEY}[{at}]") for at, each in enumerate(value)]
    return [0.0] * length


def extent(values: Sequence[float]) -> list[float] | None:
    """The box around checked keypoints, as pycocotools makes it of keypoint results."""
    x, y = values[0::3], values[1::3]
    return [min(x), min(y), max(x) - min(x), max(y) - min(y)] if x else None
