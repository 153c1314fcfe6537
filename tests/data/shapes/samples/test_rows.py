"""Rows of text samples: what values become, what is refused and where, one row at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.data.formats.json import lines
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.json_records import parsed
from valor_cli.data.shapes.samples.columns import SampleRow
from valor_cli.data.shapes.samples.parse import SampleParser
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.values import RowCheck
from valor_cli.data.table import LINE, Problems
from valor_cli.errors import DataError
from valor_cli.kernels import engine

pytestmark = pytest.mark.usefixtures("in_a_folder")


def read(text: str | bytes, name: str = "a.jsonl", **reading: Any) -> SampleFile:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_samples(name, SampleReading(**reading))


def row(**record: Any) -> SampleRow:
    """The one row of a file with one object."""
    (found,) = read(json.dumps(record)).rows
    return found


@given(st.integers(40, 1100))
@settings(max_examples=30)
def test_no_depth_is_a_traceback(levels: int) -> None:
    deep = "[" * levels + "]" * levels
    text = '{"id": 1, "query": "q", "response": ' + deep + '}\n{"id": 2, "query": "q"}'
    rows = read(text, invalid="skip").rows
    assert rows[-1].of("sample_id") == "2"
    if levels < 400:
        assert rows[0].of("response") == deep


def test_control_characters_and_large_fields_are_texts() -> None:
    large = "word \x07\t\n" * 200_000
    assert row(id="a", response=large).of("response") == large


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["text", "content", "a", "role", "messages", "logprob", "key", "value", "input"]
            ),
            inner,
            max_size=2,
        )
    ),
    max_leaves=4,
)
NAMES = (
    "id", "model", "question", "answer", "reference", "contexts", "condition", "categories",
    "group", "perturbed_from", "latency_ms", "cost", "artifacts", "token_logprobs", "metadata", "m",
    "messages", "output", "context", "vars", "testIdx", "epoch", "input", "target", "doc_id",
    "arguments", "filtered_resps", "gen_ai.prompt", "gen_ai.completion.0.content", "attributes",
    "start_time", "datasource_item", "sample",
)  # fmt: skip


RECORDS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8), min_size=1, max_size=4
)


ONE_MISTAKE = [
    # A column without a name, as pandas writes its index, is no field of any kind.
    ("a.csv", ",id,response,duration_s\nr1,a,x,soon\nr2,b,x,1\n", (), "a.csv:2: duration_s: "),
    (
        "a.jsonl",
        '{"id": "a", "response": "x", "": "r1", "cost_usd": []}',
        (),
        "a.jsonl:1: cost_usd: ",
    ),
    # A field that is read as metadata too.
    ("a.jsonl", '{"id": "a", "response": "x", "group": [1]}', ("group",), "a.jsonl:1: group: "),
]


@pytest.mark.parametrize(("name", "text", "metadata", "place"), ONE_MISTAKE)
def test_a_mistake_is_one_fault(name: str, text: str, metadata: Sequence[str], place: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text, name, metadata=metadata)
    (problem,) = caught.value.problems
    assert str(problem).startswith(place)


@given(RECORDS)
def test_rows_are_left_out_exactly_if_they_have_faults(records: list[dict[str, Any]]) -> None:
    reading = SampleReading(metadata=["m", "a"], logprobs=True)
    check = RowCheck(reading)
    faults = [check.faults(parsed(json.dumps(record).encode())) for record in records]
    Path("a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    for size in (1, 1 << 18):
        problems = Problems("a.jsonl", LINE)
        parser = SampleParser(reading, problems)
        with mock.patch.object(lines, "BLOCK", size):
            for block in lines.open_rows("a.jsonl", len).blocks():
                parser.add(block)
        part = parser.part()
        assert list(part.numbers) == [at for at, one in enumerate(faults, 1) if not one]
        assert part.faulty == sum(map(bool, faults))
        assert problems.total == sum(map(len, faults))


@given(RECORDS)
def test_the_kernel_and_python_read_the_same_rows(records: list[dict[str, Any]]) -> None:
    reading = SampleReading(metadata=["m", "a"], logprobs=True)
    Path("a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records or [{}]))
    found = []
    for compiled in (engine.compiled, None):
        with mock.patch.object(engine, "compiled", compiled):
            parser = SampleParser(reading, Problems("a.jsonl", LINE))
            for block in lines.open_rows("a.jsonl", len).blocks():
                parser.add(block)
            found.append(parser.part())
    assert list(found[0].rows) == list(found[1].rows)
    assert [list(map(type, row.metadata)) for row in found[0].rows] == [
        list(map(type, row.metadata)) for row in found[1].rows
    ]
    assert [str(one) for one in found[0].problems.kept] == [
        str(one) for one in found[1].problems.kept
    ]
    assert found[0].names == found[1].names
    assert found[0].metadata == found[1].metadata
