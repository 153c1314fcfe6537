"""A score for each class under a name of its own: the same in every format, whole and in pieces."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.data.joined_parts import joined_parts
from tests.data.scored import error, said, written
from tests.data.shapes.scores.test_parts import parts_of
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.parts import ScorePart
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.kernels.ranking.scores import DenseScores

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


@pytest.mark.parametrize("name", [*FORMATS, "a.parquet"])
@pytest.mark.parametrize(
    "options", [{}, {"classes": ["dog", "cat"]}, {"columns": {"sample_id": "sample_id"}}]
)
def test_keys_are_classes_in_every_format(name: str, options: dict[str, Any]) -> None:
    found = read(name, ROWS, "samples", **options)
    expected = read("a.csv", ROWS, "samples", **options)
    assert said(found) == said(expected)
    assert found.classes == expected.classes
    assert isinstance(found.scores, DenseScores)
    assert found.scores.score[2].tolist() == [0, 0]
    bare = [{key: one[key] for key in ("sample_id", "cat", "dog")} for one in ROWS]
    assert said(read(name, bare, "predictions", **options)) == said(
        read("a.csv", bare, "predictions", **options)
    )


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


@pytest.mark.parametrize("name", [*FORMATS, "a.parquet"])
@pytest.mark.parametrize(
    ("extra", "side", "expected"),
    [
        ({"age": 7}, "samples", "age: read as a class because its values are numbers"),
        ({"note": "x"}, "predictions", "note: expected a number, found "),
    ],
)
def test_what_is_no_class(name: str, extra: Row, side: Side, expected: str) -> None:
    text = FORMATS.get(name, as_parquet)([one | extra for one in ROWS[:2]])
    if name == "a.parquet" and side == "predictions":
        expected = "note: expected a column of numbers, found "
    told = error(text, side, name)
    assert expected in told
    assert "classes" in told


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"id": 1, "cat": 1, "dog": 0}, {"id": 2, "cat": 1}], 'a.jsonl:2: "dog" is missing'),
        (
            [{"id": 1, "cat": 1}, {"id": 2, "cat": 1, "dog": 0}],
            "a.jsonl:2: dog: the first line has no such key; name the columns that are classes",
        ),
        ([{"id": 1, "cat": 1}, {"id": 2, "cat": "x"}], "a.jsonl:2: cat: expected a number, found "),
        ([{"id": 1, "cat": 1, "dog": 0}, {"id": 2, "cat": 1, "dog": None}], "a.jsonl:2: dog: "),
    ],
)  # fmt: skip
def test_faults_of_a_line(rows: list[Row], expected: str) -> None:
    assert error(as_jsonl(rows), "predictions", "a.jsonl").startswith(expected)


def test_lines_that_say_predictions_have_no_classes_beside() -> None:
    rows = [{"id": 1, "label": "cat", "age": 3}, {"id": 2, "label": "cat", "scores": {"cat": 1}}]
    found = read_scores(written(as_jsonl(rows), "a.jsonl"), "samples", ScoreReading())
    assert [row[3] for row in said(found)] == [[], [("cat", 1.0)]]
    assert found.classes == ()


def test_keys_that_are_not_among_the_classes_are_told_of() -> None:
    for name in FORMATS:
        found = read(name, ROWS, "samples", classes=["dog"])
        assert found.warnings == [f"{name}: columns that are not among `classes` are not read: cat"]


def test_metadata_is_no_class() -> None:
    rows = [one | {"age": 3, "metadata": {"site": "x"}} for one in ROWS]
    text = as_jsonl(rows)
    found = read_scores(written(text, "a.jsonl"), "samples", ScoreReading(metadata=["age", "site"]))
    assert said(found)[0][-2:] == (3, "x")
    assert found.classes == ("cat", "dog")
