"""A text comes in; the substring whose repetitions cover most of it goes out.

Suffixes are sorted by prefix doubling (Manber and Myers, 1993) with several ranks a round, and only
those whose first characters occur twice; their common prefixes follow from the irreducible ones
(Kärkkäinen, Manzini and Puglisi, Permuted Longest-Common-Prefix Array, CPM 2009).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

WORK = 100_000_000
"""Occurrences looked at, at most; then the best found so far stands. Reached by no text of 40 kB
that was not made for it."""

_PICK = 500
"""What looking at one candidate costs beside its occurrences, in occurrences."""


class Repeat(NamedTuple):
    """A substring that occurs several times without overlap.

    Attributes:
        starts: Where it occurs, from the left, each as soon as the one before has ended.
        length: Its characters; 0 where nothing repeats.
        covered: `length` times the number of occurrences.
        at_most: What no substring covers more than; `covered` where all were looked at.
    """

    starts: tuple[int, ...] = ()
    length: int = 0
    covered: int = 0
    at_most: int = 0


class _Nodes(NamedTuple):
    """Sets of substrings that occur at the same places, one each row.

    Attributes:
        first, last: The places, a range (both included) of the sorted suffixes.
        shortest, longest: The lengths of the substrings.
    """

    first: Ints
    last: Ints
    shortest: Ints
    longest: Ints

    def taken(self, chosen: Ints | NDArray[np.bool_]) -> _Nodes:
        return _Nodes(*(column[chosen] for column in self))


def most_repeated(text: str, shortest: int = 10, work: int = WORK) -> Repeat:
    """The substring for which length times non-overlapping occurrences is largest.

    Args:
        text: Any text; a character is a code point.
        shortest: The fewest characters of a substring.
        work: How many occurrences to look at; what is left out only shows in `at_most`.

    Returns:
        One of those that cover most, always the same one; an empty one where nothing of that
        length occurs twice.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    if len(codes) < 2 * shortest:
        return Repeat()
    order, fresh = _sorted_suffixes(codes, shortest)
    if not len(order):
        return Repeat()
    shared = _common_prefixes(codes, order, fresh, shortest)
    return _best(order, _nodes(shared, shortest), work)


def _ranks(keys: Ints) -> tuple[Ints, Ints]:
    """The ranks of keys, which is how many are smaller, and how many share each."""
    order = np.argsort(keys)
    _, ranks, counts = _grouped(keys[order])
    back = np.empty_like(order)
    back[order] = ranks
    times = np.empty_like(order)
    times[order] = counts
    return back, times


def _grouped(ascending: Ints) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Of ascending keys: which begin a group, where the group begins, and its size."""
    begins = np.ones(len(ascending), np.bool_)
    begins[1:] = ascending[1:] != ascending[:-1]
    starts = np.flatnonzero(begins)
    sizes = np.diff(starts, append=len(ascending))
    return begins, np.repeat(starts, sizes), np.repeat(sizes, sizes)


def _joined(parts: list[Ints], base: int) -> Ints:
    """Several ranks below `base` as one number of the same order."""
    keys = parts[0]
    for part in parts[1:]:
        keys = keys * base + part
    return keys


def _width(base: int) -> int:
    """How many ranks below `base` one number holds."""
    return 62 // max(1, (base - 1).bit_length())


def _gram_ranks(codes: Ints, size: int) -> tuple[Ints, Ints]:
    """Ranks of the `size` characters from each place on, and how many places share each."""
    n = len(codes)
    ranks, times, known = np.unique(codes, return_inverse=True)[1].astype(np.int64), codes, 1
    while known < size:
        base = int(ranks.max()) + 2
        # The last part may reach back into what the one before it says.
        steps = [known * part for part in range(min(_width(base), -(-size // known)))]
        known = min(size, steps[-1] + known)
        steps[-1] = min(steps[-1], known - (steps[1] if len(steps) > 1 else 1))
        padded = np.zeros(n + size, np.int64)
        padded[:n] = ranks + 1
        ranks, times = _ranks(_joined([padded[step : step + n] for step in steps], base))
    return ranks, times
