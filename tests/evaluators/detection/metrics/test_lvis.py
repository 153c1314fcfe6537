"""The LVIS numbers: by hand, against lvis-api's, and from shards and copies of images."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.detection.asking import scene
from tests.oracles.lvis import digest, lvis_problem
from valor_cli.data.shapes.objects.dataset import (
    DetectionDataset,
    Detections,
    Federation,
    GroundTruths,
)
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.evidence.parameters import MatchingPlan
from valor_cli.evaluators.detection.metrics.lvis import (
    LVIS,
    LVIS_WING,
    FederatedMatches,
    lvis,
    match_federated,
    merge_federated,
)
from valor_cli.kernels.geometry.shapes import Masks, Shapes
from valor_cli.metric import Call

GOLDEN = Path(__file__).parents[3] / "golden" / "detection" / "lvis.json"
STORED = json.loads(GOLDEN.read_text())
NAMES = {"s": "small", "m": "medium", "l": "large"}
PLAN = MatchingPlan()


def values(evidence: FederatedMatches, **parameters: Any) -> dict[str, float | None]:
    return {value.output: value.value for value in lvis(evidence, **parameters).values}


# Two images, labels cat (frequent), dog (rare) and cow (common); every box is 10x10.
#
#   image  label  score  box               judged
#   0      cat    0.9    the cat           hit
#   0      cow    0.95   anywhere          no: nobody looked for cows there
#   0      dog    0.5    anywhere          miss: image 0 is known to have no dog
#   1      cat    0.8    no cat            not counted: not every cat of image 1 is marked
#   1      cat    0.7    the cat           hit
#   1      dog    0.4    the dog           hit
#   1      cow    0.6    the crowd of cows hit: LVIS has no crowds
#   1      cow    0.3    the flat cow      not counted: objects without area do not exist
def by_hand() -> DetectionDataset:
    dataset = scene(
        "cat dog cow",
        "0 cat 0 0, 1 cat 0 0, 1 dog 50 50, 1 cow 70 70, 1 cow 90 90 10 0",
        "0 cat 0.9 0 0, 0 cow 0.95 20 20, 0 dog 0.5 20 40, 1 cat 0.8 80 80, 1 cat 0.7 0 0, "
        "1 dog 0.4 50 50, 1 cow 0.6 70 70, 1 cow 0.3 90 90 10 0",
        crowds=[3],
    )
    negative = np.array([[False, True, False], [False, False, False]])
    partial = np.array([[False, False, False], [True, False, False]])
    return replace(dataset, federation=Federation(negative, partial, ("f", "r", "c")))


def test_by_hand() -> None:
    found = values(match_federated(by_hand(), PLAN))
    # Cats: two hits of two. Cows: one of one. Dogs: a miss, then a hit, so precision 1/2 at every
    # recall. All boxes are exact, so all thresholds are alike.
    groups = [found["APf"], found["APc"], found["APr"]]
    assert groups == pytest.approx([1, 1, 0.5], abs=1e-12)
    assert found["AR"] == found["ARsmall"] == 1
    assert found["AP"] == found["AP50"] == found["AP75"] == pytest.approx(2.5 / 3, abs=1e-12)
    assert found["APsmall"] == found["AP"]
    assert found["APlarge"] is None
    assert set(found) == {output.name for output in LVIS.outputs}


def test_the_limit_holds_for_an_image_over_all_labels() -> None:
    # Image 0 keeps the cow, which nobody looked for, and the cat. Image 1 keeps two cats. Dogs and
    # cows find nothing.
    found = values(match_federated(by_hand(), PLAN), max_detections=2)
    groups = [found["APf"], found["APr"], found["APc"]]
    assert groups == pytest.approx([1, 0, 0], abs=1e-12)
    assert found["AR"] == pytest.approx(1 / 3, abs=1e-12)
    # One each: the cow of image 0 and the cat of image 1 that is not marked. Nothing is found.
    assert values(match_federated(by_hand(), PLAN), max_detections=1)["AP"] == 0


def test_a_group_without_ground_truth_is_undefined() -> None:
    dataset = by_hand()
    evidence = match_federated(
        replace(dataset, federation=replace(dataset.federation, frequency=("f", "f", "c"))), PLAN
    )
    rare = next(value for value in lvis(evidence).values if value.output == "APr")
    assert (rare.value, rare.undefined, rare.n) == (None, "no rare label has ground truth", 0)


def dataset_of(truth: dict[str, Any], results: list[dict[str, Any]]) -> DetectionDataset:
    """The columns of a problem in file form."""
    images = {image["id"]: image for image in truth["images"]}
    image_ids = np.sort(list(images))
    categories = sorted(truth["categories"], key=lambda one: one["id"])
    numbers = [one["id"] for one in categories]

    def columns(rows: list[dict[str, Any]]) -> tuple[Any, Any, Shapes]:
        image = np.searchsorted(image_ids, [row["image_id"] for row in rows])
        label = np.searchsorted(numbers, [row["category_id"] for row in rows])
        if "bbox" in rows[0]:
            return image, label, Shapes.boxes(np.array([row["bbox"] for row in rows], float))
        runs = [np.array(row["segmentation"]["counts"]) for row in rows]
        starts = np.cumsum([0, *map(len, runs)])
        size = np.array([row["segmentation"]["size"] for row in rows])
        return image, label, Shapes.masks(Masks(np.concatenate(runs), starts, size))

    def flags(key: str) -> np.ndarray:
        lists = [images[one][key] for one in image_ids.tolist()]
        return np.array([np.isin(numbers, one) for one in lists])

    annotations = truth["annotations"]
    count = len(annotations)
    area = np.array([row["area"] for row in annotations], float)
    score = np.array([row["score"] for row in results])
    return DetectionDataset(
        image_ids,
        tuple(one["name"] for one in categories),
        GroundTruths(*columns(annotations), area, np.zeros(count, bool), np.arange(count)),
        Detections(*columns(results), score, np.arange(len(results))),
        federation=Federation(
            flags("neg_category_ids"),
            flags("not_exhaustive_category_ids"),
            tuple(one["frequency"] for one in categories),
        ),
    )


@cache
def stored_problem(seed: int, masks: bool) -> tuple[str, FederatedMatches]:
    """What tells it from others, and its evidence: the cases differ in limits alone."""
    problem = lvis_problem(seed, masks=masks)
    return digest(problem), match_federated(dataset_of(*problem), PLAN)


@pytest.mark.parametrize(
    "case", STORED["cases"], ids=lambda case: f"{case['seed']}-{case['max_detections']}"
)
def test_the_numbers_of_lvis_api(case: dict[str, Any]) -> None:
    own, evidence = stored_problem(case["seed"], case["masks"])
    assert own == case["problem"], "numpy makes another problem of this seed"
    found = values(evidence, max_detections=case["max_detections"])
    assert len(case["values"]) == len(found) == 13
    for key, value in case["values"].items():
        name = key.partition("@")[0]
        name = name[:2] + NAMES.get(name[2:], name[2:])
        # lvis-api prints -1 for sizes and groups without ground truth.
        wanted = None if value == -1 else pytest.approx(value, abs=1e-12)
        assert found[name] == wanted, name


def test_shards_of_other_data_are_not_merged() -> None:
    one = match_federated(by_hand(), PLAN)
    with pytest.raises(ValueError, match="share the frequencies"):
        merge_federated([one, replace(one, frequency=("f", "f", "f"))])


def test_data_without_federation_is_refused() -> None:
    with pytest.raises(ValueError, match="without its federation"):
        match_federated(replace(by_hand(), federation=None), PLAN)


def test_the_wing_plans_what_the_metric_asks() -> None:
    call = Call(LVIS, {"iou_thresholds": (0.5,), "areas": ("small",), "max_detections": 300})
    plan = LVIS_WING.plan([call], [])
    assert plan == MatchingPlan((0.5,), ("all", "small"))
    found = lvis(LVIS_WING.evidence(by_hand(), plan), **call.parameters)
    assert {value.output for value in found.values} == {
        *("AP", "AP50", "APr", "APc", "APf", "AR", "APsmall", "ARsmall")
    }


def test_another_rule_of_matching_is_refused() -> None:
    with pytest.raises(DataError, match=r"matching: lvis follows COCO's rule, not valor's"):
        match_federated(replace(by_hand(), matching="valor"), PLAN)
