"""Real COCO and VOC files: the published numbers and those of pycocotools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.reference import pycocotools
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import AREAS, COCO_IOUS, MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.load.dataset import load_detections
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.metrics.average_precision import (
    average_precision,
    average_precision_over_ious,
)
from valor_cli.evaluators.detection.metrics.average_recall import average_recall
from valor_cli.evaluators.detection.metrics.coco import coco
from valor_cli.metric import Selection

DATA = Path(__file__).parents[2] / "real_data" / "detection"
SETS = sorted(folder.name for folder in DATA.iterdir())
OUTPUTS = {
    "AP": "AP",
    "AP50": "AP50",
    "AP75": "AP75",
    "APs": "APsmall",
    "APm": "APmedium",
    "APl": "APlarge",
    "AR1": "AR@1",
    "AR10": "AR@10",
    "AR100": "AR@100",
    "ARs": "ARsmall",
    "ARm": "ARmedium",
    "ARl": "ARlarge",
}


def expected(name: str) -> Any:
    return json.loads((DATA / name / "expected.json").read_text())


def computed(name: str) -> Any:
    found = expected(name)["computed"]
    return found.get("bbox") or found["bbox_coco"]


def predictions(name: str) -> Path:
    found = sorted((DATA / name).glob("predictions.*.json"))
    return next(path for path in found if "segm" not in path.name)


def evidence(name: str) -> Matches:
    inputs = DetectionInputs(
        ground_truth=str(DATA / name / "groundtruth.coco.json"), predictions=str(predictions(name))
    )
    loaded = load_detections(inputs, DetectionOptions(), Selection())
    return match_detections(next(iter(loaded.datasets.values())), MatchingPlan())


@pytest.mark.parametrize("name", SETS)
def test_the_twelve_numbers(name: str) -> None:
    found = {value.output: value.value for value in coco(evidence(name)).values}
    for short, value in computed(name)["summary"].items():
        if value == -1:
            assert found[OUTPUTS[short]] is None
        else:
            assert found[OUTPUTS[short]] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_every_label(name: str) -> None:
    matches = evidence(name)
    at = {
        "AP": average_precision_over_ious(matches).values,
        "AP50": average_precision(matches, iou_thresholds=(0.5,)).values,
        "AP75": average_precision(matches, iou_thresholds=(0.75,)).values,
        "AR100": average_recall(matches, max_detections=100).values,
    }
    per_class = computed(name)["per_class"]
    assert {value.label for value in at["AP"] if value.value is not None} == set(per_class)
    for label, numbers in per_class.items():
        for short, number in numbers.items():
            value = next(value.value for value in at[short] if value.label == label)
            assert value == pytest.approx(number, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "tolerance"), [("coco-val2014-100", 5e-4), ("coco-val2014-100-bboxarea", 1e-6)]
)
def test_published_numbers(name: str, tolerance: float) -> None:
    # Printed with three and with six decimals.
    found = {value.output: value.value for value in coco(evidence(name)).values}
    for short, number in expected(name)["published"]["bbox"].items():
        assert found[OUTPUTS[short]] == pytest.approx(number, abs=tolerance)


@pytest.mark.parametrize("name", SETS)
def test_arrays_equal_pycocotools_bit_for_bit(name: str) -> None:
    truth = json.loads((DATA / name / "groundtruth.coco.json").read_text())
    found = json.loads(predictions(name).read_text())
    results = found["annotations"] if isinstance(found, dict) else found
    matches = evidence(name)
    names = {category["id"]: category["name"] for category in truth["categories"]}
    reference = pycocotools(truth, results)
    kept = [
        at for at, number in enumerate(reference.params.catIds) if names[number] in matches.labels
    ]
    for at, area in enumerate(AREAS):
        part = matches.within(area)
        precision = reference.eval["precision"][:, :, kept, at, 2]
        assert np.array_equal(np.nan_to_num(part.precision(COCO_IOUS)[0], nan=-1), precision)
        scores = reference.eval["scores"][:, :, kept, at, 2]
        assert np.array_equal(np.nan_to_num(part.scores(COCO_IOUS), nan=-1), scores)
    values = {value.output: value.value for value in coco(matches).values}
    found_stats = [values[OUTPUTS[short]] for short in OUTPUTS]
    # The reference prints -1 for sizes that no ground truth has.
    assert [-1 if value is None else value for value in found_stats] == reference.stats.tolist()
