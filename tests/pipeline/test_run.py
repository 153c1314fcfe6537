"""A plan to a result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config


@pytest.mark.parametrize("metric", ["confusion_matrix", "error_breakdown", "image_scores"])
def test_a_gate_beside_a_metric_that_shows_objects(tmp_path: Path, metric: str) -> None:
    # The first image's only object is the last of the file: its row is none of the first image's
    # shard, from which the shape of the result is found.
    box = [0, 0, 10, 10]
    annotations = [
        {"id": at, "image_id": image, "category_id": 1, "bbox": box, "area": 100, "iscrowd": 0}
        for at, image in enumerate((3, 2, 1), 1)
    ]
    truth = {
        "images": [{"id": image, "width": 20, "height": 20} for image in (1, 2, 3)],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "cat"}],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": [9, 9, 5, 5], "score": 0.9}]
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    (tmp_path / "dt.json").write_text(json.dumps(found))
    path = tmp_path / "run.yaml"
    path.write_text(
        "task: object_detection\ndata: {ground_truth: gt.json, predictions: dt.json}\n"
        f"metrics: [recall, {metric}]\n"
        "gates: [{metric: recall, label: cat, min: 0}]\n"
    )
    plan = pipeline.make_plan(load_config(path, catalogue))
    result = pipeline.evaluate(plan, command="valor")
    assert [gate.status for gate in result.gates] == ["passed"]
    shown = {ref.id for example in result.examples for ref in example.objects}
    assert 3 in shown
