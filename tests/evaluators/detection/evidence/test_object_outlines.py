"""The outlines of objects, in the order in which runs list objects."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli import api
from valor_cli.evaluators.detection.evidence import object_outlines
from valor_cli.results import ObjectsResult
from valor_cli.results.objects import TENTHS

SAMPLES = Path(__file__).parents[4] / "sample_data"


def objects(task: str, model: str, **more: Any) -> ObjectsResult:
    data = {
        "ground_truth": str(SAMPLES / task / "ground_truth.json"),
        "predictions": {"m": str(SAMPLES / task / f"{model}.json")},
    }
    (found,) = api.evaluate({"task": task, "data": data, **more}).objects
    return found


@pytest.mark.parametrize("geometry", ["mask", "polygon"])
def test_an_outline_fills_its_box(geometry: str) -> None:
    one = objects("instance_segmentation", "watershed", geometry=geometry)
    assert one.outlines is not None
    boxes = np.concatenate([one.gt_boxes, one.boxes])
    points = np.concatenate([[0], np.cumsum(one.outlines.points)])
    rings = np.concatenate([[0], np.cumsum(one.outlines.rings)])
    assert len(rings) == len(boxes) + 1
    for box, (first, last) in zip(boxes, pairwise(rings), strict=True):
        xy = one.outlines.xy[points[first] : points[last]] / TENTHS
        corners = [*xy.min(axis=0), *xy.max(axis=0)]
        assert corners == pytest.approx([*box[:2], *(box[:2] + box[2:])], abs=1.1)


def test_boxes_have_none() -> None:
    assert objects("object_detection", "small").outlines is None


def test_the_first_ground_truths_and_the_best_detections_have_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(object_outlines, "OUTLINED", 7)
    one = objects("instance_segmentation", "watershed")
    assert one.outlines is not None
    truths, found = np.split(one.outlines.rings > 0, [len(one.gt_boxes)])
    assert np.flatnonzero(truths).tolist() == list(range(7))
    assert 0 < found.sum() <= 7
    assert one.scores[found].min() > one.scores[~found].max()
