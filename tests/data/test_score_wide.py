"""A score for each class under a name of its own: the same in every format, whole and in pieces."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.data.joined_parts import joined_parts
from tests.data.scored import said, written
from tests.data.shapes.scores.test_joined import parts_of
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.joined import ScorePart
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side

pytestmark = pytest.mark.usefixtures("in_a_folder")

Row = dict[str, Any]
ROWS: list[Row] = [
    {"sample_id": "1", "label": "cat", "cat": 0.75, "dog": 0.25},
    {"sample_id": "2", "label": "dog", "cat": 1, "dog": 0},
    {"sample_id": "3", "label": "dog", "cat": None, "dog": None},
    {"sample_id": "é", "label": "cat", "cat": -0.5, "dog": 1.5},
]


def as_csv(rows: list[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_jsonl(rows: list[Row]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)


FORMATS: dict[str, Callable[[list[Row]], str | bytes]] = {
    "a.csv": as_csv,
    "a.jsonl": as_jsonl,
    "a.json": json.dumps,
}


def as_parquet(rows: list[Row]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return sink.getvalue()


def read(name: str, rows: list[Row], side: Side, **options: Any) -> ScoreFile:
    writing = FORMATS.get(name, as_parquet)
    return read_scores(written(writing(rows), name), side, ScoreReading(**options))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("size", [1, 60, 100])
def test_pieces_find_the_same(name: str, size: int) -> None:
    rows = [one | {"sample_id": str(at)} for at, one in enumerate(ROWS * 5)]
    whole = read(name, rows, "samples")
    parts = [one for one in parts_of(name, size, "samples", ScoreReading()) if one is not None]
    assert all(isinstance(one, ScorePart) for one in parts)
    joined = joined_parts(name, "samples", parts, "")  # type: ignore[arg-type]
    assert joined is not None
    assert (said(joined), joined.classes) == (said(whole), whole.classes)
