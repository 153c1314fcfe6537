"""Every layout of every format tells its own task, and which file is the ground truth."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.same_bytes.corpus import Case, Run, corpus
from tests.same_bytes.layouts import ROOT
from valor_cli.pipeline.inference import infer

SIDES = ("ground_truth", "samples", "predictions")

OTHER_TASK = {"semantic_segmentation/panoptic": "instance_segmentation"}
"""Panoptic files are of both tasks; instances are told from `things`."""


def paths_in(data: dict[str, Any]) -> dict[str, list[str]]:
    found = {side: data[side] for side in SIDES if side in data}
    return {
        side: list(value.values()) if isinstance(value, dict) else [value]
        for side, value in found.items()
    }


def cases() -> list[tuple[Case, Run]]:
    found = [(case, run) for case in corpus().values() for run in case.runs.values()]
    return [(case, run) for case, run in found if run.lay_out or "_ci" not in run.config]


@pytest.mark.parametrize(
    ("case", "run"), cases(), ids=[f"{case.name}-{at}" for at, (case, _) in enumerate(cases())]
)
def test_the_config_of_a_run_follows_from_its_files(
    case: Case, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = run.config
    if run.lay_out is None:
        config = (ROOT / config).read_text(encoding="utf-8")
        os.chdir(ROOT / "configs")
    else:
        run.lay_out()
    wanted = yaml.safe_load(config)
    sides = paths_in(wanted["data"])
    found = infer([path for side in SIDES for path in sides.get(side, ())])
    assert found.config["task"] == OTHER_TASK.get(case.name, wanted["task"])
    assert paths_in(found.config["data"]) == sides
