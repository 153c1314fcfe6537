"""The same data in every form, whole and in pieces: one result."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import ROOT, Evaluate, lines_of, written
from tests.same_bytes.layouts import TABLES
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import DataError
from valor_cli.pipeline import evaluate, make_plan
from valor_cli.results.document import to_json

DIGITS = ROOT / "sample_data" / "classification"


ANSWERS = ROOT / "sample_data" / "text_generation" / "answers.jsonl"
TASK = "text_generation"


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_texts_are_the_same_in_every_form(
    form: str, evaluate: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole and, where a form can be cut, in pieces."""
    path = tmp_path / f"answers.{form}"
    path.write_bytes(TABLES[form](lines_of(ANSWERS)[:60]))
    written(tmp_path / "answers.jsonl", lines_of(ANSWERS)[:60])

    def result(name: str) -> Any:
        run = evaluate(name, ["exact_match", "rouge_l"], slices=["metadata.human_correct"])
        return {**run.result, "run": None}

    expected = result("answers.jsonl")
    assert result(path.name) == expected
    monkeypatch.setenv("VALOR_PIECE_BYTES", str(path.stat().st_size // 4))
    assert result(path.name) == expected


def table_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DIGITS / name).read_text().splitlines()))


@pytest.mark.parametrize("long", [False, True], ids=["a row a sample", "a row a label"])
def test_row_groups_are_pieces(long: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read piece by piece gives the numbers of the whole file."""
    table = table_of("random_forest.csv")
    truth = {row["id"]: row["label"] for row in table_of("ground_truth.csv")}
    ids = [row.pop("id") for row in table]
    scores = {name: [float(row[name]) for row in table] for name in table[0]}
    columns: dict[str, Any] = {"id": ids, "label": [truth[one] for one in ids], **scores}
    if long:
        columns = {
            "id": [one for one in ids for _ in scores],
            "label": [truth[one] for one in ids for _ in scores],
            "prediction": [*scores] * len(ids),
            "score": [column[at] for at in range(len(ids)) for column in scores.values()],
        }
    path = tmp_path / "all.parquet"
    # Of the rows of a sample, groups have some.
    pq.write_table(pa.table(columns), path, row_group_size=len(columns["id"]) // 9)
    config = tmp_path / "run.yaml"
    config.write_text(f"task: classification\ndata: {{samples: {{m: {path}}}}}\n")
    read: list[int] = []

    def results(piece: int) -> Any:
        monkeypatch.setenv("VALOR_PIECE_BYTES", str(piece))
        result = evaluate(
            make_plan(load_config(config, catalogue)),
            command="",
            progress=lambda stage, done, total: read.append(total if stage == "reading" else 0),
        )
        document = json.loads(to_json(result))
        return document, document.pop("run")["inputs"]

    size = path.stat().st_size
    whole = results(2 * size)
    assert not any(read)
    assert results(size // 5) == whole
    assert max(read) == 6


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_rows_of_a_sample_that_stand_apart(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in several pieces: what can be read whole is no fault there."""
    count = 60
    columns = {
        "id": [*range(count)] * 2,
        "label": ["cat", "dog", "cat"] * (count // 3 * 2),
        "prediction": ["cat"] * count + ["dog"] * count,
        "score": [at % 7 / 7 for at in range(2 * count)],
    }
    path = tmp_path / f"all.{form}"
    if form == "csv":
        lines = [columns, *zip(*columns.values(), strict=True)]
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    else:
        pq.write_table(pa.table(columns), path, row_group_size=7)
    config = tmp_path / "run.yaml"
    config.write_text(f"task: classification\ndata: {{samples: {{m: {path}}}}}\n")
    monkeypatch.setenv("VALOR_PIECE_BYTES", str(path.stat().st_size // 5))
    found = evaluate(make_plan(load_config(config, catalogue)), command="")
    assert found.data["samples"] == count
    columns["label"][count] = "owl"
    if form == "csv":
        path.write_text(path.read_text().replace("\n0,cat,dog", "\n0,owl,dog"))
    else:
        pq.write_table(pa.table(columns), path, row_group_size=7)
    with pytest.raises(DataError, match="the sample '0'"):
        evaluate(make_plan(load_config(config, catalogue)), command="")
