"""Inputs of text samples, and which metadata a file has."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.metadata_names import LONGEST, MOST_TEXTS, MetadataNames, MetadataRows
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.value_rows import batch_of
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

LINE = '{"id": 1, "answer": "a"}\n'


def read(name: str, text: str | None = None, **reading: Any) -> SampleFile:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    return read_samples(name, SampleReading(**reading))


def responses(found: SampleFile) -> list[str | None]:
    return [row.of("response") for row in found.rows]


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
    with pytest.raises(DataError, match=r"^a\\x00/\*\.csv: no file matches"):
        read("a\0/*.csv")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"id,answer\n1,b\n")))
    assert responses(read("-")) == ["b"]


def said(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text} for text in texts]}


ASKED_PARTS = [said("user", "Hi"), said("assistant", "Hello."), said("user", "Rain", "in Paris?")]
ANSWERED = [{**said("assistant", "Yes."), "finish_reason": "stop"}]
NAMES = {
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.input.messages": ASKED_PARTS,
    "gen_ai.output.messages": ANSWERED,
}
AS_JSON = {name: one if isinstance(one, str) else json.dumps(one) for name, one in NAMES.items()}


@pytest.mark.parametrize(
    "span",
    [
        NAMES,
        AS_JSON,
        {f"attributes.{name}": one for name, one in AS_JSON.items()},
        {"attributes": NAMES},
        {
            "attributes": [
                {"key": name, "value": {"stringValue": one}} for name, one in AS_JSON.items()
            ]
        },
        {
            "attributes": {
                "gen_ai": {
                    "request": {"model": "gpt-4o"},
                    "input": {"messages": ASKED_PARTS},
                    "output": {"messages": ANSWERED},
                }
            }
        },
    ],
    ids=["names", "json", "flat", "attributes", "otlp", "nested"],
)
def test_spans_of_opentelemetry(span: dict[str, Any]) -> None:
    times = {"startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001500000000"}
    record = {"spanId": "5fb397be34d26b51", **times, **span}
    (row,) = read("spans.jsonl", json.dumps(record) + "\n").rows
    assert (row.of("sample_id"), row.of("model")) == ("5fb397be34d26b51", "gpt-4o")
    assert (row.of("user_input"), row.of("response")) == ("Rain\nin Paris?", "Yes.")
    assert row.of("history") == "user: Hi\nassistant: Hello."
    assert row.of("duration_s") == 1.5


def test_a_trace_without_texts_names_the_switch_that_records_them() -> None:
    span = {"attributes": [{"key": "gen_ai.request.model", "value": {"stringValue": "m"}}]}
    trace = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    with pytest.raises(DataError, match="no span of this trace has a prompt or an answer"):
        read("trace.jsonl", json.dumps(trace) + "\n")


def test_older_attributes_of_spans() -> None:
    record = {"gen_ai.prompt": "Hi?", "gen_ai.completion": "Hello.", "gen_ai.system": "openai"}
    (row,) = read("spans.jsonl", json.dumps(record) + "\n").rows
    assert (row.of("user_input"), row.of("response"), row.of("history")) == ("Hi?", "Hello.", None)
    # What is no list of messages stays a text.
    record = {"gen_ai.input.messages": "[not JSON", "gen_ai.output.messages": 3}
    (row,) = read("spans.jsonl", json.dumps(record) + "\n").rows
    assert (row.of("user_input"), row.of("response")) == ("[not JSON", "3")


def names(*records: Mapping[str, Any], strict: bool = False) -> set[str]:
    found = MetadataNames()
    for record in records:
        line = np.arange(1)
        batch = batch_of([record], line, line, [])
        found.add(MetadataRows(batch, {"of"}, [record.get("of")], strict=strict))
    return set(found.found())


def test_single_values_alone_are_metadata() -> None:
    good = {"a": 1, "b": "x", "c": True, "d": 0.5, "e": None}
    assert names(good, {"e": 3}) == {"a", "b", "c", "d", "e"}
    assert names(good) == {"a", "b", "c", "d"}
    assert names({"a": [1]}, {"a": 1}) == set()
    assert names({"a": 1}, {"a": {}}) == set()
    assert names({"a": float("nan")}, {"b": "\ud800"}, {"c": "x" * (LONGEST + 1)}) == set()


def test_many_texts_are_no_kinds_but_many_numbers_are() -> None:
    many = [{"id": f"n{at}", "age": str(at), "mixed": at} for at in range(MOST_TEXTS + 1)]
    assert names(*many, {"mixed": "x"}) == {"age"}
    assert names(*many[:-1], {"mixed": "x"}) == {"id", "age"}


def test_what_differs_within_a_sample_is_left_out() -> None:
    rows = [{"of": 1, "a": "x", "b": None}, {"of": 1, "a": "y", "b": "z"}, {"of": 2, "a": "x"}]
    assert names(*rows) == {"b"}
    assert names(*rows, strict=True) == set()
