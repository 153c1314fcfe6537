"""Ground truth with a column of 0 and 1 for each label, as sets of labels."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.data.column_names import indicator_in
from valor_cli.data.inputs.score_metadata import score_metadata
from valor_cli.data.inputs.score_pieces import read_score_piece
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import cut
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

LABELS = ("toxic", "obscene", "threat")
TRUE = [(1, 0, 1), (0, 0, 0), (0, 1, 0), (1, 1, 1)]
READING = ScoreReading(several=True)


def rows(kind: Any = int, true: Any = TRUE) -> list[dict[str, Any]]:
    return [
        {"id": f"s{at}", "text": "a, b", **dict(zip(LABELS, map(kind, one), strict=True))}
        for at, one in enumerate(true)
    ]


def write(name: str, found: list[dict[str, Any]]) -> str:
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(found), name)
    elif name.endswith(".csv"):
        lines = [[*found[0]], *(row.values() for row in found)]
        text = "\n".join("\t".join("" if one is None else str(one) for one in row) for row in lines)
        Path(name).write_text(text + "\n")
    elif name.endswith(".jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in found))
    else:
        Path(name).write_text(json.dumps(found))
    return name


def sets(file: ScoreFile) -> list[set[str]]:
    assert file.truths is not None
    start = file.truths.start.tolist()
    return [
        {file.labels[code] for code in file.truths.label[begin:end].tolist()}
        for begin, end in pairwise(start)
    ]


def read(name: str, found: list[dict[str, Any]], **options: Any) -> ScoreFile:
    reading = ScoreReading(several=True, **options)
    return read_scores(write(name, found), "ground_truth", reading)


EXPECTED = [{"toxic", "threat"}, set(), {"obscene"}, set(LABELS)]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet"])
@pytest.mark.parametrize("kind", [int, bool, float])
def test_every_format_says_the_same(name: str, kind: Any) -> None:
    found = read(name, rows(kind))
    assert (found.labels, sets(found)) == (LABELS, EXPECTED)


def test_classes_say_which_columns_are_labels() -> None:
    found = read("a.csv", [row | {"votes": 1} for row in rows()], classes=["threat", "toxic"])
    assert (found.labels, sets(found)) == (
        ("threat", "toxic"),
        [{"toxic", "threat"}, set(), set(), {"toxic", "threat"}],
    )
    assert score_metadata("a.csv", "ground_truth", READING) == ("text",)


def test_metadata_is_no_label() -> None:
    found = read("a.csv", rows(), metadata=["threat"])
    assert found.labels == ("toxic", "obscene")
    assert list(found.metadata["threat"]) == ["1", "0", "0", "1"]


def test_a_column_of_labels_goes_first() -> None:
    found = read("a.jsonl", [row | {"labels": ["x"]} for row in rows()])
    assert sets(found) == [{"x"}] * 4


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("a.csv", "2", "a.csv:3: obscene: '2'"),
        ("a.csv", "-1", "a.csv:3: obscene: '-1'"),
        ("a.csv", "", "a.csv:3: obscene: nothing"),
        ("a.csv", "yes", "a.csv:3: obscene: 'yes'"),
        ("a.jsonl", 2, "a.jsonl:2: obscene: 2"),
        ("a.jsonl", None, "a.jsonl:2: obscene: null"),
        ("a.jsonl", "1", 'a.jsonl:2: obscene: the string "1"'),
        ("a.parquet", 2, "a.parquet: row 2: obscene: '2'"),
        ("a.parquet", None, "a.parquet: row 2: obscene: nothing"),
    ],
)
def test_what_is_neither(name: str, value: Any, expected: str) -> None:
    found = rows()
    found[1]["obscene"] = value
    with pytest.raises(DataError) as caught:
        read(name, found)
    note = "; name the columns that are classes under `data: classes:`"
    problem, *_ = str(caught.value).splitlines()
    place, _, end = expected.rpartition(": ")
    words = f"expected 0 or 1, whether the sample has this label, found {end}"
    assert problem.removesuffix(note) == f"{place}: {words}"


def test_rows_of_json_that_differ() -> None:
    found = rows()
    del found[1]["threat"]
    found[2]["label"] = "toxic"
    with pytest.raises(DataError) as caught:
        read("a.jsonl", found)
    assert str(caught.value).splitlines()[:2] == [
        'a.jsonl:2: "threat" is missing (there is: id, text, toxic, obscene)',
        "a.jsonl:3: label: expected no labels beside a key for each label",
    ]


def test_without_several_labels_the_message_says_how() -> None:
    with pytest.raises(DataError) as caught:
        read_scores(write("a.csv", rows()), "ground_truth", ScoreReading())
    assert "write `multi_label: true` under `data:`" in caught.value.hint


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_pieces_are_the_file(name: str) -> None:
    path = write(name, rows(true=TRUE * 20))
    parts = [read_score_piece(piece, "ground_truth", READING) for piece in cut(path, 400)]
    assert len(parts) > 2
    assert [one for part in parts for one in sets(part.file)] == EXPECTED * 20


@given(
    st.text(max_size=5) | st.sampled_from([" 1", "TRUE", "1e0", "0.0", "-0", "0x1", "１", "1_0"])
)
def test_a_cell_is_read_as_it_is_judged(cell: str) -> None:
    if set(cell) & set('\t\n\r",;|\0') or not cell.isprintable():
        return
    found = rows()
    found[1]["obscene"] = cell
    said = indicator_in(cell)
    if said is None:
        with pytest.raises(DataError, match="expected 0 or 1"):
            read("a.csv", found)
    else:
        assert ("obscene" in sets(read("a.csv", found))[1]) == said
