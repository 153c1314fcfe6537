"""Text samples as Parquet: what JSONL says of the same rows, and what columns cannot hold."""

from __future__ import annotations

import datetime
import decimal
import json
import os
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.data.scored import written
from valor_cli.data.inputs.samples import read_sample_part, read_samples
from valor_cli.data.partition.pieces import Piece, cut, seamless
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.schema import COLUMNS
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

TYPES = {
    "id": pa.int64(),
    "model": pa.dictionary(pa.int8(), pa.string()),
    "question": pa.string(),
    "prompt": pa.large_string(),
    "answer": pa.string_view(),
    "ground_truths": pa.list_(pa.string()),
    "contexts": pa.large_list(pa.struct([("text", pa.string()), ("rank", pa.int64())])),
    "categories": pa.list_(pa.string()),
    "latency_ms": pa.float32(),
    "cost": pa.decimal128(6, 3),
    "token_logprobs": pa.list_(pa.float64()),
    "metadata": pa.struct([("city", pa.string()), ("age", pa.int64()), ("x", pa.float64())]),
    "kind": pa.map_(pa.string(), pa.bool_()),
    "day": pa.date32(),
}


def parquet(rows: list[dict[str, Any]], types: dict[str, Any], **options: Any) -> str:
    columns = {name: pa.array([row.get(name) for row in rows], types[name]) for name in types}
    pq.write_table(pa.table(columns), "a.parquet", **options)
    return "a.parquet"


def error(types: dict[str, Any], *rows: dict[str, Any], **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_samples(parquet(list(rows), types), SampleReading(**options))
    return str(caught.value)


def as_json(value: Any) -> Any:
    """A value of Arrow as JSON has it; what is null is not said."""
    if isinstance(value, dict):
        return {key: as_json(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        pairs = value and all(isinstance(one, tuple) for one in value)
        return as_json(dict(value)) if pairs else [as_json(one) for one in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    return float(value) if isinstance(value, decimal.Decimal) else value


TEXTS = st.sampled_from(("", " ", "why?", "[1]", "è", None))


@st.composite
def rows(draw: Any) -> list[dict[str, Any]]:
    maybe = st.one_of
    none = st.none()
    found = []
    for at in range(draw(st.integers(1, 6))):
        row: dict[str, Any] = {name: draw(TEXTS) for name in ("question", "prompt", "answer")}
        row["id"] = draw(st.sampled_from((at, at, at, 0, None)))
        row["model"] = draw(st.sampled_from(("m", "m", "n", None)))
        row["ground_truths"] = draw(maybe(none, st.lists(TEXTS, max_size=2)))
        context = st.fixed_dictionaries({"text": TEXTS, "rank": st.sampled_from((1, None))})
        row["contexts"] = draw(maybe(none, st.lists(context, max_size=2)))
        row["categories"] = draw(maybe(none, st.lists(st.sampled_from(("a", "b")), max_size=2)))
        row["latency_ms"] = draw(st.sampled_from((0.5, 20.0, -1.0, float("nan"), None)))
        row["cost"] = draw(st.sampled_from((decimal.Decimal("0.125"), decimal.Decimal(-1), None)))
        numbers = st.sampled_from((-0.5, 0.0, None, -1.0, 3.0))
        row["token_logprobs"] = draw(maybe(none, st.lists(numbers, max_size=3)))
        row["metadata"] = draw(
            st.sampled_from((None, {"city": "Bonn"}, {"age": 3, "x": 0.5}, {"x": float("inf")}))
        )
        row["kind"] = draw(st.sampled_from((None, [], [("new", True)], [("new", None)])))
        row["day"] = draw(st.sampled_from((None, datetime.date(2026, 1, 31))))
        found.append(row)
    return found


def outcome(path: str, reading: SampleReading) -> Any:
    """All that is read, or how much is wrong."""
    try:
        found = read_samples(path, reading)
    except DataError as caught:
        return caught.total
    rows = [
        ([repr(row.of(name)) for name in COLUMNS], repr(row.metadata), row.line)
        for row in found.rows
    ]
    return rows, found.numbers, facts(found)


def facts(found: SampleFile) -> Any:
    warnings = sorted(one.partition(": ")[2] for one in found.warnings)
    files = [(one.rows, one.skipped) for one in found.files]
    # Whether a row that is left out has metadata depends on what is wrong in it.
    names = [] if found.files[0].skipped else sorted(found.metadata)
    return names, files, warnings


@seed(4)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    found=rows(),
    size=st.integers(1, 4),
    invalid=st.sampled_from(("error", "skip")),
    logprobs=st.booleans(),
    metadata=st.sampled_from(((), ("city", "age", "x"), ("new",), ("day", "kind.new"))),
    columns=st.sampled_from(({}, {"response": "prompt"}, {"group": "metadata.city"})),
)
def test_what_lines_of_json_say(
    found: Any, size: int, invalid: Any, logprobs: bool, metadata: Any, columns: Any
) -> None:
    reading = SampleReading(metadata, columns, invalid, logprobs)
    lines = []
    for row in found:
        line = as_json(row)
        if "x" not in metadata:
            # A line is read whole, and Infinity in it is no JSON; of columns what is asked for.
            line.get("metadata", {}).pop("x", None)
        for name in columns.values():
            # What is mapped must be there, in some line or in the schema.
            line.setdefault(name.partition(".")[0], None)
        lines.append(json.dumps(line))
    expected = outcome(written("\n".join(lines), "a.jsonl"), reading)
    read = outcome(parquet(found, TYPES, row_group_size=size), reading)
    if isinstance(expected, tuple) and isinstance(read, tuple):
        # A warning of columns that could each be a text is about the names of all rows.
        assert read[:2] == expected[:2]
        assert read[2][:2] == expected[2][:2]
    else:
        assert read == expected


def test_row_groups_are_read_alone() -> None:
    found = [{"answer": "x"}, {"answer": "y"}, {"answer": ""}]
    path = parquet(found, {"answer": pa.string()}, row_group_size=2)
    parts = [read_sample_part(piece, SampleReading(), "parquet") for piece in halves(path)]
    assert [[row.of("response") for row in part.rows] for part in parts] == [["x", "y"], [""]]
    assert [[row.line for row in part.rows] for part in parts] == [[1, 2], [3]]
    assert [part.lines for part in parts] == [0, 0]
    assert seamless([part.span for part in parts], os.path.getsize(path))
    rows = [{"id": "a"}, {"id": "b"}, {"id": ""}]
    path = parquet(rows, {"id": pa.string(), "answer": pa.string()}, row_group_size=2)
    part = read_sample_part(halves(path)[1], SampleReading(), "parquet")
    assert [one.place for one in part.problems.kept] == ["a.parquet: row 3: id"]


def halves(path: str) -> list[Piece]:
    """Two pieces, of which the second begins where only the first row group has begun."""
    return cut(path, os.path.getsize(path) // 2 + 1)
