"""Shared n-grams: by hand, and counted one pair at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.text import shared_grams as module
from valor_cli.kernels.text.shared_grams import gram_counts, overlap_rates, shared_grams
from valor_cli.kernels.text.token_codes import Coded, WordCodes

TEXTS = st.lists(st.text("abc", max_size=8).map(" ".join), max_size=6)


def one_by_one(hypothesis: str, reference: str, order: int) -> int:
    def grams(text: str) -> Counter[tuple[str, ...]]:
        words = text.split()
        return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))

    return sum((grams(hypothesis) & grams(reference)).values())


def coded(*columns: list[str]) -> list[Coded]:
    codes = WordCodes(str.split)
    return [codes.of(column) for column in columns]


def test_each_gram_counts_as_often_as_both_have_it() -> None:
    own, right = coded(["a b a b"], ["a a a b", "b a b a b", "c"])
    # Words: a twice and b once; a twice and b twice; none.
    # Pairs of the hypothesis: ab twice, ba. The references: ab; ba twice, ab twice; none.
    assert shared_grams(own, right, np.zeros(3, np.int64), 1).tolist() == [3, 4, 0]
    assert shared_grams(own, right, np.zeros(3, np.int64), 2).tolist() == [1, 3, 0]
    assert gram_counts(right, 2).tolist() == [3, 4, 0]


@given(TEXTS, st.data(), st.integers(1, 4), st.sampled_from([1, 5, 1 << 16]))
def test_as_counted_one_pair_at_a_time(
    texts: list[str], data: st.DataObject, order: int, at_once: int
) -> None:
    references = data.draw(TEXTS) if texts else []
    paired = sorted(data.draw(st.integers(0, len(texts) - 1)) for _ in references)
    own, right = coded(texts, references)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        found = shared_grams(own, right, np.array(paired, np.int64), order)
    assert found.tolist() == [
        one_by_one(texts[at], reference, order)
        for at, reference in zip(paired, references, strict=True)
    ]


def test_rates_are_zero_where_a_side_has_nothing() -> None:
    rates = overlap_rates(np.array([2, 0, 0]), np.array([4, 0, 3]), np.array([8, 5, 0]))
    assert rates.precision.tolist() == [0.5, 0, 0]
    assert rates.recall.tolist() == [0.25, 0, 0]
    # 2 · 1/2 · 1/4 / (3/4)
    assert rates.f1.tolist() == [pytest.approx(1 / 3), 0, 0]
