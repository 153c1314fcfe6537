"""The substring whose repetitions cover most of a text, against trying all of them."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from valor_cli.kernels.text.repeats import Repeat, most_repeated


def most_covered(text: str, shortest: int) -> int:
    """By the definition: every substring, counted as `str.count` does, from the left."""
    most = 0
    for length in range(shortest, len(text) // 2 + 1):
        for piece in {text[at : at + length] for at in range(len(text) - length + 1)}:
            times = text.count(piece)
            if times > 1:
                most = max(most, times * length)
    return most


def check(text: str, shortest: int) -> None:
    found = most_repeated(text, shortest)
    assert found.covered == found.at_most == most_covered(text, shortest)
    if not found.length:
        assert found == Repeat()
        return
    piece = text[found.starts[0] : found.starts[0] + found.length]
    assert found.length >= shortest
    assert found.covered == found.length * len(found.starts)
    assert all(text.startswith(piece, start) for start in found.starts)
    pairs = zip(found.starts, found.starts[1:], strict=False)
    assert all(after - before >= found.length for before, after in pairs)


# Small alphabets, in which occurrences overlap and loops begin and break off.
LETTERS = (
    st.text("ab", max_size=50) | st.text("abc", max_size=50) | st.text("a\U0001f600", max_size=40)
)
LOOPS = st.builds(
    lambda head, unit, times, between, again, tail: (
        head + unit * times + between + unit * again + tail
    ),
    st.text("ab", max_size=6),
    st.text("abc", min_size=1, max_size=9),
    st.integers(0, 8),
    st.text("ab", max_size=6),
    st.integers(0, 6),
    st.text("ab", max_size=6),
)


@settings(max_examples=100, deadline=None)
@given(text=LETTERS | LOOPS, shortest=st.sampled_from([2, 3, 5, 10]))
@example("ababbbbaababbabbaabaaaababaabbabaabb", 2)
@example("a" * 23, 10)
@example("aab" * 9 + "aa", 10)
def test_all_substrings(text: str, shortest: int) -> None:
    check(text, shortest)


@pytest.mark.parametrize("seed", range(8))
def test_longer_texts(seed: int) -> None:
    # Beyond one round of doubling: common prefixes of up to hundreds of characters.
    draw = random.Random(seed)
    unit = "".join(draw.choice("abcd") for _ in range(draw.randint(3, 40)))
    text = "".join(draw.choice("abcd") for _ in range(60)) + unit * (240 // len(unit))
    check(text[: draw.randint(150, 300)] + unit * 2, 10)


def test_by_hand() -> None:
    # "I am sorry" (10) stands three times, "I am sorry, no" (14) twice: 30 against 28 characters.
    text = "I am sorry, no. I am sorry. Well, I am sorry, no?"
    assert most_repeated(text) == Repeat((0, 16, 34), 10, 30, 30)
    # As a loop of ten characters: all of it, once as often as it goes.
    assert most_repeated("0123456789" * 7) == Repeat(tuple(range(0, 70, 10)), 10, 70, 70)
    # Of nine characters, a unit of ten or more is 18: three of them, or 27 twice.
    assert most_repeated("012345678" * 6).covered == 54


@pytest.mark.parametrize("text", ["", "a", "a" * 19, "abcdefghij" * 1, "abcdefghijabcdefghi"])
def test_nothing_repeats(text: str) -> None:
    assert most_repeated(text) == Repeat()


def test_characters_are_code_points() -> None:
    # As UTF-8, a family emoji alone would be 25 bytes, as UTF-16 eleven units.
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    assert most_repeated(family * 2) == Repeat()
    assert most_repeated(family * 3 + "x" + family * 3).covered == 42
    assert most_repeated("e\u0301" * 10).covered == 20
    assert most_repeated("\ud800bcdefghij" * 2).covered == 20


def test_an_alphabet_of_its_own() -> None:
    # More different characters than one byte, or two, could number.
    text = "".join(map(chr, range(0x10000, 0x30000)))
    assert most_repeated(text) == Repeat()
    twice = most_repeated(text[:5000] + text[:5000])
    assert (twice.starts, twice.length) == ((0, 5000), 5000)


def test_work_is_bounded() -> None:
    # Fibonacci's word: each beginning occurs at many places, all overlapping.
    before, word = "a", "ab"
    while len(word) < 3000:
        before, word = word, word + before
    whole = most_repeated(word)
    assert whole.at_most == whole.covered
    cut = most_repeated(word, work=1)
    assert cut.covered <= whole.covered <= cut.at_most <= len(word)
    assert cut.covered < cut.at_most
    assert most_repeated(word, work=1) == cut
