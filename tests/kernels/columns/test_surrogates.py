"""Halves of characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.columns.surrogates import whole_characters


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", ""),
        ("ascii", "ascii"),
        ("\U0001f600 ä", "\U0001f600 ä"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("a\ud800b", "a\ufffdb"),
        ("\ufeffa", "\ufeffa"),
    ],
)
def test_halves(text: str, whole: str) -> None:
    assert whole_characters(text) == whole


@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_what_comes_out_can_be_written_and_is_whole_already(text: str) -> None:
    found = whole_characters(text)
    found.encode()
    assert whole_characters(found) == found
