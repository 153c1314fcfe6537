"""Rows of labels and scores: real tables, long cells and ids; each form is in the corpus."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.data.scored import SKIP, error, read, said
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.score_file import ScoreReading
from valor_cli.kernels.ranking.scores import DenseScores

pytestmark = pytest.mark.usefixtures("in_a_folder")

DATA = Path(__file__).parents[2] / "real_data/classification"


def test_a_quoted_field_over_several_blocks() -> None:
    """Rows are read quickly again behind it, and keep their line numbers."""
    long = "x\n" * 200_000
    rows = "".join(f"{number},cat\n" for number in range(30_000))
    found = read(f'id,label\nfirst,"{long}"\n{rows}last,dog\n', "ground_truth")
    assert len(found.samples) == 30_002
    assert found.labels == (long, "cat", "dog")
    assert found.samples.place_of(30_001) == f"a.csv:{2 + 200_001 + 30_000}"


@pytest.mark.parametrize("name", ["breastcancer-342-binary", "digits-899-randomforest"])
def test_real_tables_of_classes(name: str) -> None:
    path = DATA / name / "predictions.csv"
    with path.open(newline="") as file:
        head, *rows = list(csv.reader(file))
    found = read_scores(str(path), "predictions", ScoreReading(probabilities=True))
    assert found.classes == tuple(head[1:])
    assert isinstance(found.scores, DenseScores)
    assert found.scores.score.tolist() == [[float(cell) for cell in row[1:]] for row in rows]
    assert [one[0] for one in said(found)] == [row[0] for row in rows]


def test_real_names_given_by_people() -> None:
    path = DATA / "human-edge-16/labels.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = read_scores(str(path), "samples", ScoreReading(metadata=["subject"]))
    assert said(found) == [
        (row["id"], None, row["label"], [(row["prediction"], 1)], row["subject"]) for row in rows
    ]


def test_three_problems_and_the_count() -> None:
    rows = "".join(f"{number},cat,x\n" for number in range(25))
    lines = error(f"id,pred,conf\n{rows}", "predictions").split("\n")
    assert len(lines) == 5
    assert lines[3:] == ["… and 22 more like this", SKIP]


def test_ids_that_are_long_here_and_there() -> None:
    """The column would be a gigabyte at the width of the longest."""
    rows = "".join(f"{number},cat\n" for number in range(10_000))
    long = "x" * 100_000
    found = read(f"id,label\n{rows}{long},dog\n", "ground_truth")
    ids: Any = found.samples["sample_id"]
    assert ids.dtype == object
    assert ids[-1] == long.encode()
    assert ids[7] == b"7"
