"""Real files of COCO and VOC: the published numbers, and those of pycocotools and tidecv."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.detection.asking import ask, numbers
from tests.oracles.reference import pycocotools
from valor_cli.data.shapes.objects.dataset import DetectionDataset
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
from valor_cli.evaluators.detection.metrics.error_breakdown import ERROR_BREAKDOWN
from valor_cli.metric import Loaded, Selection

ROOT = Path(__file__).parents[2]
DATA = ROOT / "real_data" / "detection"
NUCLEI = ROOT / "real_data" / "segmentation" / "dsb2018-nuclei-a"
COCO = DATA / "coco-val2014-100"
OUTPUTS = dict(
    zip(
        ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"),
        ("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge")
        + ("AR@1", "AR@10", "AR@100", "ARsmall", "ARmedium", "ARlarge"),
        strict=True,
    )
)


class RealSet(NamedTuple):
    """Two files, how pycocotools calls their geometry, and where its numbers of them are."""

    truth: Path
    found: Path
    kind: str
    numbers: Mapping[str, Any]


def stored(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text())


def boxes(folder: Path) -> RealSet:
    paths = (path for path in folder.glob("predictions.*.json") if "segm" not in path.name)
    computed = stored(folder)["computed"]
    own = computed.get("bbox") or computed["bbox_coco"]
    return RealSet(folder / "groundtruth.coco.json", min(paths), "bbox", own)


SETS = {folder.name: boxes(folder) for folder in sorted(DATA.iterdir())} | {
    "masks of coco-val2014-100": RealSet(
        COCO / "groundtruth.coco.json",
        COCO / "predictions.segm.json",
        "segm",
        stored(COCO)["computed"]["segm"],
    ),
    "masks of dsb2018-nuclei-a": RealSet(
        NUCLEI / "instance" / "groundtruth.coco.json",
        NUCLEI / "instance" / "predictions.segm.json",
        "segm",
        stored(NUCLEI)["instance"]["segm"],
    ),
}
MASKS, FEW_MASKS = [one for name, one in SETS.items() if name.startswith("masks")]


def load(
    truth: Path, found: Path, kind: str, options: DetectionOptions | None = None
) -> Loaded[DetectionDataset]:
    inputs = DetectionInputs(ground_truth=str(truth), predictions=str(found))
    loader = load_instances if kind == "segm" else load_detections
    return loader(inputs, options or DetectionOptions(), Selection())


@cache
def evidence(name: str) -> Matches:
    loaded = load(*SETS[name][:3])
    return match_detections(next(iter(loaded.datasets.values())), MatchingPlan())


def stats(name: str) -> dict[str, float | None]:
    found = {value.output: value.value for value in coco(evidence(name)).values}
    return {short: found[output] for short, output in OUTPUTS.items()}


@pytest.mark.parametrize("name", SETS)
def test_numbers_of_all_and_of_each_label(name: str) -> None:
    expected, matches = SETS[name].numbers, evidence(name)
    summary = {short: None if one == -1 else one for short, one in expected["summary"].items()}
    found = stats(name)
    assert {short: found[short] for short in summary} == pytest.approx(summary, abs=1e-12)
    at = {
        "AP": average_precision_over_ious(matches).values,
        "AP50": average_precision(matches, iou_thresholds=(0.5,)).values,
        "AP75": average_precision(matches, iou_thresholds=(0.75,)).values,
        "AR100": average_recall(matches, max_detections=100).values,
    }
    columns = {short: {one.label: one.value for one in values} for short, values in at.items()}
    each = expected["per_class"]
    assert {label for label, value in columns["AP"].items() if value is not None} == set(each)
    for label, row in each.items():
        own = {short: columns[short][label] for short in row}
        assert own == pytest.approx(row, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "kind", "tolerance"),
    [
        # Printed with three and with six decimals.
        ("coco-val2014-100", "bbox", 5e-4),
        ("coco-val2014-100-bboxarea", "bbox", 1e-6),
        ("masks of coco-val2014-100", "segm", 5e-4),
    ],
)
def test_published_numbers(name: str, kind: str, tolerance: float) -> None:
    published = stored(SETS[name].truth.parent)["published"][kind]
    found = stats(name)
    assert {short: found[short] for short in published} == pytest.approx(published, abs=tolerance)


@pytest.mark.parametrize("name", SETS)
def test_arrays_equal_pycocotools_bit_for_bit(name: str) -> None:
    truth, found, kind, _ = SETS[name]
    document, results = json.loads(truth.read_text()), json.loads(found.read_text())
    results = results["annotations"] if isinstance(results, dict) else results
    matches = evidence(name)
    names = {category["id"]: category["name"] for category in document["categories"]}
    reference = pycocotools(document, results, kind)
    kept = [
        at for at, number in enumerate(reference.params.catIds) if names[number] in matches.labels
    ]
    for at, area in enumerate(AREAS):
        part = matches.within(area)
        precision = reference.eval["precision"][:, :, kept, at, 2]
        assert np.array_equal(np.nan_to_num(part.precision(COCO_IOUS)[0], nan=-1), precision)
        scores = reference.eval["scores"][:, :, kept, at, 2]
        assert np.array_equal(np.nan_to_num(part.scores(COCO_IOUS), nan=-1), scores)
    # The reference prints -1 for sizes that no ground truth has.
    own = [-1 if value is None else value for value in stats(name).values()]
    assert own == reference.stats.tolist()


# ---- masks and polygons


def test_geometries_and_what_is_said_of_them() -> None:
    truth, found, kind, _ = MASKS
    assert load(truth, found, kind).settings == {"matching": "coco", "geometry": "mask"}
    compared = load(truth, COCO / "predictions.bbox.json", kind)
    assert compared.settings["geometry"] == "box"
    assert any("compared as boxes, the least detailed" in told for told in compared.warnings)
    asked = load(truth, found, kind, DetectionOptions(geometry="rotated_box"))
    assert asked.settings["geometry"] == "rotated_box"
    # Boxes are taken by object detection even where there are masks.
    assert load(truth, found, "bbox").settings["geometry"] == "box"


def test_a_mask_of_another_size_than_its_image_is_refused(tmp_path: Path) -> None:
    truth, found, kind, _ = FEW_MASKS
    wrong = deepcopy(json.loads(found.read_text())[:3])
    height, width = wrong[1]["segmentation"]["size"]
    wrong[1]["segmentation"] = {"size": [height + 1, width], "counts": [(height + 1) * width]}
    (tmp_path / "dt.json").write_text(json.dumps(wrong))
    with pytest.raises(DataError) as caught:
        load(truth, tmp_path / "dt.json", kind)
    (problem,) = caught.value.problems
    assert caught.value.total == 1
    assert problem.place.endswith("dt.json: [1]")
    assert f"the mask is {height + 1} by {width} (height by width)" in problem.message


def test_polygons_on_images_of_unknown_size_need_one_for_masks(tmp_path: Path) -> None:
    document = json.loads(MASKS.truth.read_text())
    document["images"] = [{"id": image["id"]} for image in document["images"]]
    document["annotations"] = [one for one in document["annotations"] if not one["iscrowd"]]
    found = [
        {name: one[name] for name in ("image_id", "category_id", "segmentation")} | {"score": 1.0}
        for one in document["annotations"][:50]
    ]
    paths = tmp_path / "gt.json", tmp_path / "dt.json"
    for path, content in zip(paths, (document, found), strict=True):
        path.write_text(json.dumps(content))
    assert load(*paths, "segm").settings["geometry"] == "polygon"
    with pytest.raises(DataError, match="the size of its image is unknown"):
        load(*paths, "segm", DetectionOptions(geometry="mask"))


# ---- tidecv

SHORT = {
    "classification": "Cls",
    "localisation": "Loc",
    "both": "Both",
    "duplicate": "Dupe",
    "background": "Bkg",
    "missed": "Miss",
}


def without_crowds(folder: Path, truth: Path) -> Path:
    """The ground truth less its crowds, of which tidecv says something else."""
    document = json.loads(truth.read_text())
    document["annotations"] = [one for one in document["annotations"] if not one.get("iscrowd")]
    path = folder / truth.name
    path.write_text(json.dumps(document))
    return path


def without_ties(dataset: DetectionDataset) -> np.ndarray:
    """Scores a little lower for every detection before, by image, then place in the file.

    tidecv adds detections to a ranking error after error, then right ones: of equal scores wrong
    ones come first once it mends, yet not before, so that ties alone would cost something.
    """
    image = dataset.detections.image
    place = np.empty(len(image), np.int64)
    place[np.argsort(image, kind="stable")] = np.arange(len(image))
    return np.asarray(dataset.detections.score - 1e-9 * place)


@pytest.mark.parametrize(
    "golden",
    sorted((ROOT / "golden" / "detection").glob("tide-*.json")),
    ids=lambda path: path.stem,
)
def test_tidecv_says_the_same(golden: Path, tmp_path: Path) -> None:
    """tidecv 1.0.1, its recall points numpy's linspace, as pycocotools and valor have them."""
    expected = json.loads(golden.read_text())
    truth = ROOT / "real_data" / expected["ground_truth"]
    if expected["without_crowds"]:
        truth = without_crowds(tmp_path, truth)
    kind = "segm" if expected["mode"] == "mask" else "bbox"
    loaded = load(truth, ROOT / "real_data" / expected["predictions"], kind)
    dataset = next(iter(loaded.datasets.values()))
    # tidecv was given no detections of labels without ground truth: it would enter them as 0.
    known = np.isin(dataset.detections.label, dataset.ground_truths.label)
    found_alone = dataset.detections.where(known, np.arange(dataset.unit_count))
    if expected["ties_broken"]:
        found_alone = replace(found_alone, score=without_ties(dataset)[known])
    found = ask(replace(dataset, detections=found_alone), ERROR_BREAKDOWN)
    counts = {short: numbers(found, kind)[None] for kind, short in SHORT.items()}
    assert counts == {short: expected["counts"][short] for short in counts}
    wanted = {kind: expected["costs"][short] for kind, short in SHORT.items()}
    wanted["false_positive"] = expected["special"]["FalsePos"]
    wanted["false_negative"] = expected["special"]["FalseNeg"]
    own = {kind: numbers(found, f"{kind}_cost")[None] for kind in wanted}
    assert own == pytest.approx(wanted, abs=1e-12)
