"""Words of texts: by hand, and rouge-score's own tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.tokenize import tokenize

from valor_cli.kernels.text.word_tokens import ascii_words, is_mostly_lost, unicode_words


@given(st.text(st.characters()))
def test_ascii_words_are_the_tokens_of_rouge_score(text: str) -> None:
    assert ascii_words(text) == tokenize(text, None)


@given(st.text(st.characters(codec="ascii")))
def test_of_ascii_texts_both_find_the_same_words(text: str) -> None:
    assert unicode_words(text + "\u2019") == ascii_words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" -_- ", []),
        ("Don't PANIC: 3.5_x", ["don", "t", "panic", "3", "5", "x"]),
        ("naïve café", ["na", "ve", "caf"]),
        # The sign of kelvin in lower case is the letter k.
        ("5 \u212a", ["5", "k"]),
        ("\ud800 مرحبا 我爱北京", []),
    ],
)
def test_ascii_words(text: str, expected: list[str]) -> None:
    assert ascii_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Naïve cafe\u0301s", ["naïve", "cafés"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("مَرْحَبًا يا عالم", ["مَرْحَبًا", "يا", "عالم"]),
        ("我爱 GPT4o天", ["我", "爱", "gpt4o", "天"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("a_b 😀 \ud800", ["a", "b"]),
    ],
)
def test_unicode_words(text: str, expected: list[str]) -> None:
    assert unicode_words(text) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], False),
        (["plain"], False),
        (["naïve café", "“quoted”"], False),
        (["مرحبا"], True),
        (["مرحبا", "a long answer in English"], False),
        # Four letters lost, four kept: not most of them.
        (["мирab12"], False),
        (["мирab1"], False),
        (["мирab"], True),
        (["— … ’"], False),
    ],
)
def test_is_mostly_lost(texts: list[str], expected: bool) -> None:
    assert is_mostly_lost(texts) is expected
