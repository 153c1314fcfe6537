"""Short answers compared as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.evaluators.embedding.metrics.answer_accuracy_semantic import (
    edit_likeness,
    equality,
    token_jaccard,
)


def test_edits_by_hand() -> None:
    # kitten - sitten - sittin - sitting: 3 edits of 7 characters.
    assert edit_likeness("kitten", "Sitting") == pytest.approx(4 / 7, abs=1e-12)
    assert edit_likeness("YES", "yes") == 1
    assert edit_likeness("ab", "cd") == 0
    assert edit_likeness("", "") == 1
    # Folded, ß is two letters: one edit of three characters is left.
    assert edit_likeness("ß", "ssa") == pytest.approx(2 / 3, abs=1e-12)


def test_equality_ignores_case() -> None:
    assert [equality("Yes", "yES"), equality("Yes", "Yes."), equality("Straße", "STRASSE")] == [
        1,
        0,
        1,
    ]


def test_words_by_hand() -> None:
    # {in, may} and {in, june}: one of three.
    assert token_jaccard("In May", "in June") == pytest.approx(1 / 3, abs=1e-12)
    assert token_jaccard("May, in May", "in may!") == 1
    assert token_jaccard("42", "43") == 0
    assert [token_jaccard("?", "?"), token_jaccard("?", "!"), token_jaccard("?", "a")] == [1, 0, 0]
    assert token_jaccard("北京 大", "北京") == 0.5


@given(st.text(max_size=12), st.text(max_size=12))
def test_both_ways_are_equal_and_between_0_and_1(one: str, other: str) -> None:
    for alike in (edit_likeness, equality, token_jaccard):
        assert alike(one, one) == 1
        assert 0 <= alike(one, other) <= 1
        assert alike(one, other) == pytest.approx(alike(other, one), abs=1e-12)
