"""Verdicts of a sample as reports show them."""

from __future__ import annotations

import pytest

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import VERDICTS
from valor_cli.reports.digests.samples.verdicts import LENGTH, shown_verdicts
from valor_cli.results import Verdict


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
def test_what_is_hidden_is_named(word: str) -> None:
    (line,) = shown_verdicts([Verdict(word, word, True, word)], 1).lines
    for text in (line.text, line.word, line.reason):
        assert not set("\x00\x1b\u202e\ud800\n\U000e0041") & set(text)
        assert len(text) <= LENGTH + 2
