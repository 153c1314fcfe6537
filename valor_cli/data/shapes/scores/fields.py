"""Limits and number parsing shared by the fast readers of classification files."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.fields import AFTER, FieldText, Ints, fixed_width
from valor_cli.kernels.columns.numbers import decimal_numbers

LONGEST_ID: Final = 64
"""Bytes. Ids are kept at the width of the longest, so that a few long ones would cost much."""
_UNEVEN: Final = 4
"""So many times the room that they need is what ids of several lengths may take."""

BLOCK: Final = 1 << 19
"""Bytes that are read at once. Larger than chunks elsewhere: each block costs a hundred calls."""

LONGEST_BLOCK: Final = 1 << 22
"""Bytes. A block is no longer unless one line is; the words of a text take eight times its size."""


PROBABLE: Final = (-1e-3, 1 + 1e-3)
"""Where the score of a label may lie as a probability: from 0 to 1, but for rounding."""


def probable(score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which scores are probabilities, up to rounding."""
    low, high = PROBABLE
    return np.asarray((score >= low) & (score <= high))


def finite_numbers(
    text: FieldText, start: Ints, end: Ints, fine: Callable[[bytes], object]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Parse numbers as Python's `float` does.

    Args:
        text: The text.
        start, end: (n,) where each begins and ends.
        fine: Whether to take a number that is written with many digits, or in another way than
            most.

    Returns:
        value: (n,) the numbers.
        read: (n,) which are finite numbers; the value of others means nothing.
    """
    value, read = decimal_numbers(text, start, end)
    for at in np.flatnonzero(~read).tolist():
        field = text.field(int(start[at]), int(end[at]))
        try:
            value[at] = float(field)
        except ValueError:
            continue
        read[at] = math.isfinite(value[at]) and bool(fine(field))
    return value, read


def sample_ids(text: FieldText, start: Ints, end: Ints) -> NDArray[Any]:
    """(n,) ids as `S`, or as bytes objects if a few long ones would make that too large."""
    length = end - start
    longest = int(length.max(initial=0))
    evenly = longest * len(length) <= _UNEVEN * int(length.sum())
    if longest <= LONGEST_ID or (longest <= AFTER and evenly):
        return fixed_width(text, start, end)
    column = np.empty(len(start), dtype=object)
    column[:] = [text.field(*span) for span in zip(start.tolist(), end.tolist(), strict=True)]
    return column
