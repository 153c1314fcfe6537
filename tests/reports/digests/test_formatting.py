"""How numbers and foreign words look."""

from __future__ import annotations

import pytest

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
from valor_cli.results import InputFile


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


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (None, "unknown"),
        (0.0, "$0"),
        (0.00001, "<$0.0001"),
        (0.0001, "$0.0001"),
        (0.0012, "$0.0012"),
        (0.01234, "$0.0123"),
        (0.5, "$0.50"),
        (0.123, "$0.123"),
        (0.99994, "$0.9999"),
        (0.99996, "$1.00"),
        (12.344, "$12.34"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money(usd: float | None, text: str) -> None:
    assert money(usd) == text


def test_signed_always_has_a_sign_unless_it_is_nothing() -> None:
    assert [signed(v) for v in (0.134, -0.01, 0.0, 1e-17, -4.7e-05, -0.0, None)] == [
        "+0.134",
        "−0.010",
        "0.000",
        "0.000",
        "0.000",
        "0.000",
        "–",
    ]
    assert signed(-1200, "count") == "−1,200"


def test_a_value_never_looks_like_the_limit_it_misses() -> None:
    assert against(0.39996, 0.4) == ("0.39996", "0.40000")
    assert against(0.4, 0.4) == ("0.400", "0.400")
    assert against(0.3, 0.4) == ("0.300", "0.400")
    assert against(-0.0, 0.0) == ("0.000", "0.000")
    assert against(None, 0.4) == ("–", "0.400")
    assert against(3, 10, "count") == ("3", "10")


def test_span() -> None:
    assert span((0.1, 0.25)) == "[0.100, 0.250]"
    assert span(None) == ""
    assert span((3.8e-05, 0.126)) == "[0.000, 0.126]"
    assert span((-36.0, -2.2e-16)) == "[−36.000, 0.000]"
    assert span((1e-5, 2e-5)) == "[1.0e-05, 2.0e-05]"


def test_plain_keeps_what_can_be_seen() -> None:
    assert clean("\x1b[31mred\x1b[0m") == "red"
    assert clean("\x1b]0;title\x07after") == "after"
    assert clean("\x1b]0;title without end") == "]0;title without end"
    assert clean("a\tb\r\nc\u2028d") == "a b c d"
    assert clean("evil\u202egnp") == "evilgnp"
    assert clean("\udcff\x00") == "(empty)"
    assert clean("שלום 🚲") == "שלום 🚲"
    assert clean("x" * 10_000) == "x" * 79 + "…"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (99_999, "99,999"),
        (100_000, "100k"),
        (123_456, "123k"),
        (999_499, "999k"),
        (999_500, "1.00M"),
        (1_234_567, "1.23M"),
        (12_345_678, "12.3M"),
        (123_456_789, "123M"),
        (4_000_000_000, "4.00G"),
        (7_500_000_000_000_000, "7,500.00T"),
    ],
)
def test_short_counts(count: int, text: str) -> None:
    assert short(count) == text


def test_a_part_is_neither_none_nor_all_that_is_not() -> None:
    parts = (0.0, 0.0004, 0.001, 0.5, 0.9994, 0.9996, 1.0)
    told = ["0.0%", "<0.1%", "0.1%", "50.0%", "99.9%", ">99.9%", "100.0%"]
    assert [percent(part) for part in parts] == told


def test_a_heading_keeps_its_capitals() -> None:
    assert [capital(text) for text in ("mean IoU", "F1", "")] == ["Mean IoU", "F1", ""]


def test_a_number_for_each_label() -> None:
    assert parameter({"cat": 0.4, "dog": 0.6}) == "cat 0.4, dog 0.6"
    assert parameter({}) == "none"
    assert parameter({f"l{i}": i / 10 for i in range(4)}) == "l0 0, l1 0.1, l2 0.2, l3 0.3"
    assert parameter({f"l{i}": i / 10 for i in range(9)}) == "l0 0, l1 0.1, l2 0.2, … (9)"
    assert "\x1b" not in parameter({"\x1b[31mred": 0.5})
    assert len(parameter({"x" * 1000: 0.5})) < 40


def test_words_and_parameters() -> None:
    assert words("object_detection") == "object detection"
    assert parameter(0.5) == "0.5"
    assert parameter((0.5, 0.75)) == "0.5, 0.75"
    assert parameter([0.5, 0.55, 0.6, 0.65, 0.7]) == "0.5…0.7 (5)"
    assert [parameter(value) for value in (None, True, "macro")] == ["none", "true", "macro"]


def test_json_in_parameters_is_told_by_its_keys() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert parameter(schema) == "{type, properties}"
    assert parameter({**schema, "required": ["a"], "title": "T"}) == (
        "{type, properties, required, … (4)}"
    )
    assert parameter([{"type": "object", "check": "x"}, {"type": "list"}]) == (
        "{type, check}, {type}"
    )
    assert parameter([schema] * 9) == "{type, properties}…{type, properties} (9)"
    assert parameter({"a": [], "\x1b[31mb" * 99: {}}) == "{a, bbbbbbbbbbbbbbb…}"


def test_coverage_is_never_more_than_it_is() -> None:
    parts = (0.0, 0.001, 0.01, 0.29, 0.9496, 0.996, 1.0)
    assert [covered(part) for part in parts] == ["0%", "<1%", "1%", "29%", "94%", "99%", "100%"]


def test_a_part_is_told_from_its_limit() -> None:
    assert against_share(0.88, 0.95) == ("88%", "95%")
    # 35 of 40 samples: everywhere 87%, and never more than there is.
    assert against_share(0.875, 0.9) == (covered(0.875), "90%") == ("87%", "90%")
    assert against_share(0.9496, 0.95) == ("94%", "95%")
    assert against_share(0.9504, 0.95) == ("95.04%", "95.00%")
    assert against_share(0.29, 0.29) == ("29%", "29%")
    assert against_share(0.004, 0.95) == ("<1%", "95%")
    assert against_share(0.95, 0.955) == ("95.0%", "95.5%")
    assert against_share(1.0, 1.0) == ("100%", "100%")
    assert against_share(None, 0.95) == ("–", "95%")


def test_of_a_hash_the_first_digits_tell_enough() -> None:
    assert parameter("0123456789abcdef" * 4) == "0123456789ab"
    assert parameter("0123456789abcdef" * 3) == "0123456789abcdef0123456789abcdef0123456…"


def test_a_file_that_was_read() -> None:
    assert shown_input(InputFile("a.csv", "ab" * 32, 1200, 3)) == ("a.csv", "1,200", "3", "ab" * 32)


def test_a_file_that_was_left_out() -> None:
    """What is not known is not shown as 0."""
    file = InputFile("a.csv.gz", "ab" * 32, None, left_out="cut off")
    assert shown_input(file) == ("a.csv.gz", "–", "left out", "ab" * 32)
    assert shown_input(InputFile("a", None, None, left_out="gone")) == ("a", "–", "left out", "–")
