"""Inputs of text samples: formats, patterns, compression, and the shapes of JSON files."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from valor_cli.data.inputs.samples import format_of, read_samples
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

LINE = '{"id": 1, "answer": "a"}\n'


def read(name: str, text: str | None = None, **reading: Any) -> SampleFile:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    return read_samples(name, SampleReading(**reading))


def error(name: str, text: str | None = None, **reading: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        read(name, text, **reading)
    return str(caught.value).split("\n")


def responses(found: SampleFile) -> list[str | None]:
    return [row.response for row in found.rows]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.jsonl", "", "jsonl"),
        ("a.ndjson.gz", "", "jsonl"),
        ("a.json", "", "json"),
        ("a.tsv", "", "csv"),
        ("a", LINE + LINE, "jsonl"),
        ("a", '{\n  "samples": []}', "json"),
        ("a", ' [{"id": 1}]', "json"),
        ("a", "id;answer\n1;a\n", "csv"),
    ],
)
def test_formats_are_told_by_extension_then_by_content(name: str, text: str, expected: str) -> None:
    Path(name).write_text(text)
    assert format_of(name) == expected


def test_what_has_no_format_is_told() -> None:
    assert error("a", "hello\n")[0] == "a: the format cannot be detected from the content"
    Path("folder").mkdir()
    assert error("folder")[0].startswith("folder: this is a folder; a file, or a pattern")
    with pytest.raises(DataError, match=r"there is no format 'jsn' .did you mean 'json'"):
        read_samples("a", SampleReading(), "jsn")


def test_compressed_files_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.jsonl.gz").write_bytes(gzip.compress(LINE.encode()))
    assert responses(read("a.jsonl.gz")) == ["a"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"id,answer\n1,b\n")))
    assert responses(read("-")) == ["b"]


def test_a_cut_off_gzip_file_is_told() -> None:
    Path("a.jsonl.gz").write_bytes(gzip.compress(LINE.encode() * 50)[:-9])
    assert error("a.jsonl.gz")[0].startswith("a.jsonl.gz: the gzip file is damaged or cut off")


def test_files_of_a_pattern_are_one_input() -> None:
    Path("s-1.jsonl").write_text('{"answer": "a"}\n{"answer": []}\n')
    Path("s-2.csv").write_text("answer,x\nb,1\n")
    found = read("s-*", invalid="skip")
    assert [(row.sample_id, row.response) for row in found.rows] == [
        ("1", "a"),
        ("2", "[]"),
        ("3", "b"),
    ]
    assert [found.place(row) for row in found.rows] == ["s-1.jsonl:1", "s-1.jsonl:2", "s-2.csv:2"]
    assert [one.rows for one in found.files] == [2, 1]


def test_a_sample_in_two_files_of_a_pattern_names_both() -> None:
    Path("s-1.jsonl").write_text(LINE)
    Path("s-2.jsonl").write_text("\n" + LINE)
    assert error("s-*.jsonl")[0] == "s-2.jsonl:2: the sample '1' is also on s-1.jsonl:1"
    found = read("s-*.jsonl", invalid="skip")
    assert [(one.rows, one.skipped) for one in found.files] == [(1, 0), (1, 1)]


@pytest.mark.parametrize(
    "document",
    [
        [{"id": 1, "answer": "a"}],
        {"samples": [{"id": 1, "answer": "a"}]},
        {"name": "x", "test_cases": [{"id": 1, "answer": "a"}], "models": [{"key": 1}]},
        {"anything": [{"id": 1, "answer": "a"}], "count": 1},
        {"results": {"results": [{"id": 1, "answer": "a"}], "prompts": [{"raw": "p"}]}},
        {"run": {"data": [{"id": 1, "answer": "a"}]}},
        {"id": [1], "answer": ["a"]},
        {"id": {"0": 1}, "answer": {"0": "a"}},
        {"id": 1, "answer": "a", "contexts": ["c", "d"]},
    ],
)
def test_json_files_hold_their_rows_in_many_ways(document: Any) -> None:
    found = read("a.json", json.dumps(document, indent=1))
    assert [(row.sample_id, row.response) for row in found.rows] == [("1", "a")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}', "a.json: there is no list of samples in this object; there is: a"),
        ("3", "a.json: expected a list of objects, one a sample, found 3"),
        ("[", "a.json:1:2: the file ends inside a list: it was cut off; write or copy it again"),
        ('[{"id": 1, "answer": "a"}', "a.json:1:26: the file ends inside a list: it was cut off"),
        (LINE + LINE, "a.json:2:1: not JSON: more text after its end: "),
        ('[{"id": 1, "answer": "a", "latency_s": NaN}]', "a.json: [0].latency_s: NaN is not a"),
        ('[{"id": 1, "query": []}]', "a.json: [0].query: expected a text, found an empty list"),
        ('[{"id": 1, "id": 2}]', "a.json: [0].id: duplicate key in this object"),
        ('{"data": [{"query": "a"}, 3]}', "a.json: data[1]: expected an object, one a sample"),
        ('{"{x}": [{"id": 1, "query": "q"}, {"id": 1}]}', "a.json: {x}[1]: the sample '1' is also"),
        ('{"data": [{"query": []}]}', "a.json: data[0].query: expected a text, found an empty"),
        ('{"data": [], "data": [{"id": 1}]}', "a.json: data: duplicate key in this object"),
        ('[{"id": 1, "query": "q"}, {"id": 1, "query": "q"}]',
         "a.json: [1]: the sample '1' is also on [0]"),
        ("[" * 100_000 + "]" * 100_000, "a.json: the JSON is nested too deeply to be read"),
        ("[]", "a.json: there are no samples; at least one is needed"),
    ],
)  # fmt: skip
def test_json_files_that_cannot_be_used_are_told(text: str, message: str) -> None:
    assert error("a.json", text)[0].startswith(message)


def test_places_in_lists_inside_objects() -> None:
    found = read("a.json", '{"data": [{"id": 1, "query": "q"}]}')
    assert found.place(found.rows[0]) == "a.json: data[0]"
