"""The COCO keypoint numbers: by hand, against pycocotools, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.detection.asking import scene
from tests.oracles.keypoints import keypoint_problem, pycocotools_keypoints
from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.errors import DataError
from valor_cli.evaluators.detection.evidence.keypoint_matching import (
    KeypointMatches,
    KeypointPlan,
    match_keypoints,
)
from valor_cli.evaluators.detection.evidence.parameters import COCO_IOUS, MatchingPlan
from valor_cli.evaluators.detection.metrics.coco_keypoints import (
    COCO_KEYPOINTS,
    COCO_SIGMAS,
    KEYPOINTS_WING,
    coco_keypoints,
)
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.metric import Call

AREAS = ("all", "medium", "large")
NAMES = [output.name for output in COCO_KEYPOINTS.outputs]


def plan(*sigmas: tuple[float, ...]) -> KeypointPlan:
    return KeypointPlan(sigmas or (COCO_SIGMAS,), MatchingPlan(COCO_IOUS, AREAS))


def values(evidence: KeypointMatches, **parameters: Any) -> dict[str, float | None]:
    return {value.output: value.value for value in coco_keypoints(evidence, **parameters).values}


def bits(array: np.ndarray) -> np.ndarray:
    """pycocotools writes -1 where there is no ground truth."""
    return np.where(np.isnan(array), -1.0, array)


def equals_pycocotools(dataset: DetectionDataset, sigmas: tuple[float, ...], **how: Any) -> None:
    reference = pycocotools_keypoints(dataset, sigmas, **how)
    evidence = match_keypoints(dataset, plan(sigmas))
    for at, area in enumerate(AREAS):
        part = evidence.by_sigmas[sigmas].within(area)
        precision = reference.eval["precision"][..., at, 0]
        assert np.array_equal(bits(part.precision(COCO_IOUS, 20)[0]), precision)
        recall = reference.eval["recall"][..., at, 0]
        assert np.array_equal(bits(part.recalls(COCO_IOUS, 20)[0]), recall)
        assert (precision[precision >= 0] > 0).any()
    found = values(evidence, sigmas=sigmas)
    assert [found[name] for name in NAMES] == reference.stats.tolist()


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("seed", range(4))
def test_arrays_and_stats_equal_pycocotools_bit_for_bit(seed: int, digits: int | None) -> None:
    equals_pycocotools(keypoint_problem(seed, digits=digits), COCO_SIGMAS)


def test_more_detections_than_the_limit() -> None:
    dataset = keypoint_problem(5, images=4, per_image=150)
    assert np.unique(dataset.detections.image * 3 + dataset.detections.label).size * 20 < 200
    equals_pycocotools(dataset, COCO_SIGMAS)


@pytest.mark.parametrize("count", [1, 5, 9, 33])
def test_other_numbers_of_keypoints(count: int) -> None:
    sigmas = tuple(np.random.default_rng(count).uniform(0.02, 0.3, count).tolist())
    equals_pycocotools(keypoint_problem(6, count=count), sigmas)


def test_results_that_say_their_boxes_are_sized_by_them() -> None:
    dataset = keypoint_problem(7)
    found = dataset.detections
    larger = Shapes.boxes(found.shapes.box * np.array([1, 1, 3, 3]))
    changed = replace(dataset, detections=replace(found, shapes=larger))
    equals_pycocotools(changed, COCO_SIGMAS, boxes=True)
    mine, theirs = (values(match_keypoints(each, plan())) for each in (dataset, changed))
    assert mine != theirs


# One 20x20 and one 40x40 person of two keypoints, sigma 0.5 each, so (2 sigma)² = 1.
#
#   image  score  keypoints                       similarity with the person there
#   0      0.9    exact, the second is hidden     1
#   0      0.8    near the double-sized box       of the second person of image 0, who shows
#                                                 nothing: inside, 1; ignored, counts nowhere
#   1      0.7    each off by 40 to the right     exp(-40² / 1600 / 2) = exp(-1/2) = 0.607
def by_hand() -> DetectionDataset:
    dataset = scene(
        "person",
        "0 person 0 0 20 20, 0 person 200 200, 1 person 0 0 40 40",
        "0 person 0.9 5 5 895 895, 0 person 0.8 191 191 28 28, 1 person 0.7 50 10 20 20",
    )
    hidden = [0, 0, 0]
    shown = [[[5, 5, 2], hidden], [hidden, hidden], [[10, 10, 1], [30, 30, 2]]]
    points = [
        [[5, 5, 1], [900, 900, 1]],
        [[191, 191, 1], [219, 219, 1]],
        [[50, 10, 1], [70, 30, 1]],
    ]
    return replace(
        dataset,
        ground_truths=replace(dataset.ground_truths, keypoints=np.array(shown, float)),
        detections=replace(dataset.detections, keypoints=np.dstack([points, np.ones((3, 2))])),
    )


HALVES = (0.5, 0.5)


def test_by_hand() -> None:
    found = values(match_keypoints(by_hand(), plan(HALVES)), sigmas=HALVES)
    # At 0.5, 0.55 and 0.6 both persons are found without a mistake. Above, the second detection of
    # the list is wrong: recall 1/2, precision 1 up to there, which is at 51 of 101 recalls.
    assert found["AP50"] == pytest.approx(1, abs=1e-12)
    assert found["AP75"] == pytest.approx(51 / 101, abs=1e-12)
    assert found["AP"] == pytest.approx((3 + 7 * 51 / 101) / 10, abs=1e-12)
    assert (found["AR50"], found["AR75"]) == (1, 0.5)
    assert found["AR"] == pytest.approx((3 + 7 / 2) / 10, abs=1e-12)
    # The second person alone is medium. The box around its detection is 20x20, which is small, so
    # it counts only where it is right.
    assert found["APmedium"] == pytest.approx(0.3, abs=1e-12)
    assert found["APlarge"] is None


def test_several_sets_of_sigmas_in_one_run() -> None:
    wide = (5.0, 5.0)
    calls = [
        Call(COCO_KEYPOINTS, {"oks_thresholds": (0.5,), "areas": (), "sigmas": HALVES}),
        Call(COCO_KEYPOINTS, {"oks_thresholds": (0.9,), "areas": ("large",), "sigmas": wide}),
        Call(COCO_KEYPOINTS, {"oks_thresholds": (0.9,), "areas": (), "sigmas": HALVES}),
    ]
    asked = KEYPOINTS_WING.plan(calls, [])
    assert asked == KeypointPlan((HALVES, wide), MatchingPlan((0.5, 0.9), ("all", "large")))
    evidence = KEYPOINTS_WING.evidence(by_hand(), asked)
    found = [values(evidence, **call.parameters)["AP"] for call in calls]
    assert found == pytest.approx([1, 1, 51 / 101], abs=1e-12)


def test_no_detections_find_nothing() -> None:
    dataset = by_hand()
    none = dataset.detections.where(np.zeros(3, bool), np.arange(2))
    found = values(
        match_keypoints(replace(dataset, detections=replace(none, keypoints=None)), plan(HALVES)),
        sigmas=HALVES,
    )
    assert found["AP"] == found["AR"] == 0


def test_a_wrong_number_of_sigmas_says_how_many_keypoints_there_are() -> None:
    with pytest.raises(DataError) as caught:
        match_keypoints(by_hand(), plan())
    assert str(caught.value).splitlines() == [
        "coco_keypoints: sigmas: expected 2, one for each keypoint of the ground truth, found 17",
        "coco_keypoints: sigmas: expected 2, one for each keypoint of the predictions, found 17",
        "give files with keypoints, and a sigma for each keypoint in its order",
    ]


def test_data_without_keypoints_is_refused() -> None:
    dataset = by_hand()
    bare = replace(dataset, ground_truths=replace(dataset.ground_truths, keypoints=None))
    with pytest.raises(DataError, match="ground truth: no object has keypoints"):
        match_keypoints(bare, plan(HALVES))


def test_another_rule_of_matching_is_refused() -> None:
    with pytest.raises(DataError, match="matching: coco_keypoints follows COCO's rule"):
        match_keypoints(replace(by_hand(), matching="valor"), plan(HALVES))
