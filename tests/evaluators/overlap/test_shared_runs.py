"""Runs that pairs of sequences share, against counters."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.evaluators.overlap.metrics.chrf import character_codes, run_counts, shared_runs

TEXT = st.text("aab \U0001f600", max_size=12)


def shared(pairs: list[tuple[str, str]], order: int) -> list[list[int]]:
    texts = [text for pair in pairs for text in pair]
    lengths = np.array([len(text) for text in texts], np.int64)
    return shared_runs(character_codes("".join(texts)), lengths, order).tolist()


def counted(pair: tuple[str, str], order: int) -> list[int]:
    """The slow way."""
    sides = [
        [Counter(text[at : at + n] for at in range(len(text) - n + 1)) for text in pair]
        for n in range(1, order + 1)
    ]
    return [(mine & theirs).total() for mine, theirs in sides]


def test_by_hand() -> None:
    # "abab" and "aba": a a b shared; "ab" once, "ba" once; "aba". Of "ab" and "cd" nothing.
    assert shared([("abab", "aba"), ("ab", "cd")], 4) == [[3, 2, 1, 0], [0, 0, 0, 0]]


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5), st.integers(1, 5))
def test_any_pairs(pairs: list[tuple[str, str]], order: int) -> None:
    assert shared(pairs, order) == [counted(pair, order) for pair in pairs]


def test_half_a_character_is_a_character() -> None:
    assert shared([("\ud800a", "a\ud800")], 2) == [[2, 0]]


def test_run_counts() -> None:
    assert run_counts(np.array([0, 2, 5]), 3).tolist() == [[0, 0, 0], [2, 1, 0], [5, 4, 3]]
