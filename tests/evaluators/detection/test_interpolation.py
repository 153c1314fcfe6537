"""`interpolation`: worked by hand, by plain arithmetic, and the VOC numbers of another tool."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.evaluators.detection.asking import (
    PROBLEMS,
    Problem,
    ask,
    asked,
    confused_dataset,
    findings,
    numbers,
    plan_of,
    scene,
)
from tests.oracles.detection import interpolated_precision
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.load.dataset import load_detections
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.metrics.average_precision import (
    AVERAGE_PRECISION,
    AVERAGE_PRECISION_OVER_IOUS,
    MEAN_AVERAGE_PRECISION,
    MEAN_AVERAGE_PRECISION_OVER_IOUS,
)
from valor_cli.evaluators.detection.metrics.counts import COUNTS
from valor_cli.metric import Selection

DATA = Path(__file__).parents[2] / "real_data" / "detection"


def test_worked_by_hand() -> None:
    # Three cats; right, wrong, right, wrong. Recall 1/3 with precision 1, 2/3 with 2/3; the last
    # cat is never found. Dogs: one, never found.
    dataset = scene(
        "cat dog cow",
        "0 cat 0 0, 0 cat 20 0, 0 cat 40 0, 1 dog 0 0",
        "0 cat 0.9 0 0, 0 cat 0.8 80 80, 0 cat 0.7 20 0, 0 cat 0.6 80 80, 0 cow 0.6 80 80",
    )
    expected = {
        # Recalls 0 to .33 have 1, .34 to .66 have 2/3.
        "101_point": (34 + 33 * 2 / 3) / 101,
        # Recalls 0, .1, .2, .3 have 1; .4, .5, .6 have 2/3.
        "11_point": (4 + 3 * 2 / 3) / 11,
        # A third with 1, a third with 2/3.
        "every_point": 1 / 3 + 2 / 9,
    }
    for name, value in expected.items():
        found = ask(dataset, AVERAGE_PRECISION, interpolation=name)
        assert numbers(found, "value") == {
            "cat": pytest.approx(value, abs=1e-12),
            "dog": 0,
            "cow": None,
        }
        found = ask(dataset, MEAN_AVERAGE_PRECISION, interpolation=name)
        assert numbers(found, "value") == {None: pytest.approx(value / 2, abs=1e-12)}


def area_under(outcomes: list[bool], truths: int) -> Fraction:
    """The area under the envelope, exactly."""
    precision = []
    tp = 0
    for at, right in enumerate(outcomes):
        tp += right
        precision.append(Fraction(tp, at + 1))
    envelope = [max(precision[at:]) for at, right in enumerate(outcomes) if right]
    return sum(envelope, Fraction(0)) / truths


@given(PROBLEMS.filter(lambda problem: problem.matching == "coco"))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_all_three_are_those_of_plain_arithmetic(problem: Problem) -> None:
    dataset, verdict = problem.dataset, problem.verdict(-np.inf)
    rows = {found.row for found, _ in verdict.right}
    # Of equal scores by image, then place in the file.
    order = sorted(
        [found for found, _ in verdict.right] + list(verdict.wrong),
        key=lambda found: (-found.score, found.image, found.row),
    )
    at = {"iou_thresholds": (problem.iou,), "max_detections": problem.limit}
    calls = {
        name: asked(AVERAGE_PRECISION, **at, interpolation=name)
        for name in ("101_point", "11_point", "every_point")
    }
    plan = plan_of(*calls.values(), area=True)
    matches = match_detections(dataset, plan).within(problem.area)
    values = {name: numbers(findings(matches, call), "value") for name, call in calls.items()}
    for number, label in enumerate(dataset.labels):
        truths = sum(truth.label == number for truth in verdict.real)
        if not truths:
            assert {found[label] for found in values.values()} == {None}
            continue
        outcomes = [(found.row in rows, found.score) for found in order if found.label == number]
        for name, points in (("101_point", 101), ("11_point", 11)):
            levels = np.linspace(0, 1, points).tolist()
            precision, _ = interpolated_precision(outcomes, truths, levels)
            assert values[name][label] == pytest.approx(sum(precision) / points, abs=1e-12)
        expected = float(area_under([right for right, _ in outcomes], truths))
        assert values["every_point"][label] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["101_point", "11_point", "every_point"])
def test_means_over_thresholds_and_labels_are_means(name: str) -> None:
    dataset = confused_dataset(5, images=15)
    ious = (0.3, 0.5, 0.75)
    single = [
        numbers(ask(dataset, AVERAGE_PRECISION, iou_thresholds=(iou,), interpolation=name), "value")
        for iou in ious
    ]
    at = {"iou_thresholds": ious, "interpolation": name}
    over = numbers(ask(dataset, AVERAGE_PRECISION_OVER_IOUS, **at), "value")
    kept = [label for label, value in over.items() if value is not None]
    for label in kept:
        assert over[label] == pytest.approx(np.mean([one[label] for one in single]), abs=1e-12)
    mean = numbers(ask(dataset, MEAN_AVERAGE_PRECISION_OVER_IOUS, **at), "value")[None]
    assert mean == pytest.approx(np.mean([over[label] for label in kept]), abs=1e-12)


@cache
def voc(name: str) -> DetectionDataset:
    """As PASCAL VOC's tools compare boxes."""
    inputs = DetectionInputs(
        ground_truth=str(DATA / name / "groundtruth.coco.json"),
        predictions=str(DATA / name / "predictions.bbox.json"),
    )
    options = DetectionOptions(matching="valor", inclusive_pixels=True)
    return next(iter(load_detections(inputs, options, Selection()).datasets.values()))


