"""That words numbered in columns are those that each line has by itself."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.text.line_words import LineWords, ascii_lines, line_by_line
from valor_cli.kernels.text.word_tokens import ascii_words

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


def test_lines() -> None:
    found = ascii_lines("The cat\n\nthe CAT sat")
    assert lines_of(found) == [["the", "cat"], [], ["the", "cat", "sat"]]
    assert sorted(found.distinct) == ["cat", "sat", "the"]


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
