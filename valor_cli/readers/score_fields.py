"""What the quick readings of classification files share: their limits, and numbers in a text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.text_fields import FieldText, Ints
from valor_cli.kernels.text_numbers import decimal_numbers

LONGEST_ID: Final = 64
"""Bytes. Ids are kept at the width of the longest, so that a few long ones would cost much."""

LONGEST_BLOCK: Final = 1 << 22
"""Bytes. A block is no longer unless one line is; the words of a text take eight times its size."""


def finite_numbers(
    text: FieldText, start: Ints, end: Ints, fine: Callable[[bytes], object]
) -> NDArray[np.float64] | None:
    """(n,) numbers as Python's `float` reads them; None if one is none, or is not finite.

    Args:
        text: The text.
        start, end: (n,) where each begins and ends.
        fine: Whether to take a number that is written with many digits, or in another way than
            most.
    """
    value, read = decimal_numbers(text, start, end)
    for at in np.flatnonzero(~read).tolist():
        field = text.field(int(start[at]), int(end[at]))
        try:
            value[at] = float(field)
        except ValueError:
            return None
        if not math.isfinite(value[at]) or not fine(field):
            return None
    return value
