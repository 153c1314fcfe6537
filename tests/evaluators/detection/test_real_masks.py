"""Real masks and polygons: the published numbers and those of pycocotools."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.reference import pycocotools
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import AREAS, COCO_IOUS, MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.load.dataset import load_detections, load_instances
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.metrics.average_precision import (
    average_precision,
    average_precision_over_ious,
)
from valor_cli.evaluators.detection.metrics.average_recall import average_recall
from valor_cli.evaluators.detection.metrics.coco import coco
from valor_cli.metric import Loaded, Selection

DATA = Path(__file__).parents[2] / "real_data"
COCO = DATA / "detection" / "coco-val2014-100"
NUCLEI = DATA / "segmentation" / "dsb2018-nuclei-a"
SETS = {
    "coco-val2014-100": (COCO, COCO / "groundtruth.coco.json", COCO / "predictions.segm.json"),
    "dsb2018-nuclei-a": (
        NUCLEI,
        NUCLEI / "instance" / "groundtruth.coco.json",
        NUCLEI / "instance" / "predictions.segm.json",
    ),
}
OUTPUTS = dict(
    zip(
        ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"),
        ("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge")
        + ("AR@1", "AR@10", "AR@100", "ARsmall", "ARmedium", "ARlarge"),
        strict=True,
    )
)


def load(truth: Path, found: Path, options: DetectionOptions | None = None) -> Loaded[Any]:
    inputs = DetectionInputs(ground_truth=str(truth), predictions=str(found))
    return load_instances(inputs, options or DetectionOptions(), Selection())


@cache
def evidence(name: str) -> Matches:
    _, truth, found = SETS[name]
    dataset = next(iter(load(truth, found).datasets.values()))
    return match_detections(dataset, MatchingPlan())


def expected(name: str) -> Any:
    numbers = json.loads((SETS[name][0] / "expected.json").read_text())
    return numbers["instance"]["segm"] if "instance" in numbers else numbers["computed"]["segm"]


@pytest.mark.parametrize("name", SETS)
def test_the_twelve_numbers(name: str) -> None:
    found = {value.output: value.value for value in coco(evidence(name)).values}
    for short, number in expected(name)["summary"].items():
        if number == -1:
            assert found[OUTPUTS[short]] is None
        else:
            assert found[OUTPUTS[short]] == pytest.approx(number, abs=1e-12)


def test_the_published_table_of_the_coco_api() -> None:
    # val2014_fake_eval_res.txt prints three decimals.
    published = json.loads((COCO / "expected.json").read_text())["published"]["segm"]
    found = {value.output: value.value for value in coco(evidence("coco-val2014-100")).values}
    assert {short: round(found[OUTPUTS[short]], 3) for short in published} == published


@pytest.mark.parametrize("name", SETS)
def test_every_label(name: str) -> None:
    matches = evidence(name)
    at = {
        "AP": average_precision_over_ious(matches).values,
        "AP50": average_precision(matches, iou_thresholds=(0.5,)).values,
        "AP75": average_precision(matches, iou_thresholds=(0.75,)).values,
        "AR100": average_recall(matches, max_detections=100).values,
    }
    per_class = expected(name)["per_class"]
    assert {value.label for value in at["AP"] if value.value is not None} == set(per_class)
    for label, numbers in per_class.items():
        for short, number in numbers.items():
            value = next(value.value for value in at[short] if value.label == label)
            assert value == pytest.approx(number, abs=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_arrays_equal_pycocotools_bit_for_bit(name: str) -> None:
    _, truth, found = SETS[name]
    document = json.loads(truth.read_text())
    matches = evidence(name)
    names = {category["id"]: category["name"] for category in document["categories"]}
    reference = pycocotools(document, json.loads(found.read_text()), "segm")
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
    stats = [values[output] for output in OUTPUTS.values()]
    assert [-1 if value is None else value for value in stats] == reference.stats.tolist()


def test_geometries_and_what_is_said_of_them(tmp_path: Path) -> None:
    _, truth, found = SETS["coco-val2014-100"]
    assert load(truth, found).settings == {"matching": "coco", "geometry": "mask"}
    boxes = load(truth, COCO / "predictions.bbox.json")
    assert boxes.settings["geometry"] == "box"
    assert any("compared as boxes, the least detailed" in told for told in boxes.warnings)
    asked = load(truth, found, DetectionOptions(geometry="rotated_box"))
    assert asked.settings["geometry"] == "rotated_box"


def test_boxes_are_taken_by_object_detection_even_where_there_are_masks() -> None:
    # The box table of the same ground truth, which has polygons and run lengths.
    inputs = DetectionInputs(
        ground_truth=str(SETS["coco-val2014-100"][1]),
        predictions=str(COCO / "predictions.bbox.json"),
    )
    loaded = load_detections(inputs, DetectionOptions(), Selection())
    matches = match_detections(next(iter(loaded.datasets.values())), MatchingPlan())
    numbers = json.loads((COCO / "expected.json").read_text())["computed"]["bbox"]["summary"]
    found = {value.output: value.value for value in coco(matches).values}
    assert found["AP"] == pytest.approx(numbers["AP"], abs=1e-12)
    assert loaded.settings["geometry"] == "box"


def test_a_mask_of_another_size_than_its_image_is_refused(tmp_path: Path) -> None:
    _, truth, found = SETS["dsb2018-nuclei-a"]
    rows = json.loads(found.read_text())[:3]
    wrong = deepcopy(rows)
    height, width = wrong[1]["segmentation"]["size"]
    wrong[1]["segmentation"] = {"size": [height + 1, width], "counts": [(height + 1) * width]}
    (tmp_path / "dt.json").write_text(json.dumps(wrong))
    with pytest.raises(DataError) as caught:
        load(truth, tmp_path / "dt.json")
    (problem,) = caught.value.problems
    assert caught.value.total == 1
    assert problem.place.endswith("dt.json: [1]")
    assert f"the mask is {height + 1} by {width} (height by width)" in problem.message


def test_polygons_on_images_of_unknown_size_need_one_for_masks(tmp_path: Path) -> None:
    document = json.loads(SETS["coco-val2014-100"][1].read_text())
    document["images"] = [{"id": image["id"]} for image in document["images"]]
    document["annotations"] = [one for one in document["annotations"] if not one["iscrowd"]]
    (tmp_path / "gt.json").write_text(json.dumps(document))
    found = [
        {"image_id": one["image_id"], "category_id": one["category_id"], "score": 1.0}
        | {"segmentation": one["segmentation"]}
        for one in document["annotations"][:50]
    ]
    (tmp_path / "dt.json").write_text(json.dumps(found))
    assert load(tmp_path / "gt.json", tmp_path / "dt.json").settings["geometry"] == "polygon"
    with pytest.raises(DataError, match="the size of its image is unknown"):
        load(tmp_path / "gt.json", tmp_path / "dt.json", DetectionOptions(geometry="mask"))
