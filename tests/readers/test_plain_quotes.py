"""Separators outside of quotes, against the csv module."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.text_fields import FieldText
from valor_cli.readers.plain_quotes import outside_quotes


def pieces(text: str) -> list[str] | None:
    """What stands between the separators outside of quotes."""
    block = FieldText(text.encode())
    found = outside_quotes(block, block.positions(*b",\n"), ord(","))
    if found is None:
        return None
    begin = [0, *(found + 1).tolist()]
    return [block.field(*span).decode() for span in zip(begin, found.tolist(), strict=False)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a","b"\n', ['"a"', '"b"']),
        ('"a",b\r\nc,""\r\n', ['"a"', "b\r", "c", '""\r']),
        ('"a,b"\n', ['"a,b"']),
        ('"a"",""b",c\n', ['"a"",""b"', "c"]),
        ('"a""",b\n', ['"a"""', "b"]),
        ('"","",x\n', ['""', '""', "x"]),
        ('"a\nb"\n', None),
        ('a"b"\n', None),
        ('a"b",c"\n', None),
        ('"a"b\n', None),
        ('"a\n', None),
        ('a, "b"\n', None),
        # The second quote opens a field that goes on behind the line.
        ('a",b,"\n', None),
    ],
)
def test_rows(text: str, expected: list[str] | None) -> None:
    assert pieces(text) == expected


@given(st.text(st.sampled_from('ab,"\n;'), max_size=30).map(lambda text: text + "\n"))
def test_the_csv_module_finds_the_same_fields(text: str) -> None:
    found = pieces(text)
    if found is not None:
        unquoted = [one[1:-1].replace('""', '"') if one.startswith('"') else one for one in found]
        rows = csv.reader(StringIO(text, newline=""), strict=True)
        # The module has no field for an empty line.
        assert unquoted == [field for row in rows for field in row or [""]]
