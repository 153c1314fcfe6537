"""Rows unchanged: what each form gives, what is refused with its place, and rows written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.data.formats.records import RawRows, RowForm, read_raw_rows, rows_as
from valor_cli.errors import DataError


def read(folder: Path, name: str, content: str) -> RawRows:
    path = folder / name
    path.write_bytes(content.encode())
    return read_raw_rows(str(path))


@pytest.mark.parametrize(
    ("name", "content", "form", "rows"),
    [
        (
            "a.jsonl",
            '{"a": 1, "b": null}\r\n\n{"b": 1.5}',
            "jsonl",
            [{"a": 1, "b": None}, {"b": 1.5}],
        ),
        ("a.ndjson", '\ufeff{"a": 123456789012345678901}', "jsonl", [{"a": 123456789012345678901}]),
        ("a.json", '[{"a": {"c": ["x\\ny"]}}]', "json", [{"a": {"c": ["x\ny"]}}]),
    ],
)
def test_json_is_as_it_is_written(
    tmp_path: Path, name: str, content: str, form: str, rows: list[object]
) -> None:
    found = read(tmp_path, name, content)
    assert (found.form, found.rows) == (form, rows)


def test_numbers_are_plain(tmp_path: Path) -> None:
    found = read(tmp_path, "a.jsonl", '{"a": 1, "b": 1.0, "c": 1e2}')
    assert [str(value) for value in found.rows[0].values()] == ["1", "1.0", "100.0"]


def test_cells_are_texts(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", '\r\nid;text\r\n\r\n1;"a; ""b""\r\nc"\r\n2;\r\n')
    assert found.rows == [{"id": "1", "text": 'a; "b"\r\nc'}, {"id": "2", "text": ""}]
    assert (found.form, found.delimiter) == ("csv", ";")
    assert read(tmp_path, "a.tsv", "a\tb\n1\t2\n").delimiter == "\t"


DEEP = "[" * 2_000 + "]" * 2_000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", "x", "a.txt: the extension does not name a format"),
        ("a.jsonl", " \n", "there are no rows"),
        ("a.json", "[]", "there are no rows"),
        ("a.json", '{"a": 1}', "there is no list of samples in this object; there is: a"),
        ("a.json", '[{"a": 1}, b]', "a.json:1:12: not JSON"),
        ("a.json", "[3]", "a.json: [0]: expected an object, found 3"),
        ("a.json", '[{"a": [NaN]}]', "a.json: [0].a[0]: NaN is not a number"),
        ("a.jsonl", "{}\n{oops}", "a.jsonl:2: not JSON (Expecting property name"),
        ("a.jsonl", "{}\n[]", "a.jsonl:2: expected an object, found an empty list"),
        ("a.jsonl", '{"a": 1, "a": 2}', "a.jsonl:1: a: duplicate key"),
        ("a.jsonl", '{"a": -Infinity}', "a.jsonl:1: a: -Infinity is not a number"),
        ("a.jsonl", '{"a": 1e999}', "a.jsonl:1: a number in it is too large"),
        ("a.jsonl", '{"a": "\\ud800"}', "a.jsonl:1: expected Unicode text, found half of a"),
        ("a.jsonl", f'{{"a": {DEEP}}}', "a.jsonl:1: the JSON is nested too deeply"),
        ("a.json", f'[{{"a": {DEEP}}}]', "the JSON is nested too deeply"),
        ("a.csv", "a,b\n", "there are no rows below the first line"),
        ("a.csv", "a,b,a\n1,2,3\n", "a.csv:1: duplicate column 'a' (columns 1 and 3)"),
        ("a.csv", 'a,b\n1,"2\n\n3"\n4\n', "a.csv:5: expected 2 fields as in the first line"),
        ("a.csv", 'a,b\n1,2\n3,"4\n5\n', "a.csv:3: a double quote opens a field here"),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    with pytest.raises(DataError) as refused:
        read(tmp_path, name, content)
    assert said in str(refused.value)


def test_every_fault_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        read(tmp_path, "a.json", '[1, {"a": 1}, {"b": NaN}, "x"]')
    assert [problem.place.rsplit(" ", 1)[1] for problem in refused.value.problems] == [
        "[0]",
        "[2].b",
        "[3]",
    ]


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
