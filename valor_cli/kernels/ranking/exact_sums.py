"""Sum floats exactly, independent of their order.

A float sum depends on the order of its additions; an exact one does not: all floats are integer
multiples of the smallest, so the sum is an integer of as many digits as it takes.

Numbers are not added one by one. Adding and subtracting a large constant rounds a float to a grid;
numbers so rounded that their sum fits in 53 bits are added by ordinary floating-point additions,
which are then exact in any order, and the remainders are summed in the same way. After Demmel and
Hida, Accurate and efficient floating point summation, SIAM J. Sci. Comput. 25, 2004; Rump, Ogita
and Oishi, Accurate floating-point summation, SIAM J. Sci. Comput. 31, 2008.

Products with weights are cut in the same way: BLAS adds in an order of its own for each processor,
so that the last digits of a product of matrices differ between machines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SMALLEST: Final = -1074
"""The power of two that all floats are multiples of."""

AT_ONCE: Final = 1 << 13
"""Numbers that are cut together, which fit the processor's cache: the sum takes 13 bits more."""

BITS: Final = 39
"""Bits of a number over the grid; with the 13 of their sum they fit the 53 of a float."""

HUGE: Final = 2.0**960
"""From here on the constant that cuts would be infinite: such numbers are added one by one."""


WEIGHTED_BITS: Final = 24
"""Bits of a weighted number over the grid: with weights that add up to less than 2**29 they fit."""


@dataclass(frozen=True, slots=True)
class ExactSums:
    """Exact sums of groups of floats, which can be added as integers.

    Attributes:
        units: By group, the sum, counted in the smallest of floats, 2**-1074.
    """

    units: tuple[int, ...]

    @staticmethod
    def merged(parts: Sequence[ExactSums]) -> ExactSums:
        """Add the sums of all parts, which have the same groups."""
        return ExactSums(tuple(map(sum, zip(*(one.units for one in parts), strict=True))))

    def rounded(self) -> Floats:
        """(groups,) the float nearest to each sum, ties to even.

        Raises:
            OverflowError: It is beyond all floats.
        """
        # Python divides whole numbers with a single rounding.
        return np.array([one / (1 << -SMALLEST) for one in self.units], np.float64)


def exact_sums(values: Floats, group: Ints | None = None, groups: int = 1) -> ExactSums:
    """Exact sum of each group.

    Args:
        values: (n,) finite.
        group: (n,) the group of each, from 0; None for one group.
        groups: How many groups there are.

    Raises:
        ValueError: A value is infinite or no number.
    """
    totals = [0] * groups
    for first in range(0, len(values), AT_ONCE):
        block = slice(first, first + AT_ONCE)
        rest = values[block]
        _add(totals, rest, np.zeros(len(rest), np.int64) if group is None else group[block])
    return ExactSums(tuple(totals))


def _add(totals: list[int], rest: Floats, group: Ints) -> None:
    """Add the values of a block to the totals of their groups."""
    highest = float(np.abs(rest).max())
    if not math.isfinite(highest):
        raise ValueError("only finite numbers have a sum")
    if highest >= HUGE:
        huge = np.abs(rest) >= HUGE
        for value, at in zip(rest[huge].tolist(), group[huge].tolist(), strict=True):
            totals[at] += int(value) << -SMALLEST
        rest = np.where(huge, 0.0, rest)
        highest = float(np.abs(rest).max())
    while highest:
        grid = max(math.frexp(highest)[1] - BITS, SMALLEST)
        cut = _cut(rest, grid)
        sums = [float(cut.sum())] if len(totals) == 1 else np.bincount(group, cut).tolist()
        for at, value in enumerate(sums):
            if value:
                totals[at] += int(math.ldexp(value, -grid)) << (grid - SMALLEST)
        rest = rest - cut
        left = np.flatnonzero(rest)
        if len(left) < len(rest) // 2:
            rest, group = rest[left], group[left]
        highest = float(np.abs(rest).max(initial=0.0))


def _cut(rest: Floats, grid: int) -> Floats:
    """Round numbers to multiples of 2**grid; none is 2**52 times that."""
    # 1.5 keeps the sum with a negative number, too, at the same distance from its neighbours.
    constant = math.ldexp(1.5, grid + 52)
    return np.asarray((rest + constant) - constant)


def exact_parts(values: Floats) -> Floats:
    """Split numbers into parts whose weighted sums are exact, in any order.

    Args:
        values: Finite numbers below `HUGE`, of any shape.

    Returns:
        (parts, …) that add up to the values, the largest first; one part at least.
    """
    grid = math.frexp(float(np.abs(values).max(initial=0.0)))[1]
    parts: list[Floats] = []
    left = values
    while not parts or (left.any() and grid > SMALLEST):
        grid = max(grid - WEIGHTED_BITS, SMALLEST)
        parts.append(_cut(left, grid))
        left = left - parts[-1]
    return np.stack(parts)


def weighted_sums(weights: Floats, parts: Floats) -> Floats:
    """(k, m) the floats nearest to the sums of numbers times weights: a product of matrices.

    Args:
        weights: (m, n) whole numbers that add up to less than 2**29 in each row.
        parts: `exact_parts` of (k, n) numbers.
    """
    count, k, n = parts.shape
    sums = (parts.reshape(count * k, n) @ weights.T).reshape(count, -1)
    # Column by column: a list of each sum's parts would be millions of them, and all looked through
    # by the garbage collector.
    nearest = np.fromiter(map(math.fsum, zip(*sums.tolist(), strict=True)), np.float64)
    return nearest.reshape(k, len(weights))
