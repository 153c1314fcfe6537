"""Texts of examples: nothing in them that is unseen, marks where they belong."""

from __future__ import annotations

import pytest

from valor_cli.reports.digests.samples.texts import left_out, parts, titles, visible
from valor_cli.results import ShownText


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain שלום 🚲", "plain שלום 🚲"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("windows\r\nline", "windows\nline"),
        ("over\rwritten", "over‹CR›written"),
        ("\x1b[31mred\x1b[0m", "‹ESC›[31mred‹ESC›[0m"),
        ("a\x00b\x01c\x7fd\x85e", "a‹NUL›b‹U+0001›c‹DEL›d‹U+0085›e"),
        ("evil\u202egnp.exe", "evil‹U+202E›gnp.exe"),
        ("zero\u200bwidth\ufeff", "zero‹U+200B›width‹U+FEFF›"),
        ("lone\udcff", "lone‹U+DCFF›"),
        ("\U000e0041" * 3, "‹U+E0041›" * 3),
        ("\U000e0041" * 1_000, "‹U+E0041 and 999 more hidden characters›"),
        ("👩\u200d👩\u200d👧 \u200fשלום", "👩\u200d👩\u200d👧 \u200fשלום"),  # joined, directed
    ],
)
def test_what_is_hidden_is_named(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_parts_worked_by_hand() -> None:
    shown = ShownText("response", "call \x0012 or 34", [(5, 8, "PHONE"), (12, 14, "AGE\x1b[0m")])
    assert list(parts(shown)) == [
        ("call ", ""),
        ("‹NUL›12", "PHONE"),
        (" or ", ""),
        ("34", "AGE"),
    ]
    assert list(parts(ShownText("response", ""))) == []
    assert list(parts(ShownText("response", "ab", [(0, 2, "x")]))) == [("ab", "x")]


def test_titles_number_what_there_are_several_of() -> None:
    fields = ("user_input", "response", "references[0]", "retrieved_contexts[0]")
    shown = [ShownText(field, "") for field in (*fields, "retrieved_contexts[4]")]
    assert titles(shown) == ["User input", "Response", "Reference", "Context 1", "Context 5"]
    # The fifth alone keeps its number: the others are not shown.
    assert titles(shown[-1:]) == ["Context 5"]
    assert titles([ShownText("reference_contexts[0]", "")]) == ["Reference context"]


def test_how_much_is_left_out() -> None:
    assert left_out(ShownText("response", "a")) == ""
    assert left_out(ShownText("response", "a", left_out=1)) == "… 1 character left out"
    assert left_out(ShownText("response", "a", left_out=48_211)) == "… 48,211 characters left out"
