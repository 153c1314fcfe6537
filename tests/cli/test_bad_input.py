"""Broken input: one clear message with its place, exit 2, no traceback, nothing written."""

from __future__ import annotations

import gzip
import json
import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import RESULTS, Shell, Valor, read_run, refused

TEXT = json.dumps(RESULTS)


def with_row(**changes: Any) -> str:
    return json.dumps([{**RESULTS[0], **changes}])


def test_the_problems_of_all_files_are_told_at_once(valor: Valor, project: Path) -> None:
    (project / "gt.json").write_text(TEXT)
    (project / "dt.json").write_text(with_row(score=None))
    done = valor("validate", "run.yaml", cwd=project)
    refused(done, "give this file under data.predictions")
    assert "[0].score: expected a number, found null" in done.stderr


def test_ten_thousand_broken_rows(valor: Valor, project: Path) -> None:
    (project / "dt.json").write_text(json.dumps([{**RESULTS[0], "score": None}] * 10_000))
    done = valor("evaluate", "run.yaml", cwd=project)
    refused(done, "dt.json: [2].score")
    assert "[3].score" not in done.stderr
    assert "… and 9,997 more like this" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(valor: Valor, project: Path) -> None:
    (project / "dt.json").chmod(0)
    refused(valor("evaluate", "run.yaml", cwd=project), "no permission to read this file")


def test_the_output_folder_is_a_file(valor: Valor, project: Path) -> None:
    done = valor("evaluate", "run.yaml", "--out", "dt.json", cwd=project)
    refused(done, "dt.json: cannot be written")
    assert "--out" in done.stderr
    assert (project / "dt.json").read_text() == TEXT


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["evaluate run.yaml --out -", "evaluate run.yaml"])
def test_standard_output_on_a_full_disk(shell: Shell, project: Path, command: str) -> None:
    done = shell(f"valor {command} > /dev/full", project)
    assert done.returncode == 2
    assert done.stderr == "error: standard output: No space left on device\n"


def test_a_file_without_detections_gives_zeros(valor: Valor, project: Path) -> None:
    (project / "dt.json").write_text("[]")
    done = valor("evaluate", "run.yaml", cwd=project)
    assert done.returncode == 0, done.stderr
    result = read_run(project / "out").result
    values = {row["value"] for row in result["metrics"] if "small" in row["output"] or row["label"]}
    assert values == {0}
    assert result["missing_prediction_labels"] == {"dt": ["cat", "dog"]}


def test_zero_area_boxes_are_legal_and_match_nothing(valor: Valor, project: Path) -> None:
    (project / "dt.json").write_text(with_row(bbox=[0, 0, 0, 10]))
    done = valor("evaluate", "run.yaml", cwd=project)
    assert done.returncode == 0, done.stderr
    result = read_run(project / "out").result
    assert result["warnings"] == ["detections of dt whose box has no area, which match nothing: 1"]


def test_invalid_rows_can_be_left_out_and_are_counted(valor: Valor, project: Path) -> None:
    rows = deepcopy(RESULTS)
    rows += [{**RESULTS[0], "score": None}, {**RESULTS[0], "image_id": 99}]
    (project / "dt.json").write_text(json.dumps(rows))
    done = valor("evaluate", "run.yaml", "--set", "data.on_invalid=skip", cwd=project)
    assert done.returncode == 0, done.stderr
    result = read_run(project / "out").result
    assert result["warnings"] == ["dt.json: left out as invalid: 2 of 4 rows"]
    assert result["run"]["inputs"][1]["skipped"] == 2


def test_every_problem_of_a_config_has_its_place(valor: Valor, project: Path) -> None:
    (project / "run.yaml").write_text(
        "task: object_detection\n"
        "data: {ground_truth: gt.json, prediction: dt.json}\n"
        "metrics:\n"
        "  - average_precision: {iou_treshold: 0.5}\n"
        "  - cooc\n"
    )
    done = valor("evaluate", "run.yaml", cwd=project)
    refused(done, "run.yaml:2:1: data.predictions: required, but missing")
    for part in (
        "run.yaml:2:31: data.prediction: unknown key (did you mean 'predictions'?)",
        "run.yaml:4:25: metrics.0.iou_treshold: unknown parameter (did you mean 'iou_thresholds'?)",
        "run.yaml:5:5: metrics.1: unknown metric 'cooc' (did you mean 'coco'?)",
    ):
        assert part in done.stderr


SHARDED = """\
task: classification
metrics: [accuracy]
data: {samples: shards/*}
"""
SKIP = ("--set", "data.on_invalid=skip")


def shards(folder: Path) -> None:
    """Of 300 samples, three a file, each third is predicted wrong; three files are broken.

    One is cut off, one has no text, and one has a row that is wrong.
    """
    (folder / "shards").mkdir()
    (folder / "run.yaml").write_text(SHARDED)
    for at in range(100):
        rows = (
            {"sample_id": f"{at}-{row}", "label": "cat", "prediction": "dog" if row == 2 else "cat"}
            for row in range(3)
        )
        text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        (folder / f"shards/{at:02}.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    whole = (folder / "shards/17.jsonl.gz").read_bytes()
    (folder / "shards/17.jsonl.gz").write_bytes(whole[:-9])
    (folder / "shards/42.jsonl.gz").write_bytes(b"")
    text = gzip.decompress((folder / "shards/80.jsonl.gz").read_bytes()).replace(b'"80-1"', b"[]")
    (folder / "shards/80.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))


def test_all_that_is_broken_is_told_at_once(valor: Valor, tmp_path: Path) -> None:
    shards(tmp_path)
    done = valor("evaluate", "run.yaml", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.split("\n")
    assert lines[0].startswith("error: shards/17.jsonl.gz: the gzip file is damaged or cut off (")
    assert lines[1].strip() == "shards/42.jsonl.gz: the file is empty"
    assert lines[2].strip().startswith("shards/80.jsonl.gz:2: sample_id: expected ")
    assert lines[3].strip() == "These are in 3 of the 100 files of shards/*."
    assert lines[4].strip().startswith("Fix these files, or set `on_invalid: skip` under `data:`")
    assert not (tmp_path / "out").exists()


def test_the_others_are_not_lost(valor: Valor, tmp_path: Path) -> None:
    shards(tmp_path)
    done = valor("evaluate", "run.yaml", "--out", "out", *SKIP, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = read_run(tmp_path / "out").result
    # 98 files; of one of them the second row is left out, which was right.
    assert result["data"]["samples"] == 98 * 3 - 1
    assert result["metrics"][0]["value"] == (98 * 2 - 1) / (98 * 3 - 1)
    start = "left out: 2 of 100 files: shards/17.jsonl.gz: the gzip file is damaged or cut off ("
    assert result["warnings"][0].startswith(start)
    assert "; shards/42.jsonl.gz: the file is empty" in result["warnings"][0]
    files = {file["path"]: file for file in result["run"]["inputs"]}
    assert len(files) == 100
    assert files["shards/42.jsonl.gz"]["left_out"] == "the file is empty"
    assert files["shards/42.jsonl.gz"]["rows"] is None
    assert files["shards/80.jsonl.gz"]["skipped"] == 1
    assert "left out: 2 of 100 files" in done.stdout
    report = (tmp_path / "out/report.html").read_text()
    assert "left out: 2 of 100 files" in report
    assert report.count(">left out<") == 2
