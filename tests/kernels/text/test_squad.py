"""Normalised answers and their overlap: worked by hand, and against plain loops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import squad as oracle
from valor_cli.kernels.text.squad import Overlap, normalised, word_overlap

ODD = st.text(alphabet="aAnN tThHeE.,-'“–\t\n\u00a0\x00İßЖ漢1", max_size=30)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The Beatles", "beatles"),
        ("  An  apple,\na day!  ", "apple day"),
        ("A.A.Milne", "aamilne"),  # punctuation goes before articles are looked for
        ("a–b", "–b"),  # a dash that is no ASCII stays, and ends a word
        ("theatre Anna", "theatre anna"),
        ("“The End”", "“ end”"),
        ("the a an", ""),
        ("?!", ""),
        ("", ""),
        ("a\u00a0an\u2003pie", "pie"),
    ],
)
def test_worked_by_hand(text: str, left: str) -> None:
    assert normalised(text) == left


@given(ODD)
def test_same_words_as_by_plain_loops(text: str) -> None:
    assert normalised(text).split() == oracle.words(text)


def test_overlap_by_hand() -> None:
    # "red" twice on the left and once on the right counts once: 2 of 4 and 2 of 3 words.
    found = word_overlap(["red", "red", "blue", "sea"], ["blue", "red", "sky"])
    assert found == Overlap(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3), 2 / 4, 2 / 3)
    assert found.f1 == pytest.approx(4 / 7)
    assert word_overlap(["red"], ["blue"]) == (0, 0, 0)


def test_no_words() -> None:
    assert word_overlap([], []) == (1, 1, 1)
    assert word_overlap([], ["red"]) == (0, 0, 0)
    assert word_overlap(["red"], []) == (0, 0, 0)
