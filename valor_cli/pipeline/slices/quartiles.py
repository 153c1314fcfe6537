"""Divide numeric values into quartile ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct

from valor_cli.results import Scalar

QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST = 40
"""Characters of a number that is written out."""


class Range(Struct, frozen=True):
    """Numbers from `low` to below `high`; the last range includes `high`."""

    low: float
    high: float
    last: bool = False

    def holds(self, value: Scalar) -> bool:
        """Whether a value is in the range."""
        number = number_of(value)
        if number is None:
            return False
        return self.low <= number and (number <= self.high if self.last else number < self.high)

    def __str__(self) -> str:
        return f"[{_said(self.low)}, {_said(self.high)}{']' if self.last else ')'}"


def number_of(value: Scalar) -> float | None:
    """The finite number in a value or its text; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and (len(value) > _LONGEST or not _NUMBER.fullmatch(value)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def quartile_ranges(numbers: Sequence[float]) -> list[Range]:
    """The ranges between the quartiles, in order; fewer if some quartiles are equal.

    The bounds are numbers that occur: of an even number of them, the lower of the two in the
    middle is the median.
    """
    column = np.array(numbers, np.float64)
    edges = np.unique(np.quantile(column, QUARTILES, method="inverted_cdf")).tolist()
    if len(edges) == 1:
        return [Range(edges[0], edges[0], last=True)]
    ranges = [Range(low, high) for low, high in pairwise(edges)]
    return [*ranges[:-1], Range(ranges[-1].low, ranges[-1].high, last=True)]


def _said(number: float) -> str:
    """A number as YAML writes it, whole ones without a point."""
    whole = float(number).is_integer() and abs(number) < 2**53
    return str(int(number)) if whole else repr(number)
