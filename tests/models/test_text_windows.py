"""Windows over texts that are longer than a model sees."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.models.text.windows import window_shares, windows


def test_windows_worked_by_hand() -> None:
    # A quarter of 10 is 2: windows start at 0, 8 and 16; the third reaches 26 and ends at 25.
    assert windows(25, 10) == [slice(0, 10), slice(8, 18), slice(16, 25)]


@pytest.mark.parametrize("tokens", [0, 1, 9, 10])
def test_what_fits_is_one_window(tokens: int) -> None:
    assert windows(tokens, 10) == [slice(0, tokens)]


def test_the_last_window_ends_where_the_text_does() -> None:
    assert windows(18, 10) == [slice(0, 10), slice(8, 18)]


@given(st.integers(0, 500), st.integers(1, 60))
def test_windows_cover_all_and_none_is_needless(tokens: int, room: int) -> None:
    found = windows(tokens, room)
    assert {at for span in found for at in range(tokens)[span]} == set(range(tokens))
    assert all(span.stop - span.start <= room for span in found)
    assert [span.stop for span in found] == sorted({span.stop for span in found})
    for before, after in pairwise(found):
        assert before.stop - after.start == room // 4


def test_rooms_worked_by_hand() -> None:
    assert window_shares(8, 2, 10) == (8, 2)  # both fit
    assert window_shares(3, 90, 10) == (3, 7)  # the premise has what is left
    assert window_shares(90, 3, 10) == (5, 5)  # the hypothesis takes half at most
    assert window_shares(0, 90, 10) == (1, 10)  # an empty text leaves all to the other


@given(st.integers(0, 300), st.integers(0, 300), st.integers(2, 60))
def test_two_windows_fit_together(hypothesis: int, premise: int, room: int) -> None:
    mine, rest = window_shares(hypothesis, premise, room)
    longest = [
        max(span.stop - span.start for span in windows(tokens, of))
        for tokens, of in ((hypothesis, mine), (premise, rest))
    ]
    assert sum(longest) <= room
    if hypothesis + premise <= room:
        assert longest == [hypothesis, premise]
