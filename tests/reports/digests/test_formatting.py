"""How numbers, foreign words and texts look, and where names are broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import VERDICTS
from valor_cli.reports.digests.formatting import (
    against,
    against_share,
    capital,
    clean,
    covered,
    money,
    number,
    parameter,
    percent,
    short,
    shown_input,
    signed,
    span,
    words,
)
from valor_cli.reports.digests.texts import LENGTH, left_out, parts, shown_verdicts, titles, visible
from valor_cli.reports.render.fitting import folded
from valor_cli.results import InputFile, ShownText, Verdict


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.5, "fraction", "0.500"),
        (None, "fraction", "–"),
        (36781, "count", "36,781"),
        (36781.0, "count", "36,781"),
        (2.5, "count", "2.500"),
        (-0.25, "cosine", "−0.250"),
        (0.0, "fraction", "0.000"),
        (0.00001, "loss", "1.0e-05"),
        (-0.00001, "loss", "−1.0e-05"),
        (-0.0, "fraction", "0.000"),
        (-0.0, "count", "0"),
        (12345.6789, "perplexity", "12,345.679"),
        (9.99e14, "perplexity", "999,000,000,000,000.000"),
        (3.2e217, "perplexity", "3.2e+217"),
        (-3.25e15, "loss", "−3.25e+15"),
        (1e15, "count", "1e+15"),
    ],
)
def test_number(value: float | None, unit: str, text: str) -> None:
    assert number(value, unit) == text


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
INPUT = InputFile("a.csv", "ab" * 32, 1200, 3)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (lambda: money(None), "unknown"),
        (lambda: money(0.0), "$0"),
        (lambda: money(0.00001), "<$0.0001"),
        (lambda: money(0.0001), "$0.0001"),
        (lambda: money(0.0012), "$0.0012"),
        (lambda: money(0.01234), "$0.0123"),
        (lambda: money(0.5), "$0.50"),
        (lambda: money(0.123), "$0.123"),
        (lambda: money(0.99994), "$0.9999"),
        (lambda: money(0.99996), "$1.00"),
        (lambda: money(12.344), "$12.34"),
        (lambda: money(1234.5), "$1,234.50"),
        # There is always a sign, unless it is nothing.
        (lambda: signed(0.134), "+0.134"),
        (lambda: signed(-0.01), "−0.010"),
        (lambda: signed(0.0), "0.000"),
        (lambda: signed(1e-17), "0.000"),
        (lambda: signed(-4.7e-05), "0.000"),
        (lambda: signed(-0.0), "0.000"),
        (lambda: signed(None), "–"),
        (lambda: signed(-1200, "count"), "−1,200"),
        # A value never looks like the limit that it misses.
        (lambda: against(0.39996, 0.4), ("0.39996", "0.40000")),
        (lambda: against(0.4, 0.4), ("0.400", "0.400")),
        (lambda: against(0.3, 0.4), ("0.300", "0.400")),
        (lambda: against(-0.0, 0.0), ("0.000", "0.000")),
        (lambda: against(None, 0.4), ("–", "0.400")),
        (lambda: against(3, 10, "count"), ("3", "10")),
        (lambda: against_share(0.88, 0.95), ("88%", "95%")),
        # 35 of 40 samples: everywhere 87%, and never more than there is.
        (lambda: against_share(0.875, 0.9), ("87%", "90%")),
        (lambda: against_share(0.9496, 0.95), ("94%", "95%")),
        (lambda: against_share(0.9504, 0.95), ("95.04%", "95.00%")),
        (lambda: against_share(0.29, 0.29), ("29%", "29%")),
        (lambda: against_share(0.004, 0.95), ("<1%", "95%")),
        (lambda: against_share(0.95, 0.955), ("95.0%", "95.5%")),
        (lambda: against_share(1.0, 1.0), ("100%", "100%")),
        (lambda: against_share(None, 0.95), ("–", "95%")),
        (lambda: [covered(part) for part in (0.0, 0.001, 0.01, 0.29)], ["0%", "<1%", "1%", "29%"]),
        (
            lambda: [covered(part) for part in (0.875, 0.9496, 0.996, 1.0)],
            ["87%", "94%", "99%", "100%"],
        ),
        (
            lambda: [percent(part) for part in (0.0, 0.0004, 0.001, 0.5)],
            ["0.0%", "<0.1%", "0.1%", "50.0%"],
        ),
        (lambda: [percent(part) for part in (0.9994, 0.9996, 1.0)], ["99.9%", ">99.9%", "100.0%"]),
        (lambda: span((0.1, 0.25)), "[0.100, 0.250]"),
        (lambda: span(None), ""),
        (lambda: span((3.8e-05, 0.126)), "[0.000, 0.126]"),
        (lambda: span((-36.0, -2.2e-16)), "[−36.000, 0.000]"),
        (lambda: span((1e-5, 2e-5)), "[1.0e-05, 2.0e-05]"),
        (lambda: short(0), "0"),
        (lambda: short(99_999), "99,999"),
        (lambda: short(100_000), "100k"),
        (lambda: short(123_456), "123k"),
        (lambda: short(999_499), "999k"),
        (lambda: short(999_500), "1.00M"),
        (lambda: short(1_234_567), "1.23M"),
        (lambda: short(12_345_678), "12.3M"),
        (lambda: short(123_456_789), "123M"),
        (lambda: short(4_000_000_000), "4.00G"),
        (lambda: short(7_500_000_000_000_000), "7,500.00T"),
        # What can be seen is kept.
        (lambda: clean("\x1b[31mred\x1b[0m"), "red"),
        (lambda: clean("\x1b]0;title\x07after"), "after"),
        (lambda: clean("\x1b]0;title without end"), "]0;title without end"),
        (lambda: clean("a\tb\r\nc\u2028d"), "a b c d"),
        (lambda: clean("evil\u202egnp"), "evilgnp"),
        (lambda: clean("\udcff\x00"), "(empty)"),
        (lambda: clean("שלום 🚲"), "שלום 🚲"),
        (lambda: clean("x" * 10_000), "x" * 79 + "…"),
        (lambda: [capital(text) for text in ("mean IoU", "F1", "")], ["Mean IoU", "F1", ""]),
        (lambda: words("object_detection"), "object detection"),
        (lambda: parameter(0.5), "0.5"),
        (lambda: parameter((0.5, 0.75)), "0.5, 0.75"),
        (lambda: parameter([0.5, 0.55, 0.6, 0.65, 0.7]), "0.5…0.7 (5)"),
        (lambda: [parameter(value) for value in (None, True, "macro")], ["none", "true", "macro"]),
        (lambda: parameter({"cat": 0.4, "dog": 0.6}), "cat 0.4, dog 0.6"),
        (lambda: parameter({}), "none"),
        (lambda: parameter({f"l{i}": i / 10 for i in range(4)}), "l0 0, l1 0.1, l2 0.2, l3 0.3"),
        (lambda: parameter({f"l{i}": i / 10 for i in range(9)}), "l0 0, l1 0.1, l2 0.2, … (9)"),
        (lambda: parameter({"\x1b[31mred": 0.5}), "red 0.5"),
        (lambda: len(parameter({"x" * 1000: 0.5})) < 40, True),
        # JSON is told by its keys, a hash by its first digits.
        (lambda: parameter(SCHEMA), "{type, properties}"),
        (
            lambda: parameter({**SCHEMA, "required": ["a"], "title": "T"}),
            "{type, properties, required, … (4)}",
        ),
        (
            lambda: parameter([{"type": "object", "check": "x"}, {"type": "a"}]),
            "{type, check}, {type}",
        ),
        (lambda: parameter([SCHEMA] * 9), "{type, properties}…{type, properties} (9)"),
        (lambda: parameter({"a": [], "\x1b[31mb" * 99: {}}), "{a, bbbbbbbbbbbbbbb…}"),
        (lambda: parameter("0123456789abcdef" * 4), "0123456789ab"),
        (lambda: parameter("0123456789abcdef" * 3), "0123456789abcdef0123456789abcdef0123456…"),
        (lambda: shown_input(INPUT), ("a.csv", "1,200", "3", "ab" * 32)),
        # What is not known of a file that was left out is not shown as 0.
        (
            lambda: shown_input(InputFile("a.csv.gz", "ab" * 32, None, left_out="cut off")),
            ("a.csv.gz", "–", "left out", "ab" * 32),
        ),
        (
            lambda: shown_input(InputFile("a", None, None, left_out="gone")),
            ("a", "–", "left out", "–"),
        ),
    ],
)
def test_what_is_shown(shown: Callable[[], object], text: object) -> None:
    assert shown() == text


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


@pytest.mark.parametrize(
    ("text", "marks", "told"),
    [
        (
            *("call \x0012 or 34", [(5, 8, "PHONE"), (12, 14, "AGE\x1b[0m")]),
            [("call ", ""), ("‹NUL›12", "PHONE"), (" or ", ""), ("34", "AGE")],
        ),
        ("", [], []),
        ("ab", [(0, 2, "x")], [("ab", "x")]),
    ],
)
def test_parts_worked_by_hand(text: str, marks: Any, told: list[tuple[str, str]]) -> None:
    assert list(parts(ShownText("response", text, marks))) == told


def test_titles_number_what_there_are_several_of() -> None:
    fields = ("user_input", "response", "references[0]", "retrieved_contexts[0]")
    shown = [ShownText(field, "") for field in (*fields, "retrieved_contexts[4]")]
    assert titles(shown) == ["User input", "Response", "Reference", "Context 1", "Context 5"]
    # The fifth alone keeps its number: the others are not shown.
    assert titles(shown[-1:]) == ["Context 5"]
    assert titles([ShownText("reference_contexts[0]", "")]) == ["Reference context"]


def test_how_much_is_left_out() -> None:
    told = [left_out(ShownText("response", "a", left_out=count)) for count in (0, 1, 48_211)]
    assert told == ["", "… 1 character left out", "… 48,211 characters left out"]


def test_each_verdict_with_its_side() -> None:
    shown = shown_verdicts(VERDICTS, 20)
    assert [(line.mark, line.side, line.word) for line in shown.lines] == [
        *[("✓", "for", "supported")] * 2,
        *[("✗", "against", "not supported")] * 2,
        ("–", "neither", "not a claim"),
    ]
    assert shown.lines[0].text == "The harbour bridge was opened on 19 March 1932."
    assert shown.lines[2].reason == "No context says how tall it is or was."
    assert (shown.counts, shown.left_out) == ("2 for, 2 against, 1 neither", 0)
    nothing = shown_verdicts((), 5)
    assert (nothing.lines, nothing.counts, nothing.left_out) == ((), "", 0)


def test_those_against_the_sample_stay_where_there_are_too_many() -> None:
    verdicts = [Verdict(str(at), "yes", at % 10 != 7) for at in range(40)]
    shown = shown_verdicts(verdicts, 6)
    # against are 7, 17, 27 and 37; the first two others fill the rest, all in their order
    assert [line.text for line in shown.lines] == ["0", "1", "7", "17", "27", "37"]
    assert (shown.counts, shown.left_out) == ("36 for, 4 against", 34)
    assert [line.text for line in shown_verdicts(verdicts, 3).lines] == ["7", "17", "27"]


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        (Verdict("", "", None), ("", "(empty)", "")),
        (
            Verdict("x" * LENGTH, "w" * 200, True, "y" * (LENGTH + 1)),
            ("x" * LENGTH, "w" * 60, "y" * LENGTH + " …"),
        ),
        (Verdict("z" * 10_000_000, "no"), ("z" * LENGTH + " …", "no", "")),
    ],
    ids=["empty", "long", "huge"],
)
def test_long_verdicts_are_cut(verdict: Verdict, told: tuple[str, str, str]) -> None:
    (line,) = shown_verdicts([verdict], 5).lines
    assert (line.text, line.word, line.reason) == told


@pytest.mark.parametrize("word", [*HOSTILE, "a\x00b\x1b[1m", "\ud800", "\U000e0041" * 9])
def test_what_verdicts_hide_is_named(word: str) -> None:
    (line,) = shown_verdicts([Verdict(word, word, True, word)], 1).lines
    for text in (line.text, line.word, line.reason):
        assert not set("\x00\x1b\u202e\ud800\n\U000e0041") & set(text)
        assert len(text) <= LENGTH + 2


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("sensitive_data_leakage pass ↑", 14, ["sensitive_", "data_leakage ", "pass ↑"]),
        ("logistic_regression", 14, ["logistic_", "regression"]),
        ("metadata.time_s=[0.945, 1.5]", 20, ["metadata.time_s=", "[0.945, 1.5]"]),
        ("llama-3.1-405b is", 14, ["llama-3.1-405b ", "is"]),
        # A word that is too long is cut; what fits stays whole.
        ("incomprehensible", 6, ["incomp", "rehens", "ible"]),
        ("accuracy ↑", 10, ["accuracy ↑"]),
    ],
)
def test_names_are_broken_between_their_words(text: str, width: int, lines: list[str]) -> None:
    assert folded(text, width) == lines
