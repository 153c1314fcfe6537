"""Errors by their reason: worked by hand, against tidecv, the slow oracle, and its examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.evaluators.detection.asking import (
    ask,
    asked,
    confused_dataset,
    findings,
    numbers,
    plan_of,
    small_dataset,
)
from tests.oracles.confusion import Scene, coco, settle
from tests.oracles.tide import costs, errors, missed
from tests.oracles.valor import nearest, valor
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.evaluators.detection.evidence.parameters import AREAS
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.load.dataset import load_detections, load_instances
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, DetectionOptions
from valor_cli.evaluators.detection.metrics.counts import COUNTS
from valor_cli.evaluators.detection.metrics.error_breakdown import ERROR_BREAKDOWN, KINDS
from valor_cli.metric import Selection

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "golden" / "detection"
COSTS = (*KINDS, "false_positive", "false_negative")
RULES = {"coco": coco, "valor": valor}

# tidecv's short names.
REASONS = {
    "classification": "Cls",
    "localisation": "Loc",
    "both": "Both",
    "duplicate": "Dupe",
    "background": "Bkg",
    "missed": "Miss",
}
SPECIAL = {"false_positive": "FalsePos", "false_negative": "FalseNeg"}

# Boxes are 10 by 10; moved by 2 they overlap by 80/120 = 2/3, by 5 by 50/150 = 1/3, by 9 by 1/19.
#
#   ground truths           detections (score)
#   0  cat at (0, 0)        0  cat .95 at (0, 0)    right
#   1  cat at (50, 0)       1  cat .9 at (55, 0)    over its own by 1/3: localisation, for cat 1
#   2  dog at (0, 50)       2  cat .8 at (2, 50)    over a dog by 2/3: classification, for dog 2
#   3  dog at (80, 80)      3  cat .7 at (0, 0)     duplicate
#                           4  dog .6 at (55, 0)    over a cat by 1/3 only: both
#                           5  dog .5 at (89, 80)   over its own by 1/19 <= .1: background
#                           6  cow .4 at (40, 40)   over nothing: background
DATASET = small_dataset(
    ("cat", "dog", "cow"),
    [
        (0, "cat", (0, 0, 10, 10)),
        (0, "cat", (50, 0, 10, 10)),
        (0, "dog", (0, 50, 10, 10)),
        (0, "dog", (80, 80, 10, 10)),
    ],
    [
        (0, "cat", 0.95, (0, 0, 10, 10)),
        (0, "cat", 0.9, (55, 0, 10, 10)),
        (0, "cat", 0.8, (2, 50, 10, 10)),
        (0, "cat", 0.7, (0, 0, 10, 10)),
        (0, "dog", 0.6, (55, 0, 10, 10)),
        (0, "dog", 0.5, (89, 80, 10, 10)),
        (0, "cow", 0.4, (40, 40, 10, 10)),
    ],
    images=1,
)


def test_worked_by_hand() -> None:
    found = ask(DATASET, ERROR_BREAKDOWN)
    assert {kind: numbers(found, kind) for kind in KINDS} == {
        "classification": {None: 1, "cat": 1, "dog": 0, "cow": 0},
        "localisation": {None: 1, "cat": 1, "dog": 0, "cow": 0},
        "both": {None: 1, "cat": 0, "dog": 1, "cow": 0},
        "duplicate": {None: 1, "cat": 1, "dog": 0, "cow": 0},
        "background": {None: 2, "cat": 0, "dog": 1, "cow": 1},
        # Dog 3 alone: cat 1 and dog 2 would be found, were detections 1 and 2 mended.
        "missed": {None: 1, "cat": 0, "dog": 1, "cow": 0},
    }
    # Average precision, over cat and dog. Cats: right, wrong, wrong, wrong; the first of two is
    # found with precision 1, at the 51 recalls up to .5. Dogs: two wrong ones, 0.
    cat = 51 / 101
    before = cat / 2
    after = {
        # The second dog of two is found by the best dog now, detection 2: 51 recalls of 1.
        "classification": (cat + 51 / 101) / 2,
        # Right, right, wrong, wrong: all of the cats are found with precision 1.
        "localisation": 1 / 2,
        "both": before,
        "duplicate": before,
        "background": before,
        # One dog fewer to find changes nothing: none is found.
        "missed": before,
        "false_positive": before,
        # One cat and no dog to find: cat 0 is it, with precision 1; wrong dogs keep the dogs at 0.
        "false_negative": 1 / 2,
    }
    for name, value in after.items():
        cost = numbers(found, f"{name}_cost")
        assert cost == {None: pytest.approx(value - before, abs=1e-12)}
    assert [
        (one.kind, one.label, [(ref.role, ref.number) for ref in one.objects])
        for one in found.examples
    ] == [
        ("classification", "dog", [("ground_truth", 2), ("prediction", 2)]),
        ("localisation", "cat", [("ground_truth", 1), ("prediction", 1)]),
        ("both", "dog", [("prediction", 4)]),
        ("duplicate", "cat", [("prediction", 3)]),
        ("background", "dog", [("prediction", 5)]),
        ("background", "cow", [("prediction", 6)]),
        ("missed", "dog", [("ground_truth", 3)]),
    ]


def test_only_the_best_rival_is_mended_and_only_for_what_nothing_found() -> None:
    # Three detections beside one cat, by 1/3 each: the best is set right, the others go.
    # Three over a dog that is found: they are of the wrong label, and go.
    dataset = small_dataset(
        ("cat", "dog"),
        [(0, "cat", (0, 0, 10, 10)), (0, "dog", (50, 0, 10, 10))],
        [
            (0, "cat", 0.5, (5, 0, 10, 10)),
            (0, "cat", 0.6, (0, 5, 10, 10)),
            (0, "cat", 0.4, (5, 0, 10, 10)),
            (0, "dog", 0.3, (50, 0, 10, 10)),
            *[(0, "cat", 0.9, (50, 0, 10, 10))] * 3,
        ],
    )
    found = ask(dataset, ERROR_BREAKDOWN)
    assert numbers(found, "localisation")[None] == 3
    assert numbers(found, "classification")[None] == 3
    assert numbers(found, "missed")[None] == 0
    # Mended in place, the cat comes behind three wrong ones: precision 1/4, at all recalls.
    assert numbers(found, "localisation_cost")[None] == pytest.approx(1 / 8, abs=1e-12)
    assert numbers(found, "classification_cost")[None] == 0


def test_crowds_are_no_errors() -> None:
    dataset = small_dataset(
        ("cat",),
        [(0, "cat", (0, 0, 50, 50)), (0, "cat", (80, 80, 10, 10))],
        [(0, "cat", 0.9, (5, 5, 10, 10))],
        crowds=[0],
    )
    found = ask(dataset, ERROR_BREAKDOWN)
    assert [numbers(found, kind)[None] for kind in KINDS] == [0, 0, 0, 0, 0, 1]


def test_on_the_edge_of_a_threshold() -> None:
    # A quarter of a box overlaps it by 1/4, a half by 1/2, exactly. At a background of 1/4 and a
    # threshold of 1/2, as tidecv has it: the cat's own quarter is of localisation, and so is the
    # half of a cat that is found already; a dog's quarter over a cat is background.
    dataset = small_dataset(
        ("cat", "dog"),
        [(0, "cat", (0, 0, 10, 10)), (0, "cat", (50, 0, 10, 10))],
        [
            (0, "cat", 0.9, (0, 0, 10, 10)),
            (0, "cat", 0.8, (0, 0, 10, 5)),
            (0, "cat", 0.7, (50, 0, 5, 5)),
            (0, "dog", 0.6, (50, 0, 5, 5)),
            (0, "dog", 0.5, (50, 0, 10, 5)),
        ],
    )
    found = ask(dataset, ERROR_BREAKDOWN, iou_threshold=0.5, background_iou=0.25, max_examples=9)
    by_kind = {
        kind: [one.objects[-1].number for one in found.examples if one.kind == kind]
        for kind in KINDS
    }
    assert by_kind == {
        "classification": [4],
        "localisation": [1, 2],
        "both": [],
        "duplicate": [],
        "background": [3],
        "missed": [],
    }


def test_the_background_may_reach_above_the_threshold() -> None:
    # Moved by 8, boxes overlap by 20/180 = 1/9: enough at 0.1, and less than a background of 0.2.
    # tidecv asks for duplicates and wrong labels first.
    dataset = small_dataset(
        ("cat", "dog"),
        [(0, "cat", (0, 0, 10, 10)), (0, "dog", (50, 0, 10, 10))],
        [
            (0, "cat", 0.9, (0, 0, 10, 10)),
            (0, "cat", 0.8, (8, 0, 10, 10)),
            (0, "cat", 0.7, (58, 0, 10, 10)),
        ],
    )
    found = ask(dataset, ERROR_BREAKDOWN, iou_threshold=0.1, background_iou=0.2)
    assert {kind: numbers(found, kind)[None] for kind in KINDS} == {
        "classification": 1,
        "localisation": 0,
        "both": 0,
        "duplicate": 1,
        "background": 0,
        "missed": 0,
    }


def test_without_ground_truth_costs_are_undefined() -> None:
    dataset = small_dataset(("cat",), (), [(0, "cat", 0.9, (5, 5, 10, 10))])
    found = ask(dataset, ERROR_BREAKDOWN)
    assert numbers(found, "background") == {None: 1, "cat": 1}
    for name in COSTS:
        (value,) = (one for one in found.values if one.output == f"{name}_cost")
        assert (value.value, value.undefined) == (None, "no label has ground truth")


PROBLEMS: dict[str, Any] = {
    "seed": st.integers(0, 10_000),
    "digits": st.sampled_from([0, 1, 2, None]),
    "iou": st.sampled_from([0.05, 0.2, 0.5, 0.75, 1.0]),
    "background": st.sampled_from([0.01, 0.1, 0.2]),
    "area": st.sampled_from(list(AREAS)),
    "matching": st.sampled_from(list(RULES)),
}


@given(**PROBLEMS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_reasons_add_up_to_the_false_positives_of_counts(
    seed: int, digits: int | None, iou: float, background: float, area: str, matching: str
) -> None:
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    calls = (
        asked(ERROR_BREAKDOWN, iou_threshold=iou, background_iou=background),
        asked(COUNTS, iou_threshold=iou, score_threshold=-1.0, max_detections=100),
    )
    matches = match_detections(dataset, plan_of(*calls, area=True)).within(area)
    found, counted = (findings(matches, call) for call in calls)
    fp, fn = numbers(counted, "fp"), numbers(counted, "fn")
    by_kind = {kind: numbers(found, kind) for kind in KINDS}
    for label in dataset.labels:
        assert sum(by_kind[kind][label] or 0 for kind in KINDS[:-1]) == fp[label]
        assert (by_kind["missed"][label] or 0) <= (fn[label] or 0)
    for kind in KINDS:
        total = by_kind[kind].pop(None)
        assert total == sum(value or 0 for value in by_kind[kind].values())


@given(**PROBLEMS, most=st.sampled_from([0, 1, 1000]), limit=st.sampled_from([None, 100, 2]))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_reasons_costs_and_examples_are_those_of_the_oracle(
    seed: int,
    digits: int | None,
    iou: float,
    background: float,
    area: str,
    matching: str,
    most: int,
    limit: int | None,
) -> None:
    if matching == "valor" and limit == 2:
        digits = None
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    found = ask(
        dataset,
        ERROR_BREAKDOWN,
        area=area,
        iou_threshold=iou,
        background_iou=background,
        max_detections=limit,
        max_examples=most,
    )
    scene = Scene.of(dataset)
    verdict = settle(scene, iou, most=limit, limits=AREAS[area], rule=RULES[matching])
    told = errors(verdict, iou, background)
    lost = missed(verdict, told)
    for kind in KINDS:
        own = [error.found for error in told if error.reason == kind]
        own += lost if kind == "missed" else []
        by_label = {
            label: sum(one.label == at for one in own) for at, label in enumerate(dataset.labels)
        }
        assert numbers(found, kind) == {None: len(own), **by_label}
        shown = [one for one in found.examples if one.kind == kind]
        cases = sorted(own, key=lambda one: (-getattr(one, "score", 0), one.image, one.row))
        aims = {error.found.row: error.aim for error in told}
        assert [[ref.number for ref in one.objects] for one in shown] == [
            [one.row] if kind == "missed" or aims[one.row] is None else [aims[one.row].row, one.row]
            for one in cases[:most]
        ]
        assert [one.sample_id for one in shown] == [
            dataset.image_ids[one.image] for one in cases[:most]
        ]
    if verdict.real:
        near = nearest(scene) if matching == "valor" else None
        for name, value in costs(scene, verdict, told, near).items():
            assert numbers(found, f"{name}_cost") == {None: pytest.approx(value, abs=1e-12)}


def load(truth: Path, predictions: Path, *, masks: bool) -> DetectionDataset:
    """The ground truths and detections of two files."""
    inputs = DetectionInputs(ground_truth=str(truth), predictions=str(predictions))
    loader = load_instances if masks else load_detections
    loaded = loader(inputs, DetectionOptions(), Selection())
    return next(iter(loaded.datasets.values()))


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


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("tide-*.json")), ids=lambda path: path.stem)
def test_tidecv_says_the_same(golden: Path, tmp_path: Path) -> None:
    """tidecv 1.0.1, its recall points numpy's linspace, as pycocotools and valor have them."""
    stored = json.loads(golden.read_text())
    truth = ROOT / "real_data" / stored["ground_truth"]
    if stored["without_crowds"]:
        truth = without_crowds(tmp_path, truth)
    dataset = load(
        truth, ROOT / "real_data" / stored["predictions"], masks=stored["mode"] == "mask"
    )
    # tidecv was given no detections of labels without ground truth: it would enter them as 0.
    known = np.isin(dataset.detections.label, dataset.ground_truths.label)
    everywhere = np.arange(dataset.unit_count)
    found_alone = dataset.detections.where(known, everywhere)
    if stored["ties_broken"]:
        found_alone = replace(found_alone, score=without_ties(dataset)[known])
    dataset = replace(dataset, detections=found_alone)
    found = ask(dataset, ERROR_BREAKDOWN)
    for kind, short in REASONS.items():
        assert numbers(found, kind)[None] == stored["counts"][short]
        cost = numbers(found, f"{kind}_cost")[None]
        assert cost == pytest.approx(stored["costs"][short], abs=1e-12)
    for name, short in SPECIAL.items():
        cost = numbers(found, f"{name}_cost")[None]
        assert cost == pytest.approx(stored["special"][short], abs=1e-12)
