"""Values at every resample, as a run writes them: those of runs on copied images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Valor
from tests.evaluators.detection.test_real_resamples import DATA, copied
from valor_cli.pipeline.intervals.resamples import Draws

NAME = "coco-val2014-100"


def evaluated(valor: Valor, folder: Path, data: tuple[Path, Path], more: str = "") -> Path:
    """Where a run of the twelve COCO numbers wrote its results."""
    folder.mkdir(exist_ok=True)
    truth, found = data
    config = folder / "run.yaml"
    config.write_text(
        "task: object_detection\n"
        f"data: {{ground_truth: {truth}, predictions: {found}}}\n"
        f"metrics: [coco]\nreport: {{out: out, formats: [json]}}\n{more}"
    )
    done = valor("evaluate", "-q", config)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_equal_those_of_copied_images(valor: Valor, tmp_path: Path) -> None:
    files = (DATA / NAME / "groundtruth.coco.json", DATA / NAME / "predictions.bbox.json")
    out = evaluated(valor, tmp_path / "whole", files, "interval: {resamples: 40, seed: 5}\n")
    lines = [json.loads(line) for line in (out / "resamples.jsonl").read_text().splitlines()]
    found: dict[str, Any] = {one["output"]: one["values"] for one in lines}
    assert len(found) == 12
    ids = sorted(image["id"] for image in json.loads(files[0].read_text())["images"])
    shifts: list[dict[str, float]] = []
    # One of the first that are found together, one of the rest.
    for number in (3, 39):
        weights = Draws(len(ids), 40, 5).weights(number).tolist()
        copies = copied(tmp_path, NAME, dict(zip(ids, weights, strict=True)))
        alone = evaluated(valor, tmp_path / str(number), copies)
        rows = json.loads((alone / "results.json").read_text())["metrics"]
        alone_values = {row["output"]: row["value"] for row in rows}
        shifts.append({name: one[number] - alone_values[name] for name, one in found.items()})
    # Resamples lack labels of all data: what that shifts them on average is taken off all alike.
    assert shifts[0] == pytest.approx(shifts[1], abs=1e-12)
    assert all(abs(shift) < 0.05 for shift in shifts[0].values())
