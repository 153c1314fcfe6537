"""Make six nightly runs of a detector for the picture of `valor history`: one night is bad."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.reports.writer import write_reports

DATA = Path(__file__).parents[1] / "sample_data" / "object_detection"

NIGHTS: Sequence[tuple[float, float, str]] = (
    (0.030, 0.10, "1f0c2d9"),
    (0.025, 0.09, "a74e01b"),
    (0.020, 0.07, "53d9e6c"),
    (0.060, 0.30, "c20b7f4"),
    (0.020, 0.08, "e18f5a3"),
    (0.020, 0.08, "0b96c7e"),
)
"""Of each night how much boxes and scores are moved, the share of detections that is lost, and the
beginning of a commit."""


def make_nights(folder: Path) -> list[str]:
    """Evaluate each night's detections, and return the folders of the runs."""
    detections = json.loads((DATA / "large.json").read_text(encoding="utf-8"))
    runs = []
    for number, (moved, lost, commit) in enumerate(NIGHTS):
        name = f"2026-03-{number + 9:02}"
        file, config = folder / "detector.json", folder / "nightly.yaml"
        kept = perturbed(detections, number, moved, lost)
        file.write_text(json.dumps(kept), encoding="utf-8")
        config.write_text(json.dumps(_config(file)), encoding="utf-8")
        plan = pipeline.make_plan(load_config(config, catalogue))
        result = pipeline.evaluate(plan, command="valor evaluate configs/nightly.yaml")
        run = replace(result.run, started_at=f"{name}T02:30:00+00:00", commit=f"{commit:0<40}")
        write_reports(replace(result, run=run), folder / "nightly" / name, ["json"])
        runs.append(str(folder / "nightly" / name))
    return runs


def perturbed(
    detections: Sequence[Mapping[str, Any]], seed: int, moved: float, lost: float
) -> list[Mapping[str, Any]]:
    """Detections with boxes and scores moved at random, and a share of them lost."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    found = []
    for one in detections:
        if dice.random() < lost:
            continue
        box = [side * (1 + dice.gauss(0, moved)) for side in one["bbox"]]
        score = min(max(one["score"] + dice.gauss(0, moved), 0.001), 1.0)
        found.append({**one, "bbox": box, "score": score})
    return found


def _config(predictions: Path) -> Mapping[str, Any]:
    return {
        "task": "object_detection",
        "data": {
            "ground_truth": str(DATA / "ground_truth.json"),
            "predictions": {"detector": str(predictions)},
        },
        "metrics": ["coco", {"recall": {"score_threshold": 0.5}}],
        "interval": {"resamples": 500},
        "gates": [{"metric": "coco", "output": "AP", "min": 0.25}],
    }
