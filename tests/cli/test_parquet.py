"""The same data as CSV, JSONL and Parquet through the command line: one result."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import ROOT, Valor
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import DataError
from valor_cli.pipeline import evaluate, make_plan
from valor_cli.results.document import to_json

DIGITS = ROOT / "sample_data" / "classification"
ANSWERS = ROOT / "sample_data" / "text_generation" / "answers.jsonl"


def results(valor: Valor, folder: Path, config: str) -> Any:
    """Results without the block that says of what files they are."""
    (folder / "run.yaml").write_text(config)
    ran = valor("evaluate", folder / "run.yaml", "--out", folder / "out", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads((folder / "out" / "results.json").read_text())
    assert found.pop("run")
    return found


def table_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DIGITS / name).read_text().splitlines()))


def saved(columns: dict[str, Any], path: Path) -> None:
    """Row groups of 100, so that there are several."""
    pq.write_table(pa.table(columns), path, row_group_size=100)


def test_classification(valor: Valor, tmp_path: Path) -> None:
    table = table_of("random_forest.csv")
    ids = [row.pop("id") for row in table]
    scores = [{name: float(score) for name, score in row.items()} for row in table]
    truth = {row["id"]: row["label"] for row in table_of("ground_truth.csv")}
    labels = [truth[one] for one in ids]
    rows = zip(ids, labels, scores, strict=True)
    lines = [json.dumps({"id": a, "label": b, "predictions": c}) for a, b, c in rows]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines))
    # Labels as whole numbers, and a column for each class.
    saved({"id": list(truth), "label": list(map(int, truth.values()))}, tmp_path / "truth.parquet")
    wide = {name: [row[name] for row in scores] for name in scores[0]}
    saved({"id": ids, **wide}, tmp_path / "wide.parquet")
    # Both sides in one file, with the scores of a row in one column.
    maps = pa.array([list(row.items()) for row in scores], pa.map_(pa.string(), pa.float64()))
    saved({"id": ids, "label": labels, "predictions": maps}, tmp_path / "maps.pq")
    both = (
        f"ground_truth: {DIGITS}/ground_truth.csv, predictions: {{m: {DIGITS}/random_forest.csv}}"
    )
    as_csv, as_columns, as_lines, as_maps = (
        results(valor, tmp_path, f"task: classification\ndata: {{{data}}}\n")
        for data in (
            both,
            "ground_truth: truth.parquet, predictions: {m: wide.parquet}",
            "samples: {m: lines.jsonl}",
            "samples: {m: maps.pq}, format: parquet",
        )
    )
    assert as_csv["metrics"]
    assert as_columns == as_csv
    assert as_maps == as_lines
    assert as_maps["metrics"] == as_csv["metrics"]


def test_text(valor: Valor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(map(json.loads, ANSWERS.read_text().splitlines()))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "answers.parquet", row_group_size=100)
    config = "task: text_generation\ndata: {{samples: {}}}\nmetrics: [exact_match, rouge]\n"
    config += "slices: [metadata.human_correct]\n"
    expected = results(valor, tmp_path, config.format(ANSWERS))
    assert expected["metrics"]
    assert results(valor, tmp_path, config.format("answers.parquet")) == expected
    # Some row groups a piece, of a quarter of what is said: measuring texts takes longer.
    monkeypatch.setenv("VALOR_PIECE_BYTES", str((tmp_path / "answers.parquet").stat().st_size))
    assert results(valor, tmp_path, config.format("answers.parquet")) == expected


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
