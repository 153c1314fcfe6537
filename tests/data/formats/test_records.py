"""Rows as they are written: what each form gives, and reads back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.data.formats.records import RowForm, read_raw_rows, rows_as

ROWS: list[dict[str, Any]] = [{"a": "x", "b": [1, None]}, {"c": "ü, y", "a": None}]

NAMES = st.text("abc", min_size=1, max_size=3)
TEXTS = st.text("a ,;\t\"'\r\n\\\u2028é😀", max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def test_rows_are_written_as() -> None:
    lines = '{"a":"x","b":[1,null]}\n{"c":"ü, y","a":null}\n'
    assert rows_as(ROWS, "jsonl").decode() == lines
    assert rows_as(ROWS, "json").decode() == f"[\n{lines[:22]},\n{lines[23:]}]\n"
    assert rows_as(ROWS, "csv").decode() == 'a,b,c\nx,"[1,null]",\n,,"ü, y"\n'
    assert rows_as(ROWS, "csv", ";").decode() == "a;b;c\nx;[1,null];\n;;ü, y\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


@pytest.mark.parametrize("form", ["json", "jsonl"])
@given(rows=st.lists(st.dictionaries(NAMES, VALUES), min_size=1, max_size=4))
def test_json_reads_back(place: Path, form: RowForm, rows: list[dict[str, Any]]) -> None:
    path = place / f"rows.{form}"
    path.write_bytes(rows_as(rows, form))
    assert read_raw_rows(str(path)).rows == rows


@given(
    st.lists(st.fixed_dictionaries({"a": TEXTS, "b": TEXTS}), min_size=1, max_size=4),
    st.sampled_from(",;\t"),
)
def test_csv_reads_back(place: Path, rows: list[dict[str, str]], delimiter: str) -> None:
    path = place / "rows.csv"
    path.write_bytes(rows_as(rows, "csv", delimiter))
    assert read_raw_rows(str(path)).rows == rows
