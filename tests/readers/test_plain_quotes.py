"""Quotes that can go, against the csv module."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.readers.plain_quotes import without_quotes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a","b"\n', "a,b\n"),
        ('"a",b\r\nc,""\r\n', "a,b\r\nc,\r\n"),
        ('"a"', "a"),
        ('"a,b"\n', None),
        ('"a""b"\n', None),
        ('"a\nb"\n', None),
        ('"a\rb"\n', None),
        ('a"b"\n', None),
        ('"a"b\n', None),
        ('"a\n', None),
        ('a, "b"\n', None),
        ('"a""",b\n', None),
        ('"","",x\n', ",,x\n"),
    ],
)
def test_rows(text: str, expected: str | None) -> None:
    found = without_quotes(text.encode(), ",")
    assert found == (None if expected is None else expected.encode())


@given(st.text(st.sampled_from('ab,"\n;'), max_size=30))
def test_what_is_left_means_the_same(text: str) -> None:
    found = without_quotes(text.encode(), ",")
    if found is not None:
        assert b'"' not in found
        # A row of a single empty field looks like no row.
        assert rows_of(found.decode()) == rows_of(text)


def rows_of(text: str) -> list[list[str]]:
    rows = csv.reader(StringIO(text, newline=""), strict=True)
    return [row for row in rows if row not in ([], [""])]
