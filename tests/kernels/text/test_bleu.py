"""The counts of BLEU and BLEU itself: by hand, and against NLTK's."""

from __future__ import annotations

from math import exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import closest_ref_length, modified_precision

from valor_cli.kernels.text.bleu import NgramMatches, bleu, brevity_penalty, ngram_matches

# Few words, so that they repeat.
WORDS = st.lists(st.sampled_from("abc"), max_size=9)
REFERENCES = st.lists(WORDS, min_size=1, max_size=4)


def test_clipping() -> None:
    # The paper's example: "the" counts twice, as in the first reference, not seven times.
    first = ["the", "cat", "is", "on", "the", "mat"]
    second = ["there", "is", "a", "cat", "on", "the", "mat"]
    found = ngram_matches(["the"] * 7, [first, second], 2)
    assert found == NgramMatches((2, 0), (7, 6), 7, 7)
    assert found.precisions(2) == [2 / 7, 0]


@pytest.mark.parametrize(
    ("words", "lengths", "nearest"),
    [(5, [4, 6], 4), (5, [6, 4], 4), (5, [9, 6], 6), (5, [0, 11], 0), (0, [3, 2], 2)],
)
def test_the_nearest_reference_counts(words: int, lengths: list[int], nearest: int) -> None:
    found = ngram_matches(["a"] * words, [["a"] * length for length in lengths], 1)
    assert found.reference_words == nearest


@given(WORDS, REFERENCES)
def test_counts_are_those_of_nltk(response: list[str], references: list[list[str]]) -> None:
    found = ngram_matches(response, references, 5)
    for n in range(1, 6):
        precision = modified_precision(references, response, n)
        assert found.matches[n - 1] == precision.numerator
        assert max(found.totals[n - 1], 1) == precision.denominator
    assert found.reference_words == closest_ref_length(references, len(response))


def test_brevity_penalty() -> None:
    assert brevity_penalty(12, 12) == 1
    assert brevity_penalty(13, 12) == 1
    # NLTK's example: 12 words against 28.
    assert brevity_penalty(12, 28) == pytest.approx(0.2635971381157267, abs=1e-15)
    assert brevity_penalty(0, 0) == 0


# Six words, of which 3 match; of 5 pairs 1; of 4 and of 3 longer ones none; as long as needed.
SOME = NgramMatches((3, 1, 0, 0), (6, 5, 4, 3), 6, 6)
UNIFORM = (0.25,) * 4


@pytest.mark.parametrize(
    ("weights", "options", "product"),
    [
        (UNIFORM, {}, 0),
        ((0.5, 0.5), {}, (3 / 6 * 1 / 5) ** 0.5),
        # An order of weight 0 does not count.
        ((1.0, 0.0, 0.0), {}, 3 / 6),
        # 0.1 matches of 4 and 0.1 of 3.
        (UNIFORM, {"smoothing": "floor"}, (3 / 6 * 1 / 5 * 0.1 / 4 * 0.1 / 3) ** 0.25),
        (
            UNIFORM,
            {"smoothing": "floor", "smoothing_value": 0.5},
            (3 / 6 * 1 / 5 * 0.5 / 4 * 0.5 / 3) ** 0.25,
        ),
        # One more match and one more n-gram, but of single words.
        (UNIFORM, {"smoothing": "add-k"}, (3 / 6 * 2 / 6 * 1 / 5 * 1 / 4) ** 0.25),
        # The first order without a match has half a match, the next a quarter.
        (UNIFORM, {"smoothing": "exp"}, (3 / 6 * 1 / 5 * (1 / 2) / 4 * (1 / 4) / 3) ** 0.25),
    ],
)
def test_smoothing(weights: tuple[float, ...], options: dict[str, Any], product: float) -> None:
    assert bleu(SOME, weights, **options) == pytest.approx(product, abs=1e-15)
    # However smoothed, no match of a word is 0.
    assert bleu(SOME._replace(matches=(0, 0, 0, 0)), weights, **options) == 0


def test_effective_order_leaves_out_what_is_too_long() -> None:
    # Two words, both right, of three: one pair, nothing longer.
    short = NgramMatches((2, 1, 0, 0), (2, 1, 0, 0), 2, 3)
    assert bleu(short, UNIFORM) == 0
    assert bleu(short, UNIFORM, effective_order=True) == pytest.approx(exp(1 - 3 / 2), abs=1e-15)
    # Weights 0.1 and 0.3 become 0.25 and 0.75.
    weighted = bleu(SOME._replace(totals=(6, 5, 0, 0)), (0.1, 0.3, 0.6), effective_order=True)
    assert weighted == pytest.approx(exp(0.25 * log(3 / 6) + 0.75 * log(1 / 5)), abs=1e-15)
    # Only pairs have a weight, and there is none.
    word = NgramMatches((1, 0), (1, 0), 1, 1)
    assert bleu(word, (0.0, 1.0), effective_order=True) == 0
