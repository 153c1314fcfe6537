"""Inputs of text samples: formats, patterns, compression, and the shapes of JSON files."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading

pytestmark = pytest.mark.usefixtures("in_a_folder")

LINE = '{"id": 1, "answer": "a"}\n'


def read(name: str, text: str | None = None, **reading: Any) -> SampleFile:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    return read_samples(name, SampleReading(**reading))


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


def test_compressed_files_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.jsonl.gz").write_bytes(gzip.compress(LINE.encode()))
    assert responses(read("a.jsonl.gz")) == ["a"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"id,answer\n1,b\n")))
    assert responses(read("-")) == ["b"]
