"""The outcome of every object: by hand, against slow loops, and against what metrics count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.engines import by_both
from tests.evaluators.detection.asking import asked, confused_dataset, plan_of, scene, small_dataset
from tests.evaluators.detection.metrics.test_lvis import by_hand
from tests.oracles.confusion import Scene, overlap
from valor_cli.data.partition.ranges import NUMBERED
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.data.shapes.objects.gallery import Gallery
from valor_cli.evaluators.detection.evidence import object_outcomes
from valor_cli.evaluators.detection.evidence.error_types import REASONS, error_types
from valor_cli.evaluators.detection.evidence.object_outcomes import outcomes_of_objects
from valor_cli.evaluators.detection.evidence.shards import match_detections, merge_matches
from valor_cli.evaluators.detection.metrics.coco import COCO
from valor_cli.evaluators.detection.metrics.counts import COUNTS
from valor_cli.evaluators.detection.metrics.error_breakdown import ERROR_BREAKDOWN
from valor_cli.evaluators.detection.metrics.lvis import LVIS, LVIS_WING
from valor_cli.evaluators.detection.metrics.pr_curve import PR_CURVE
from valor_cli.metric import Call
from valor_cli.results import ObjectsResult
from valor_cli.results.objects import OUTCOMES


def listed(dataset: DetectionDataset, *calls: Call) -> ObjectsResult:
    calls = calls or (asked(COUNTS),)
    matches = match_detections(dataset, plan_of(*calls))
    one = outcomes_of_objects("m", [dataset], matches, calls)
    assert one is not None
    return one


def columns(one: ObjectsResult) -> dict[str, list[Any]]:
    names = [name for name in one.__struct_fields__ if name not in ("model", "parameters")]
    return {name: np.asarray(getattr(one, name)).tolist() for name in names}


def outcomes(one: ObjectsResult) -> list[str]:
    return [OUTCOMES[code] for code in one.outcomes.tolist()]


#   image  label  score  box                                  outcome
#   0      cat    0.9    the cat, shifted by 1: IoU 90 / 110  true positive
#   0      cat    0.8    the cat                              duplicate
#   0      dog    0.7    the cat                              classification
#   0      cat    0.6    the cat, shifted by 5: IoU 50 / 150  localisation
#   0      dog    0.5    the cat, shifted by 5: IoU 50 / 150  both
#   0      dog    0.4    anywhere else                        background
#   1      dog    0.3    within the crowd of dogs             ignored
HAND = scene(
    "cat dog",
    "0 cat 0 0, 1 dog 0 0 50 50",
    "1 dog 0.3 0 0 20 20, 0 dog 0.4 80 80, 0 dog 0.5 5 0, 0 cat 0.6 5 0, 0 dog 0.7 0 0, "
    "0 cat 0.8 0 0, 0 cat 0.9 1 0",
    crowds=[1],
)


def test_worked_by_hand() -> None:
    one = listed(HAND)
    assert outcomes(one) == [
        *("true_positive", "duplicate", "classification", "localisation"),
        *("both", "background", "ignored"),
    ]
    assert one.parameters == {
        "metric": "counts", "iou_threshold": 0.5, "background_iou": 0.1, "max_detections": None,
    }  # fmt: skip
    assert columns(one) | {"outcomes": [], "ious": [], "scores": [], "boxes": []} == {
        "labels": ["cat", "dog"], "image_ids": [10, 11], "files": [None, None],
        "sizes": [[0, 0], [0, 0]],
        "gt_images": [0, 1], "gt_labels": [0, 1], "gt_ids": [0, 1],
        "gt_boxes": [[0, 0, 10, 10], [0, 0, 50, 50]], "gt_ignored": [False, True],
        "images": [0, 0, 0, 0, 0, 0, 1], "detected": [0, 0, 1, 0, 1, 1, 1],
        "matched": [0, -1, -1, -1, -1, -1, -1], "nearest": [0, 0, 0, 0, 0, -1, -1],
        "outlines": None, "outcomes": [], "ious": [], "scores": [], "boxes": [],
    }  # fmt: skip
    assert one.scores.tolist() == [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    assert one.boxes[0].tolist() == [1, 0, 10, 10]
    expected = np.array([90 / 110, 1, 1, 50 / 150, 50 / 150, 0, 0], np.float32)
    assert one.ious.tolist() == expected.tolist()


def test_a_limit_of_detections_leaves_the_others_out() -> None:
    one = listed(HAND, asked(COUNTS, max_detections=1))
    assert outcomes(one)[1::2] == ["ignored", "ignored", "ignored"]
    assert outcomes(one)[0] == "true_positive"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([asked(COCO)], (None, 0.5, 0.1, 100)),
        ([asked(COCO, iou_thresholds=(0.7, 0.9))], (None, 0.7, 0.1, 100)),
        ([asked(PR_CURVE, pr_curve_iou_threshold=0.6)], ("pr_curve", 0.6, 0.1, None)),
        (
            [asked(COCO), asked(ERROR_BREAKDOWN, iou_threshold=0.4, background_iou=0.2),
             asked(COUNTS)],
            ("error_breakdown", 0.4, 0.2, 100),
        ),
    ],
)  # fmt: skip
def test_the_first_metric_that_names_a_threshold_decides(
    calls: Sequence[Call], expected: tuple[Any, ...]
) -> None:
    assert tuple(listed(HAND, *calls).parameters.values()) == expected


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_is_what_is_overlapped_most_if_that_is_no_background(seed: int) -> None:
    dataset = numbered(confused_dataset(seed, images=12, labels=4), 0)
    one, other = by_both(lambda: listed(dataset))
    assert columns(one) == columns(other)
    scene = Scene.of(dataset)
    found = sorted(scene.founds, key=lambda each: (each.image, -each.score))
    expected = []
    for each in found:
        here = [truth for truth in scene.truths if truth.image == each.image and not truth.crowd]
        near = [truth for truth in here if overlap(each, truth) >= 0.1]
        best = min(near, key=lambda truth: (-overlap(each, truth), truth.row), default=None)
        expected.append((each.image, each.label, each.score, best.row if best else -1))
    nearest = np.append(one.gt_ids, -1)[one.nearest].tolist()
    rows = zip(
        one.images.tolist(), one.detected.tolist(), one.scores.tolist(), nearest, strict=True
    )
    assert list(rows) == expected


@pytest.mark.parametrize("matching", ["coco", "valor"])
@pytest.mark.parametrize("seed", range(4))
def test_outcomes_are_those_of_the_error_breakdown(seed: int, matching: str) -> None:
    dataset = numbered(confused_dataset(seed, matching=matching), 0)
    call = asked(ERROR_BREAKDOWN, max_detections=3, background_iou=0.2)
    matches = match_detections(dataset, plan_of(call))
    one = outcomes_of_objects("m", [dataset], matches, [call])
    assert one is not None
    types = error_types(matches, 0.5, 0.2, max_detections=3)
    by_number = np.full(len(dataset.detections), OUTCOMES.index("ignored"))
    for at, reason in enumerate(REASONS):
        by_number[matches.number[types.reason == at]] = OUTCOMES.index(reason)
    by_number[matches.number[types.outcomes.met >= 0]] = OUTCOMES.index("true_positive")
    order = np.lexsort((-dataset.detections.score, dataset.detections.image))
    assert one.outcomes.tolist() == by_number[order].tolist()
    met = np.full(len(dataset.detections), -1)
    met[matches.number] = np.append(matches.gt_number, -1)[types.outcomes.met]
    assert np.append(one.gt_ids, -1)[one.matched].tolist() == met[order].tolist()


def numbered(dataset: DetectionDataset, first: int) -> DetectionDataset:
    """The dataset with objects numbered as those of a range of images are."""
    truths, found = dataset.ground_truths, dataset.detections
    return replace(
        dataset,
        ground_truths=replace(truths, number=np.arange(len(truths)) + first),
        detections=replace(found, number=np.arange(len(found)) + first),
    )


def test_pieces_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = confused_dataset(5, images=30)
    whole = listed(dataset)
    monkeypatch.setattr(object_outcomes, "_AT_ONCE", 7)
    assert columns(listed(dataset)) == columns(whole)
    parts = []
    for at, (low, high) in enumerate([(0, 11), (11, 12), (12, 30)]):
        number = np.arange(30)
        part = dataset.shard((number >= low) & (number < high))
        parts.append(numbered(part, at * NUMBERED))
    call = asked(COUNTS)
    matches = merge_matches([match_detections(part, plan_of(call)) for part in parts[::-1]])
    again = outcomes_of_objects("m", parts, matches, [call])
    assert again is not None
    # Without a file, ids are positions in the part.
    kept = {name for name in columns(whole) if name != "gt_ids"}
    assert {name: columns(again)[name] for name in kept} == {
        name: columns(whole)[name] for name in kept
    }


def test_too_many_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_outcomes, "MOST", 6)
    call = asked(COUNTS)
    matches = match_detections(HAND, plan_of(call))
    assert outcomes_of_objects("m", [HAND], matches, [call]) is None


def test_nothing_at_all() -> None:
    one = listed(small_dataset(("cat",), [(0, "cat", (0, 0, 1, 1))], []))
    assert [len(column) for column in (one.scores, one.boxes, one.matched)] == [0, 0, 0]
    one = listed(small_dataset(("cat",), [], [(1, "cat", 0.5, (0, 0, 1, 1))]))
    assert (outcomes(one), one.nearest.tolist()) == (["background"], [-1])


def test_ids_may_be_texts_and_sizes_unknown() -> None:
    truths, sides = np.array(["x", "y"], object), np.array([640, 0])
    gallery = Gallery(truth_ids=truths, image_ids=HAND.image_ids, width=sides)
    one = listed(replace(HAND, gallery=gallery))
    assert one.gt_ids.tolist() == ["x", "y"]
    assert one.sizes.tolist() == [[640, 0], [0, 0]]


def test_labels_that_are_not_judged_are_ignored() -> None:
    dataset, call = by_hand(), Call(LVIS, {one.name: one.default for one in LVIS.parameters})
    assert LVIS_WING.objects is not None
    evidence = LVIS_WING.evidence(dataset, LVIS_WING.plan([call], []))
    one = LVIS_WING.objects("m", [dataset], evidence, [call])
    assert one is not None
    told = sorted(zip(one.images.tolist(), one.scores.tolist(), outcomes(one), strict=True))
    assert told == [
        (0, 0.5, "background"), (0, 0.9, "true_positive"), (0, 0.95, "ignored"),
        (1, 0.3, "ignored"), (1, 0.4, "true_positive"), (1, 0.6, "true_positive"),
        (1, 0.7, "true_positive"), (1, 0.8, "ignored"),
    ]  # fmt: skip
    assert one.gt_ignored.tolist() == [False, False, False, False, True]
    assert one.parameters["max_detections"] == 300
