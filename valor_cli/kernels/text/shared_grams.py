"""Count the word n-grams that text pairs share, and the rates that follow."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import equal_keys, quotient
from valor_cli.kernels.text.token_codes import Coded, Ints

Floats = NDArray[np.float64]

_LARGEST: Final = 1 << 62
_AT_ONCE: Final = 1 << 15
"""Words of hypotheses that are looked at together."""


def gram_counts(texts: Coded, order: int) -> Ints:
    """(n,) number of n-grams in each text."""
    return np.maximum(texts.lengths - order + 1, 0)


def shared_grams(hypotheses: Coded, references: Coded, paired: Ints, order: int) -> Ints:
    """(r,) n-grams shared by each reference and its hypothesis, with multiplicity.

    Args:
        hypotheses: n texts.
        references: r texts, numbered by the same `WordCodes`.
        paired: (r,) the hypothesis of each reference; ascending.
        order: The n of n-grams; 1 or more.
    """
    # Grams are equal within a pair alone, and a small table stays in the cache.
    cuts = np.arange(0, len(hypotheses.codes) + 1, _AT_ONCE)
    firsts = np.unique(hypotheses.starts[:-1].searchsorted(cuts))
    firsts = np.append(firsts[firsts < len(hypotheses.lengths)], len(hypotheses.lengths))
    found = [np.empty(0, np.int64)]
    for low, high in pairwise(firsts.tolist()):
        first, last = paired.searchsorted([low, high]).tolist()
        own, right = hypotheses.part(low, high), references.part(first, last)
        found.append(_shared(own, right, paired[first:last] - low, order))
    return np.concatenate(found)


def _shared(hypotheses: Coded, references: Coded, paired: Ints, order: int) -> Ints:
    own, own_text = _windows(hypotheses, order)
    right, right_text = _windows(references, order)
    grams = np.concatenate([own, right])
    number = np.concatenate([own_text, paired[right_text]])
    above, words = len(hypotheses.lengths), int(grams.max(initial=0)) + 1
    for column in grams.T:
        if above * words >= _LARGEST:
            number, above = equal_keys(number), len(number)
        number = number * words + column
        above *= words
    number = equal_keys(number)
    counts = np.bincount(number[: len(own)], minlength=len(number))
    wanted = number[len(own) :]
    once = equal_keys(right_text * len(number) + wanted)
    most = np.bincount(once, minlength=len(wanted))
    shared = np.minimum(counts[wanted], most)
    return np.bincount(right_text, shared, len(paired)).astype(np.int64)


def _windows(texts: Coded, order: int) -> tuple[Ints, Ints]:
    """(g, order) the n-grams of all texts, and (g,) the text of each."""
    text = np.repeat(np.arange(len(texts.starts) - 1), texts.lengths)
    last = len(text) - order + 1
    if last <= 0:
        return np.empty((0, order), np.int64), np.empty(0, np.int64)
    inside = text[:last] == text[order - 1 :]
    windows = np.lib.stride_tricks.sliding_window_view(texts.codes, order)
    return windows[inside], text[:last][inside]


class OverlapRates(NamedTuple):
    """Rates of text pairs: (p,) each, from 0 to 1."""

    f1: Floats
    precision: Floats
    recall: Floats


def overlap_rates(hits: Ints, hypothesis: Ints, reference: Ints) -> OverlapRates:
    """Precision, recall and F1; 0 where a side is empty, as in rouge-score.

    Args:
        hits: (p,) what both sides have.
        hypothesis, reference: (p,) what each side has.
    """
    precision, recall = quotient(hits, hypothesis, 0), quotient(hits, reference, 0)
    return OverlapRates(quotient(2 * precision * recall, precision + recall, 0), precision, recall)
