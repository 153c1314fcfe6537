"""Find the substring whose repetitions cover most of a text.

Suffixes are sorted by prefix doubling (Manber and Myers, 1993) with several ranks a round, and
only those whose first characters occur twice; their common prefixes follow from the irreducible
ones (Kärkkäinen, Manzini and Puglisi, Permuted Longest-Common-Prefix Array, CPM 2009).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from os.path import commonprefix
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import begins, offsets

Ints = NDArray[np.int64]

WORK = 100_000_000
"""Occurrences looked at, at most; then the best found so far stands. Reached by no text of 40 kB
that was not made for it."""

_PICK = 500
"""What looking at one candidate costs beside its occurrences, in occurrences."""

_BLOCK = 1 << 20
"""Numbers held at a time."""

_SHORT = 500
"""Characters of a text in which repeated places are found by hashing: mostly there are none."""

_FEW = 60
"""Places that are sooner sorted one by one than by columns."""


class Repeat(NamedTuple):
    """A repeated substring without overlap.

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
    """Sets of substrings that occur at the same places, a row each: nodes of the suffix tree.

    Attributes:
        first, last: The places, a range (both included) of the sorted suffixes.
        shortest, longest: The lengths of the substrings.
    """

    first: Ints
    last: Ints
    shortest: Ints
    longest: Ints


def most_repeated(text: str, shortest: int = 10, work: int = WORK) -> Repeat:
    """The substring that maximises length times non-overlapping occurrences.

    Args:
        text: Any text; a character is a code point.
        shortest: The fewest characters of a substring; 2 or more.
        work: How many occurrences to look at; what that leaves out only shows in `at_most`.

    Returns:
        One of those that cover most, the same for the same text; an empty one where nothing of
        that length occurs twice.
    """
    if len(text) < 2 * shortest:
        return Repeat()
    order, shared = _repeated(text, shortest)
    if not len(order):
        return Repeat()
    return _best(order, _nodes(shared, shortest), len(text), work)


def _repeated(text: str, shortest: int) -> tuple[Ints, Ints]:
    """The suffixes whose first `shortest` characters occur twice, in order.

    Returns:
        Where they start, and how many characters each shares with the one before; 0 below
        `shortest`.
    """
    if len(text) <= _SHORT:
        places = _repeated_places(text, shortest)
        if len(places) <= _FEW:
            return _sorted_places(text, places, shortest)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    order, new = _sorted_suffixes(codes, shortest)
    return order, _common_prefixes(codes, order, new, shortest) if len(order) else order


def _repeated_places(text: str, size: int) -> list[int]:
    """Where substrings of so many characters begin that occur more than once."""
    grams = [text[at : at + size] for at in range(len(text) - size + 1)]
    if len(set(grams)) == len(grams):
        return []
    times = Counter(grams)
    return [at for at, gram in enumerate(grams) if times[gram] > 1]


def _sorted_places(text: str, places: list[int], shortest: int) -> tuple[Ints, Ints]:
    """As `_repeated`, of few places, none of which shares many characters with another."""
    order = sorted(places, key=lambda at: text[at:])
    shared = [0, *(len(commonprefix([text[a:], text[b:]])) for a, b in pairwise(order))]  # noqa: RUF071 - of characters
    shared = [length if length >= shortest else 0 for length in shared[: len(order)]]
    return np.array(order, np.int64), np.array(shared, np.int64)


def _groups(ascending: Ints) -> tuple[Ints, Ints]:
    """Of each of some ascending keys: the first place that has it, and how many do."""
    starts = np.flatnonzero(begins(ascending))
    sizes = np.diff(starts, append=len(ascending))
    return np.repeat(starts, sizes), np.repeat(sizes, sizes)


def _joined(parts: Iterable[Ints], base: int) -> Ints:
    """Numbers below `base` as one number of the same order."""
    return reduce(lambda keys, part: keys * base + part, parts)