def expected(name: str) -> Any:
    return json.loads((DATA / name / "expected.json").read_text())


VOC2012 = expected("voc2012-100")["computed"]["voc"]["results"]


@pytest.mark.parametrize("setting", sorted(VOC2012))
def test_voc2012(setting: str) -> None:
    name, iou = setting.split("@")
    stored = VOC2012[setting]
    at = {
        "iou_thresholds": (float(iou),),
        "max_detections": None,
        "interpolation": name,
    }
    dataset = voc("voc2012-100")
    found = numbers(ask(dataset, AVERAGE_PRECISION, **at), "value")
    counted = ask(dataset, COUNTS, iou_threshold=float(iou), score_threshold=0.0)
    for label, row in stored["per_class"].items():
        assert found[label] == pytest.approx(row["AP"], abs=1e-10)
        tp, fp, fn = (numbers(counted, output)[label] for output in ("tp", "fp", "fn"))
        assert (tp, fp) == (row["TP"], row["FP"])
        assert (tp or 0) + (fn or 0) == row["positives"]
    mean = numbers(ask(dataset, MEAN_AVERAGE_PRECISION, **at), "value")[None]
    assert mean == pytest.approx(stored["mAP"], abs=1e-10)


@pytest.mark.parametrize("iou", ["0.1", "0.3", "0.5", "0.75"])
@pytest.mark.parametrize("name", ["eleven_point", "every_point"])
def test_voc_published(name: str, iou: str) -> None:
    found = ask(
        voc("voc-7img-24det"),
        AVERAGE_PRECISION,
        iou_thresholds=(float(iou),),
        max_detections=None,
        interpolation={"eleven_point": "11_point"}.get(name, name),
    )
    (value,) = numbers(found, "value").values()
    # Printed with ten decimals.
    published = expected("voc-7img-24det")["published"][name][iou]
    assert value == pytest.approx(published, abs=1e-10)


def test_inclusive_pixels_widen_a_box_and_leave_its_corner(tmp_path: Path) -> None:
    lines = "image_id,label,x,y,width,height,score\na,cat,1,2,3,4,0.5\n"
    (tmp_path / "a.csv").write_text(lines)
    inputs = DetectionInputs(
        ground_truth=str(tmp_path / "a.csv"), predictions=str(tmp_path / "a.csv")
    )
    loaded = load_detections(inputs, DetectionOptions(inclusive_pixels=True), Selection())
    (dataset,) = loaded.datasets.values()
    for one in (dataset.ground_truths, dataset.detections):
        assert one.shapes.box.tolist() == [[1, 2, 4, 5]]


def test_inclusive_pixels_are_for_boxes() -> None:
    folder = DATA / "coco-val2014-100"
    inputs = DetectionInputs(
        ground_truth=str(folder / "groundtruth.coco.json"),
        predictions=str(folder / "predictions.segm.json"),
    )
    options = DetectionOptions(geometry="mask", inclusive_pixels=True)
    with pytest.raises(DataError, match="inclusive_pixels"):
        load_detections(inputs, options, Selection())
