"""Words as numbers: by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.tokenize import tokenize

from valor_cli.kernels.text.token_codes import (
    LineWords,
    WordCodes,
    ascii_lines,
    ascii_words,
    is_mostly_lost,
    line_by_line,
    unicode_words,
)


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


# Of İ and ſ small letters are no ASCII, of the Kelvin sign they are; a line ends at "\n" alone.
ODD = st.sampled_from("abz AB09\n\r\t.-éİſ\u212a\x00\x85\u2028\ud800\U0001f600")


def lines_of(words: LineWords) -> list[list[str]]:
    left = [words.distinct[at] for at in words.positions]
    lines = []
    for count in words.counts:
        lines.append(left[:count])
        left = left[count:]
    assert not left
    return lines


def test_line_by_line() -> None:
    assert lines_of(line_by_line(str.split)("a b\n\n a\n")) == [["a", "b"], [], ["a"], []]


@given(st.text(ODD | st.characters(), max_size=200))
def test_any_text(text: str) -> None:
    assert lines_of(ascii_lines(text)) == [ascii_words(line) for line in text.split("\n")]


def test_words_of_every_length_are_told_apart() -> None:
    lot = random.Random(0)
    sizes = [*range(1, 26), 31, 32, 33, 63, 64, 65, 80, 200]
    words = ["a" * size + end for size in sizes for end in ("", "b", "ab")] * 3
    lot.shuffle(words)
    found = ascii_lines(" ".join(words))
    assert lines_of(found) == [words]
    assert len(found.distinct) == len(set(words))


def test_equal_words_have_equal_numbers_in_all_texts() -> None:
    codes = WordCodes(str.split)
    first = codes.of(["b a b", "", "c"])
    assert first.sequences() == [[0, 1, 0], [], [2]]
    assert first.lengths.tolist() == [3, 0, 1]
    assert codes.of(["c d"]).sequences() == [[2, 3]]


def test_lines_without_words_are_none() -> None:
    coded = WordCodes(str.split).of(["\n a b\n \nc\n", "", "\n", "d"])
    assert coded.line_counts().tolist() == [2, 0, 0, 1]
    # a b, c, d
    assert coded.lines.tolist() == [0, 2, 3]


def test_words_that_merge_have_one_number_and_are_merged_once() -> None:
    asked = []

    def merged(word: str) -> str:
        asked.append(word)
        return word.lower()

    coded = WordCodes(str.split, merged).of(["A a A", "a b"])
    assert coded.sequences() == [[0, 0, 0], [0, 1]]
    assert asked == ["A", "a", "b"]