def _width(base: int) -> int:
    """How many numbers below `base` one number holds, as far as that pays."""
    return min(8, 62 // max(1, (base - 1).bit_length()))


def _gram_ranks(codes: Ints, size: int) -> tuple[Ints, Ints]:
    """Of the `size` characters from each place on: how many are smaller, how many equal."""
    n = len(codes)
    ranks = times = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    known = 1
    while known < size:
        padded = np.append(ranks + 1, np.zeros(size, np.int64))
        base = int(padded.max()) + 1
        parts = min(_width(base), -(-size // known))
        steps = [min(part * known, size - known) for part in range(parts)]
        keys = _joined([padded[step : step + n] for step in steps], base)
        order = np.argsort(keys)
        ranks, times = np.empty_like(order), np.empty_like(order)
        ranks[order], times[order] = _groups(keys[order])
        known += steps[-1]
    return ranks, times


def _sorted_suffixes(codes: Ints, shortest: int) -> tuple[Ints, NDArray[np.bool_]]:
    """The suffixes whose first `shortest` characters occur twice, in order.

    Returns:
        Where they start, and which begin otherwise than the one before.
    """
    n = len(codes)
    ranks, times = _gram_ranks(codes, shortest)
    left = np.flatnonzero(times > 1)
    left = left[np.argsort(ranks[left], kind="stable")]
    order, new = left.copy(), begins(ranks[left])
    # The end of the text is smaller than any character.
    ranks = np.append(ranks + 1, 0)
    slots = np.arange(len(left))
    known, width = shortest, _width(n + 1)
    while len(left):
        steps = [known * part for part in range(width)]
        keys = _joined([ranks[np.minimum(left + step, n)] for step in steps], n + 1)
        sort = np.argsort(keys)
        left, keys = left[sort], keys[sort]
        order[slots] = left
        before = ranks[left]
        starts, sizes = _groups(keys)
        ranks[left] = before + starts - _groups(before)[0]
        tied = sizes > 1
        left, slots = left[tied], slots[tied]
        known *= width
    return order, new


def _common_prefixes(codes: Ints, order: Ints, new: NDArray[np.bool_], shortest: int) -> Ints:
    """How many characters each sorted suffix shares with the one before; 0 for new beginnings.

    A suffix that starts one character before another, as their neighbours do, shares one more:
    only the last of such a run is compared.
    """
    before = np.full(len(codes), -1)
    before[order[1:]] = np.where(new[1:], -1, order[:-1])
    places = np.flatnonzero(before >= 0)
    distance = places - before[places]
    ends = np.append((np.diff(places) != 1) | (np.diff(distance) != 0), True)[: len(places)]
    last = places[ends]
    until = last + _matching(codes, last, before[last], shortest)
    runs = np.cumsum(ends) - ends
    shared = np.zeros(len(codes), np.int64)
    shared[places] = until[runs] - places
    return shared[order]


def _matching(codes: Ints, left: Ints, right: Ints, known: int) -> Ints:
    """How many characters from each left place on equal those from its right place on.

    Args:
        codes: The text.
        left, right: Different places in it.
        known: So many do.
    """
    n = len(codes)
    padded = np.append(codes, -1)
    lengths = np.full(len(left), known)
    rest, step = np.arange(len(left)), 16
    while len(rest):
        equal = []
        for block in np.array_split(rest, -(-len(rest) * step // _BLOCK)):
            ahead = lengths[block, None] + np.arange(step)
            mine = padded[np.minimum(left[block, None] + ahead, n)]
            same = mine == padded[np.minimum(right[block, None] + ahead, n)]
            # Both ends are never reached together.
            equal.append(np.where(same.all(axis=1), step, same.argmin(axis=1)))
        found = np.concatenate(equal)
        lengths[rest] += found
        rest = rest[found == step]
        step = min(4 * step, _BLOCK)
    return lengths


def _nodes(shared: Ints, shortest: int) -> _Nodes:
    """What repeats: the ranges of sorted suffixes that share more than their surroundings do."""
    first: list[int] = []
    last: list[int] = []
    parents: list[int] = []
    longest: list[int] = []
    # Of the ranges that are open: how much they share, ascending, and where they begin.
    depths, begins, top, at = [shortest - 1], [0], shortest - 1, 0
    clipped = np.maximum(np.append(shared, 0), top)
    for chunk in np.array_split(clipped, len(clipped) // _BLOCK + 1):
        for depth in chunk.tolist():
            if depth > top:
                depths.append(depth)
                begins.append(at - 1)
                top = depth
            elif depth < top:
                top = depth
                still = bisect_right(depths, top)
                begin = begins[still]
                parents.append(top)
                parents += depths[still:-1]
                longest += depths[still:]
                first += begins[still:]
                last += [at - 1] * (len(depths) - still)
                del depths[still:], begins[still:]
                if top > depths[-1]:
                    depths.append(top)
                    begins.append(begin)
            at += 1
    columns = (np.array(column, np.int64) for column in (first, last, parents, longest))
    nodes = _Nodes(*columns)
    return nodes._replace(shortest=nodes.shortest + 1)


def _best(order: Ints, nodes: _Nodes, n: int, work: int) -> Repeat:
    """The substring that covers most: the most promising nodes are looked at first."""
    times = nodes.last - nodes.first + 1
    lengths, covered, surely = _evenly_spaced(order, nodes)
    # Of a loop that is long enough in its single and in longer units, the single ones.
    best = int(np.argmax(np.where(surely, covered * n - lengths, -n)))
    length, most = (int(lengths[best]), int(covered[best])) if surely[best] else (0, 0)
    bounds = np.where(surely, 0, np.minimum(times * nodes.longest, n))
    rest = np.flatnonzero(bounds > most)
    at_most = 0
    for node in rest[np.argsort(-bounds[rest], kind="stable")].tolist():
        if bounds[node] <= most:
            break
        if work <= 0:
            at_most = int(bounds[node])
            break
        starts = np.sort(order[nodes.first[node] : nodes.last[node] + 1]).tolist()
        found, looked = _longest_disjoint(
            starts, int(nodes.shortest[node]), int(nodes.longest[node]), most
        )
        work -= _PICK + len(starts) + looked
        if found:
            best, length = node, found
            most = found * len(_disjoint_starts(starts, found))
    if not most:
        return Repeat(at_most=at_most)
    starts = np.sort(order[nodes.first[best] : nodes.last[best] + 1]).tolist()
    return Repeat(tuple(_disjoint_starts(starts, length)), length, most, max(most, at_most))


def _evenly_spaced(order: Ints, nodes: _Nodes) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Of nodes whose places are all equally far apart, as in a loop: what covers most.

    Returns:
        The length, what it covers, and for which nodes that is sure.
    """
    distances = np.abs(np.diff(order))
    changes = offsets(np.diff(distances) != 0)
    step = distances[nodes.first]
    more = nodes.last - nodes.first
    even = changes[nodes.first] == changes[nodes.last - 1]
    fewest, most = -(-nodes.shortest // step), -(-nodes.longest // step)
    within = np.minimum(fewest * step, nodes.longest)
    tries = [
        np.where(more >= skip, length * (more // skip + 1), 0)
        for length, skip in ((within, fewest), (nodes.longest, most))
    ]
    surely = even & ((most - fewest <= 1) | (more == 1))
    return np.where(tries[0] >= tries[1], within, nodes.longest), np.maximum(*tries), surely


def _longest_disjoint(starts: list[int], shortest: int, longest: int, most: int) -> tuple[int, int]:
    """The length at which occurrences cover most, and how many were looked at to find it.

    Args:
        starts: Where all lengths occur, ascending.
        shortest, longest: The lengths.
        most: What there is already: a length that covers no more is not wanted, and 0 stands.
    """
    found = looked = 0
    while True:
        # The shorter the substring, the more often it has to occur, and the more often it does.
        times = max(2, most // longest + 1)
        low, high = shortest - 1, longest
        while low < high:
            middle = (low + high + 1) // 2
            apart = len(_disjoint_starts(starts, middle, times))
            looked += apart
            low, high = (middle, high) if apart >= times else (low, middle - 1)
        if low < shortest:
            return found, looked
        longest = low
        if longest * times > most:
            found = longest
            most = longest * len(_disjoint_starts(starts, longest))


def _disjoint_starts(starts: list[int], length: int, enough: int | None = None) -> list[int]:
    """The most starts at least `length` apart, from the left; at most `enough`."""
    taken: list[int] = []
    at = 0
    while at < len(starts) and (enough is None or len(taken) < enough):
        taken.append(starts[at])
        at = bisect_left(starts, starts[at] + length, at + 1)
    return taken
