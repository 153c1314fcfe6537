"""Weighted sums that are the same in any order, on any processor, with any number of threads.

BLAS adds in an order of its own for each processor, so that the last digits of a product differ
between machines. Here values are split into parts that are multiples of one power of two (as in
Demmel and Nguyen, "Fast Reproducible Floating-Point Summation", 2013): sums of these are
exact, whatever their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BITS: Final = 24
"""Of a part: with weights that add up to less than 2**29 its sums are whole numbers below 2**53."""

_PARTS: Final = 3
"""So many parts keep what is above 2**-72 of the largest value."""

_LEAST: Final = -900
"""Exponent of the largest value, at least, so that parts are no denormal numbers."""


def exact_parts(values: Floats) -> list[Floats]:
    """Split values into parts whose weighted sums are exact.

    Args:
        values: Finite numbers, of any shape.

    Returns:
        Arrays of that shape that add up to the values, the largest first; one at least.
    """
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    exponent = max(exponent, _LEAST)
    parts, left = [], values
    for _ in range(_PARTS):
        exponent -= _BITS
        part = np.ldexp(np.rint(np.ldexp(left, -exponent)), exponent)
        parts.append(part)
        left = left - part
        if not left.any():
            break
    return parts


def weighted_sums(weights: NDArray[np.float64], parts: Sequence[Floats]) -> Floats:
    """The sums of values times weights: a product of matrices.

    Args:
        weights: (n,) or (m, n) whole numbers that add up to less than 2**29 in each row.
        parts: `exact_parts` of (n,) or (n, k) values.

    Returns:
        (), (m,), (k,) or (m, k).
    """
    total = weights @ parts[0]
    for part in parts[1:]:
        total = total + weights @ part
    return np.asarray(total)
