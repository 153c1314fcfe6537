"""Count the word n-grams that text pairs share."""

from __future__ import annotations

import numpy as np

from valor_cli.kernels.text.token_codes import Coded, Ints

_LARGEST = 1 << 62


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
    own, own_text = _windows(hypotheses, order)
    right, right_text = _windows(references, order)
    own_grams, right_grams, distinct = _numbered(own, right, len(paired) + len(hypotheses.lengths))
    keys, counts = np.unique(own_text * distinct + own_grams, return_counts=True)
    wanted, most = np.unique(right_text * distinct + right_grams, return_counts=True)
    reference, gram = np.divmod(wanted, distinct)
    looked_up = paired[reference] * distinct + gram
    at = np.searchsorted(keys, looked_up)
    at[at == len(keys)] = 0
    found = keys[at] == looked_up if len(keys) else np.zeros(len(at), np.bool_)
    shared = np.minimum(counts[at[found]], most[found])
    return np.bincount(reference[found], shared, len(paired)).astype(np.int64)


def _windows(texts: Coded, order: int) -> tuple[Ints, Ints]:
    """(g, order) the n-grams of all texts, and (g,) the text of each."""
    text = np.repeat(np.arange(len(texts.starts) - 1), texts.lengths)
    last = len(text) - order + 1
    if last <= 0:
        return np.empty((0, order), np.int64), np.empty(0, np.int64)
    inside = text[:last] == text[order - 1 :]
    windows = np.lib.stride_tricks.sliding_window_view(texts.codes, order)
    return windows[inside], text[:last][inside]


def _numbered(own: Ints, right: Ints, texts: int) -> tuple[Ints, Ints, int]:
    """A number for each n-gram, equal ones equal, and how many numbers there may be.

    That times `texts` is less than 2 ** 62.
    """
    grams = np.concatenate([own, right])
    numbers = grams[:, 0]
    words = int(grams.max(initial=0)) + 1
    distinct = words
    for column in grams.T[1:]:
        numbers = numbers * words + column
        distinct *= words
        if distinct * max(words, texts) >= _LARGEST:
            numbers = np.unique(numbers, return_inverse=True)[1]
            distinct = int(numbers.max(initial=0)) + 1
    return numbers[: len(own)], numbers[len(own) :], distinct
