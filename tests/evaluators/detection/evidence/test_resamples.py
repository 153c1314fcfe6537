"""Values of several resamples at once: bit for bit those of each alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.detection.asking import asked, confused_dataset, small_dataset
from tests.oracles.federations import with_federation
from tests.oracles.keypoints import keypoint_problem
from tests.oracles.problems import random_dataset
from valor_cli.evaluators.detection import OBJECT_DETECTION, WING
from valor_cli.evaluators.detection.evidence.parameters import MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.coco import COCO
from valor_cli.evaluators.detection.metrics.coco_keypoints import KEYPOINTS_WING
from valor_cli.evaluators.detection.metrics.lvis import LVIS_WING
from valor_cli.kernels.ranking import resamples as kernel
from valor_cli.metric import Call, Metric, Wing
from valor_cli.pipeline.intervals.resampling import TOGETHER, findings_of, resampled
from valor_cli.results import Resampled
from valor_cli.statistics.label_means import joined

RESAMPLED = [
    one
    for wing in OBJECT_DETECTION.wings
    for one in wing.metrics
    if one.resampled and one.draws is None
]
PLAIN = [one for one in WING.metrics if one in RESAMPLED]

BY_LABEL = {"score_threshold": {"label 0": 0.8, "label 1": 0.2}}
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "coco": [{}, {"iou_thresholds": (0.5,)}, {"areas": ("large",)}],
    "average_precision": [
        {},
        {"iou_thresholds": (0.75, 0.5), "max_detections": 1},
        {"interpolation": "11_point"},
        {"interpolation": "every_point"},
    ],
    "average_recall": [
        {},
        {"recall_score_threshold": 0.5, "max_detections": 1},
        {"recall_score_threshold": (0.2, 0.7)},
    ],
    "counts": [{}, BY_LABEL, {"score_threshold": 0.0, "max_detections": 2}],
    "precision": [BY_LABEL, {"average": "weighted"}, {"average": "micro"}, {"zero_division": 1.0}],
    "recall": [{}, BY_LABEL, {"average": "weighted"}],
    "f1": [{}, BY_LABEL, {"average": "micro", "score_threshold": 0.99}],
    "lvis": [{}, {"max_detections": 3}],
}


def at_once(call: Call, evidence: Any, weights: np.ndarray) -> Resampled:
    whole = findings_of(call, evidence, WING.parts)
    return resampled([call], [whole], evidence, WING.parts, weights)


def one_by_one(call: Call, evidence: Any, weights: np.ndarray) -> Resampled:
    return joined([at_once(call, evidence, row[None]) for row in weights], axis=0)


def assert_same_bits(mine: Resampled, expected: Resampled) -> None:
    for own, other in zip(mine, expected, strict=True):
        assert np.array_equal(own, other, equal_nan=True)


def same_bits(call: Call, evidence: Any, weights: np.ndarray) -> None:
    mine = at_once(call, evidence, weights)
    assert mine.values.shape[0] == len(weights)
    assert mine.values.shape[1] > 0
    expected = one_by_one(call, evidence, weights)
    assert np.array_equal(mine.values, expected.values, equal_nan=True)
    # Shifts are corrections, summed in another order where there are several.
    assert np.allclose(mine.shifts, expected.shifts, rtol=0, atol=1e-12)


def calls_of(metrics: Sequence[Metric[Any]]) -> list[Call]:
    return [asked(one, **more) for one in metrics for more in PARAMETERS.get(one.name, [{}])]


def test_metrics_of_every_wing_are_resampled() -> None:
    names = {one.name for one in RESAMPLED}
    assert set(OBJECT_DETECTION.defaults) - names == {
        "pr_curve",
        "confusion_matrix",
        "error_breakdown",
    }
    assert {"lvis", "coco_keypoints", "best_f1", "image_scores"} <= names


@given(
    seed=st.integers(0, 10_000),
    digits=st.sampled_from([None, 2, 1, 0]),
    images=st.integers(2, 30),
    most=st.sampled_from([0, 1, 4, 20]),
    count=st.integers(1, 5),
    area=st.sampled_from(["all", "small", "large"]),
    call=st.sampled_from(calls_of(PLAIN)),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_every_metric_equals_its_loop(
    seed: int, digits: int | None, images: int, most: int, count: int, area: str, call: Call
) -> None:
    dataset = confused_dataset(seed, digits=digits, images=images)
    plan = WING.plan([call], ["area"])
    evidence = match_detections(dataset, plan).within(area)
    weights = np.random.default_rng(seed).integers(0, most + 1, (count, images))
    same_bits(call, evidence, weights)


@pytest.mark.parametrize("call", calls_of(PLAIN), ids=lambda call: call.metric.name)
def test_of_equal_scores_ranked_by_iou(call: Call) -> None:
    dataset = confused_dataset(2, digits=1, images=12, matching="valor")
    evidence = match_detections(dataset, WING.plan([call], ["area"]))
    same_bits(call, evidence, np.random.default_rng(2).integers(0, 4, (6, 12)))


def _most(call: Call) -> str:
    return f"{call.parameters['max_detections']} detections"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("call", calls_of(LVIS_WING.metrics), ids=_most)
def test_lvis(seed: int, call: Call) -> None:
    dataset = with_federation(random_dataset(seed, digits=[None, 1][seed % 2]), seed)
    evidence = LVIS_WING.evidence(dataset, LVIS_WING.plan([call], []))
    same_bits(call, evidence, np.random.default_rng(seed).integers(0, 4, (5, 20)))


@pytest.mark.parametrize("seed", range(2))
def test_keypoints(seed: int) -> None:
    (metric,) = KEYPOINTS_WING.metrics
    dataset = keypoint_problem(seed, digits=[None, 1][seed % 2])
    evidence = KEYPOINTS_WING.evidence(dataset, KEYPOINTS_WING.plan([asked(metric)], []))
    weights = np.random.default_rng(seed).integers(0, 4, (5, evidence.unit_count))
    same_bits(asked(metric), evidence, weights)


def test_no_objects_at_all() -> None:
    for call in calls_of(PLAIN):
        evidence = match_detections(small_dataset(["cat"], [], []), WING.plan([call], ["area"]))
        same_bits(call, evidence, np.array([[1, 0], [2, 3]]))


def test_metrics_that_ask_alike_share_what_is_found() -> None:
    evidence = match_detections(random_dataset(2), MatchingPlan())
    (again,) = evidence.resamples(np.random.default_rng(2).integers(0, 3, (3, 20)))
    whole = again.precision((0.5, 0.75), 100)
    assert again.precision((0.5, 0.75), 100) is whole
    assert np.array_equal(again.precision((0.75,), 100), whole[:, 1:], equal_nan=True)


def test_more_resamples_than_are_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = match_detections(random_dataset(3, images=6), MatchingPlan())
    # More than are asked for together, and more than fit the cache together.
    weights = np.random.default_rng(3).integers(0, 3, (TOGETHER + 9, 6))
    monkeypatch.setattr(kernel, "AT_ONCE", 1000)
    calls = [asked(one) for one in PLAIN if one.name in ("coco", "best_f1", "counts")]
    whole = [findings_of(call, evidence, WING.parts) for call in calls]
    found = resampled(calls, whole, evidence, WING.parts, weights)
    assert len(list(evidence.resamples(weights))) > 1
    expected = joined([one_by_one(call, evidence, weights) for call in calls], axis=1)
    assert np.array_equal(found.values, expected.values, equal_nan=True)


def test_resampled_has_the_values_of_every_part() -> None:
    evidence = match_detections(random_dataset(4), MatchingPlan())
    areas = Wing(
        metrics=(COCO,),
        plan=WING.plan,
        evidence=WING.evidence,
        merge=WING.merge,
        parts=lambda whole: [({"size": size}, whole.within(size)) for size in ("small", "large")],
    )
    weights = np.random.default_rng(4).integers(0, 3, (3, 20))
    whole = findings_of(asked(COCO), evidence, areas.parts)
    found = resampled([asked(COCO)], [whole], evidence, areas.parts, weights)
    expected = [at_once(asked(COCO), evidence.within(size), weights) for size in ("small", "large")]
    assert_same_bits(found, joined(expected, axis=1))
