"""Pairs of sequences come in; how many runs of 1, 2, 3 … items each pair shares goes out.

Items are characters or words, as numbers; runs are what is called n-grams. All pairs are counted
together, length by length: a run can be shared only where the run without its last item is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def character_codes(text: str) -> Ints:
    """(n,) the characters of a text as numbers."""
    # Texts from JSON may hold halves of characters ("\ud800").
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)


def run_counts(lengths: Ints, order: int) -> Ints:
    """(n, order) runs of each length, from 1, in sequences of so many items."""
    counts: Ints = np.maximum(lengths[:, None] - np.arange(order), 0)
    return counts


def shared_runs(items: Ints, lengths: Ints, order: int) -> Ints:
    """(p, order) runs of each length, from 1, that both sides of a pair have, as often as both.

    Args:
        items: The sequences one after the other: one side of the first pair, the other side, one
            side of the second pair …
        lengths: (2p,) items of each.
        order: The longest runs; 1 or more.
    """
    shared = np.zeros((len(lengths) // 2, order), np.int64)
    side = np.repeat(np.arange(len(lengths)), lengths)
    end = np.repeat(np.cumsum(lengths), lengths)
    distinct, item = np.unique(items, return_inverse=True)
    # Where runs begin, and a number for each: at first its pair, then equal runs of equal pairs.
    start = np.arange(len(items))
    run = side >> 1
    for n in range(order):
        inside = start + n < end[start]
        start, run = start[inside], run[inside]
        if not len(start):
            break
        longer = run * len(distinct) + item[start + n]
        together = np.argsort(longer)
        start, longer = start[together], longer[together]
        new = np.concatenate([[True], longer[1:] != longer[:-1]])
        first = np.flatnonzero(new)
        theirs = np.add.reduceat(side[start] & 1, first)
        both = np.minimum(theirs, np.diff(first, append=len(start)) - theirs)
        np.add.at(shared[:, n], side[start[first]] >> 1, both)
        run = np.cumsum(new) - 1
        kept = both[run] > 0
        start, run = start[kept], run[kept]
    return shared
