"""Sort, group and look up rows of columns without Python loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine

Ints = NDArray[np.integer]
DENSE_LOOKUP = 8
"""A lookup table may hold this many slots for each key or value before a search is cheaper."""


def spread(starts: Ints, counts: Ints) -> NDArray[np.int64]:
    """Concatenate the ranges starts[i] … starts[i] + counts[i] - 1.

    Args:
        starts: (n,) first element of each range.
        counts: (n,) length of each range, zero allowed.

    Returns:
        (sum of counts,) the elements, range after range.
    """
    total = int(counts.sum())
    ends = np.cumsum(counts)
    elements: NDArray[np.int64] = np.arange(total) + np.repeat(starts - (ends - counts), counts)
    return elements


def offsets(sizes: Ints | NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n + 1,) where runs of these sizes, (n,), begin one after the other, and the last ends."""
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def begins(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each value differs from the one before; true for the first."""
    new = np.ones(len(values), np.bool_)
    new[1:] = values[1:] != values[:-1]
    return new


def quotient(part: NDArray[Any], whole: NDArray[Any], instead: float) -> NDArray[np.float64]:
    """part / whole, with `instead` where whole is 0, for any shape."""
    shape = np.broadcast_shapes(part.shape, whole.shape)
    return np.asarray(np.divide(part, whole, out=np.full(shape, float(instead)), where=whole != 0))


def nulls(column: NDArray[Any]) -> list[float | None]:
    """A list of the numbers of a column, (n,), with None for NaN."""
    return [value if value == value else None for value in column.tolist()]


def exact_quotient(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) quotients of whole numbers of any size, right to the last bit; NaN of 0/0."""
    pairs = zip(part.tolist(), whole.tolist(), strict=True)
    return np.array([one / of if of else np.nan for one, of in pairs], np.float64)


def summed(group: Ints, amounts: NDArray[Any] | None, length: int) -> NDArray[np.int64]:
    """Sum of each group; exact below 2**53, since bincount adds floats.

    Args:
        group: (n,) the group of each amount, 0 … length - 1.
        amounts: (n,) whole numbers, or flags; None for 1 each.
        length: How many groups there are.
    """
    return np.bincount(group, amounts, length).astype(np.int64, copy=False)


def tallies(values: Ints, length: int, weights: NDArray[Any] | None = None) -> NDArray[np.int64]:
    """Counts or summed weights of 0 … length - 1 in `values`.

    Args:
        values: (n,) whole numbers.
        length: How many there are to tally.
        weights: (replicas, n) whole numbers; None for 1 each.

    Returns:
        (replicas, length); a single row without weights.
    """
    if weights is None:
        return summed(values, None, length)[None]
    offset = np.arange(len(weights))[:, None] * length
    flat = summed((values + offset).ravel(), weights.ravel(), len(weights) * length)
    return flat.reshape(len(weights), length)


def reaching(
    values: NDArray[np.float64],
    group: Ints,
    levels: NDArray[np.float64],
    groups: int,
) -> NDArray[np.int64]:
    """Number of each group's values at or above each level.

    Args:
        values: (n,) values to compare with the levels.
        group: (n,) the group of each, from 0.
        levels: (k,) ascending.
        groups: How many groups there are.

    Returns:
        (levels, groups).
    """
    if engine.compiled is not None:
        counts = np.zeros((len(levels), groups), np.int64)
        engine.compiled.reaching(
            np.ascontiguousarray(values, np.float64),
            np.ascontiguousarray(group, np.int64),
            np.ascontiguousarray(levels, np.float64),
            counts,
        )
        return counts
    # Bin i holds values that reach i levels; those that reach level i are in the bins above.
    width = len(levels) + 1
    reached = np.searchsorted(levels, values, side="right")
    bins = summed(group * width + reached, None, groups * width).reshape(groups, width)
    return np.ascontiguousarray(bins[:, :0:-1].cumsum(axis=1)[:, ::-1].T)


def positions_of(values: NDArray[Any], keys: NDArray[Any]) -> NDArray[np.int64]:
    """Position of each value in sorted, distinct keys; -1 if absent.

    Args:
        values: (n,) what to find.
        keys: (k,) sorted and distinct, of the same kind as `values`.
    """
    if not len(keys):
        return np.full(len(values), -1)
    if keys.dtype.kind == "i":
        low, high = int(keys[0]), int(keys[-1])
        if high - low < DENSE_LOOKUP * (len(keys) + len(values)):
            table = np.full(high - low + 2, -1)
            table[keys - low] = np.arange(len(keys))
            inside = (values >= low) & (values <= high)
            return table[np.where(inside, values - low, high - low + 1)]
    found = np.searchsorted(keys, values)
    found[found == len(keys)] = 0
    return np.where(keys[found] == values, found, -1)


def are_distinct(values: NDArray[Any]) -> bool:
    """Whether all values of a column, (n,), are distinct."""
    # Not np.unique, whose plain form imports all of numpy.ma: 4 ms.
    ordered = np.sort(values)
    return not bool((ordered[1:] == ordered[:-1]).any())


_ROUNDS, _FEW = 8, 1 << 10
"""Rounds of hashing after which, and keys below which, the rest is sorted."""


def equal_keys(keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """(n,) the place of a key equal to each, one place for all that are equal.

    By a hash table, in a fifth of the time of `np.unique` with its inverse.
    """
    found = np.empty(len(keys), np.int64)
    rest = np.arange(len(keys), dtype=np.int32 if len(keys) < 1 << 31 else np.int64)
    left = whole = keys.astype(np.uint64)
    shift = 63 - len(keys).bit_length()
    table = np.empty(1 << (64 - shift), rest.dtype)
    factor = 0x9E3779B97F4A7C15
    for _ in range(_ROUNDS):
        if len(rest) < _FEW:
            break
        slots = (left * np.uint64(factor) >> np.uint64(shift)).astype(np.int64)
        table[slots] = rest
        place = table[slots]
        same = whole[place] == left
        found[rest[same]] = place[same]
        rest, left = rest[~same], left[~same]
        factor = factor * 0xD1342543DE82EF95 + 2 & (1 << 64) - 1
    _, first, which = np.unique(left, return_index=True, return_inverse=True)
    found[rest] = rest[first[which]]
    return found


def ranked(
    label: Ints, score: NDArray[np.float64], image: Ints, within: Ints | None = None
) -> NDArray[np.int64]:
    """Order rows by label, descending score, image, `within`, position.

    Equal scores of one label are in image order and, inside an image, in file order, as in
    pycocotools' stable sorts.

    Args:
        label, score, image: (n,) columns; label and image count from 0.
        within: (n,) order inside an image; None for the order given.

    Returns:
        (n,) row numbers in that order.
    """
    n = len(label)
    if not n:
        return np.zeros(0, np.int64)
    by_image = _by_image(image, within)
    if engine.compiled is not None:
        order = np.empty(n, np.int64)
        columns = np.ascontiguousarray(label, np.int64), np.ascontiguousarray(score, np.float64)
        engine.compiled.ranked(*columns, by_image, order)
        return order
    return by_image[np.lexsort((-score[by_image], label[by_image]))]


def tie_broken_ranks(
    score: NDArray[np.float64], nearest: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """(n,) ranks that order by score, with ties broken by another column.

    Args:
        score: (n,) the scores.
        nearest: (n,) of equal scores the higher of these comes first; None for the scores alone.
    """
    if nearest is None:
        return score
    order = np.lexsort((nearest, score))
    score, nearest = score[order], nearest[order]
    place = np.zeros(len(order))
    place[order[1:]] = np.cumsum((score[1:] > score[:-1]) | (nearest[1:] > nearest[:-1]))
    return place


def _by_image(image: Ints, within: Ints | None) -> NDArray[np.int64]:
    """Row numbers ordered by image, then `within`, then position."""
    if within is not None:
        return np.lexsort((within, image))
    if (image[1:] >= image[:-1]).all():
        return np.arange(len(image))
    return order_by_group(image)


def places_in_runs(values: Ints) -> NDArray[np.int64]:
    """0, 1, 2 … within each run of equal neighbours."""
    start = np.flatnonzero(begins(values))
    return np.arange(len(values)) - np.repeat(start, np.diff(start, append=len(values)))


def grouped(cell: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row numbers ordered by cell (stable), and the start of each cell.

    Args:
        cell: (n,) group of each row, from 0.

    Returns:
        order: (n,) row numbers.
        starts: (cells + 1,) where each cell present begins in `order`, and n at the end.
    """
    order = order_by_group(cell)
    return order, np.append(np.flatnonzero(begins(cell[order])), len(cell))


def order_by_group(group: Ints) -> NDArray[np.int64]:
    """Row numbers ordered by group, from 0, then position."""
    n = len(group)
    if engine.compiled is not None:
        order = np.empty(n, np.int64)
        engine.compiled.order_by_group(np.ascontiguousarray(group, np.int64), order)
        return order
    return np.argsort(group, kind="stable")


def order_of_codes(code: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Positions of codes in ascending order; the sort is stable.

    Args:
        code: (n,) from 0 to count - 1.
        count: How many codes there are.
    """
    # A stable sort of 8 or 16 bits is a radix sort, many times faster than one of 64.
    return np.argsort(code.astype(np.min_scalar_type(count)), kind="stable")


def blocks(work: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Consecutive ranges of rows with bounded work each, or single rows that exceed the bound.

    Args:
        work: (n,) how much each row is.
        most: What a range may hold, so that its columns stay in the processor's cache.
    """
    ends = np.cumsum(work)
    begin = 0
    while begin < len(work):
        done = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, done + most, side="right")), begin + 1)
        yield slice(begin, end)
        begin = end
