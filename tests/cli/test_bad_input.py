"""Broken input: one clear message with its place, exit 2, no traceback, nothing written."""

from __future__ import annotations

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
