"""Texts of examples: nothing in them that is unseen, marks where they belong."""

from __future__ import annotations

import pytest

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import VERDICTS
from valor_cli.reports.digests.texts import LENGTH, left_out, parts, shown_verdicts, titles, visible
from valor_cli.results import ShownText, Verdict


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


def test_each_with_its_side() -> None:
    shown = shown_verdicts(VERDICTS, 20)
    assert [(line.mark, line.side, line.word) for line in shown.lines] == [
        ("✓", "for", "supported"),
        ("✓", "for", "supported"),
        ("✗", "against", "not supported"),
        ("✗", "against", "not supported"),
        ("–", "neither", "not a claim"),
    ]
    assert shown.lines[0].text == "The harbour bridge was opened on 19 March 1932."
    assert shown.lines[2].reason == "No context says how tall it is or was."
    assert (shown.counts, shown.left_out) == ("2 for, 2 against, 1 neither", 0)


def test_those_against_the_sample_stay_where_there_are_too_many() -> None:
    verdicts = [Verdict(str(at), "yes", at % 10 != 7) for at in range(40)]
    shown = shown_verdicts(verdicts, 6)
    # against are 7, 17, 27 and 37; the first two others fill the rest, all in their order
    assert [line.text for line in shown.lines] == ["0", "1", "7", "17", "27", "37"]
    assert (shown.counts, shown.left_out) == ("36 for, 4 against", 34)
    assert [line.text for line in shown_verdicts(verdicts, 3).lines] == ["7", "17", "27"]


def test_long_texts_are_cut() -> None:
    exact, longer = "x" * LENGTH, "y" * (LENGTH + 1)
    (line,) = shown_verdicts([Verdict(exact, "w" * 200, True, longer)], 1).lines
    assert line.text == exact
    assert line.reason == "y" * LENGTH + " …"
    assert line.word == "w" * 60
    (line,) = shown_verdicts([Verdict("z" * 10_000_000, "no")], 1).lines
    assert len(line.text) == LENGTH + 2


def test_nothing_was_judged() -> None:
    shown = shown_verdicts((), 5)
    assert (shown.lines, shown.counts, shown.left_out) == ((), "", 0)
    (line,) = shown_verdicts([Verdict("", "", None)], 5).lines
    assert (line.text, line.word, line.reason) == ("", "(empty)", "")


@pytest.mark.parametrize("word", [*HOSTILE, "a\x00b\x1b[1m", "\ud800", "\U000e0041" * 9])
def test_what_verdicts_hide_is_named(word: str) -> None:
    (line,) = shown_verdicts([Verdict(word, word, True, word)], 1).lines
    for text in (line.text, line.word, line.reason):
        assert not set("\x00\x1b\u202e\ud800\n\U000e0041") & set(text)
        assert len(text) <= LENGTH + 2
