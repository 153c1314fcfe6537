"""The same data as CSV, JSONL and Parquet through the command line: one result."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.conftest import ROOT, Valor

DIGITS = ROOT / "sample_data" / "classification"
ANSWERS = ROOT / "sample_data" / "text_generation" / "answers.jsonl"


def results(valor: Valor, folder: Path, config: str) -> Any:
    """Results without the block that says of what files they are."""
    (folder / "run.yaml").write_text(config)
    ran = valor("evaluate", folder / "run.yaml", "--out", folder / "out")
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


def test_text(valor: Valor, tmp_path: Path) -> None:
    rows = list(map(json.loads, ANSWERS.read_text().splitlines()))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "answers.parquet", row_group_size=100)
    config = "task: text_generation\ndata: {{samples: {}}}\nmetrics: [exact_match, rouge]\n"
    config += "slices: [metadata.human_correct]\n"
    expected = results(valor, tmp_path, config.format(ANSWERS))
    assert expected["metrics"]
    assert results(valor, tmp_path, config.format("answers.parquet")) == expected
