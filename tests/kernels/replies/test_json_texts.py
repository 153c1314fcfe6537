"""JSON in texts: what is JSON, what is not and where, and what is not read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.replies.json_texts import (
    DEEPEST,
    BeyondLimitsError,
    NotJsonError,
    inside_fence,
    parse_json,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=40)
@given(VALUES.filter(lambda value: "Infinity" not in json.dumps(value)))
def test_any_value_comes_back(value: object) -> None:
    assert parse_json(f" {json.dumps(value)}\n") == (value, ())


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "the text is empty", 0),
        (" \n", "the text is empty", 2),
        ("{'a': 1}", "property name", 1),
        ('{"a": 1, b}', "double quotes", 9),
        ('{"a": 1} x', "extra data at line 1, column 10", 9),
        ("[1\n2]", "delimiter at line 2, column 1", 3),
        ('["NaN", NaN]', "NaN is not a number", 8),
        ("[-Infinity]", "-Infinity is not a number", 1),
        ('"\t"', "control character", 1),
        ("\ufeff{}", "the text begins with a byte order mark", 0),
        ("[" * 100_000, "100,000 brackets are never closed", 100_000),
    ],
)
def test_what_is_not_json_is_told_with_its_place(text: str, message: str, position: int) -> None:
    with pytest.raises(NotJsonError) as caught:
        parse_json(text)
    assert message in caught.value.message
    assert caught.value.position == position


def test_the_last_of_equal_keys_counts_and_is_told() -> None:
    assert parse_json('[{"a": 1, "b": 2, "a": 3}, {"a": 0}]') == (
        [{"a": 3, "b": 2}, {"a": 0}],
        ("a",),
    )


def test_depth_has_a_bound() -> None:
    assert parse_json("[" * DEEPEST + "]" * DEEPEST).repeated == ()
    for many in (DEEPEST + 1, 100_000):
        with pytest.raises(BeyondLimitsError, match=f"nested {many:,} levels deep"):
            parse_json("[" * many + "]" * many)


def test_brackets_in_strings_are_no_depth() -> None:
    text = "[{" * 1000 + '\\"'
    assert parse_json(f'["{text}"]').value == ["[{" * 1000 + '"']


def test_a_number_of_too_many_digits_is_beyond_limits() -> None:
    with pytest.raises(BeyondLimitsError, match="too many digits"):
        parse_json("1" * 5000)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("```json\n{}\n```", "{}\n"),
        (" ```\n[1]\n```\n", "[1]\n"),
        ("~~~\n1\n~~~", "1\n"),
        ("````\n```\n````", "```\n"),
        ("```\n```", ""),
        ("{}", "{}"),
        ("Here:\n```\n{}\n```", "Here:\n```\n{}\n```"),
        ("```\n{}", "```\n{}"),
        ("```", "```"),
        ("", ""),
    ],
)
def test_a_fence_around_everything_is_left_out(text: str, inside: str) -> None:
    start, end = inside_fence(text)
    assert text[start:end] == inside
