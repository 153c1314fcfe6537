"""Values of several resamples at once: bit for bit those of each alone."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.evaluators.detection.asking import asked, confused_dataset, small_dataset
from tests.oracles.federations import with_federation
from tests.oracles.keypoints import keypoint_problem
from tests.oracles.problems import random_dataset
from valor_cli.evaluators.detection import OBJECT_DETECTION, WING
from valor_cli.evaluators.detection.evidence import resamples as replicas
from valor_cli.evaluators.detection.evidence.parameters import MatchingPlan
from valor_cli.evaluators.detection.evidence.resamples import Replicas
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.coco import COCO
from valor_cli.evaluators.detection.metrics.coco_keypoints import KEYPOINTS_WING
from valor_cli.evaluators.detection.metrics.lvis import LVIS_WING
from valor_cli.metric import Call, Metric, Wing
from valor_cli.pipeline.intervals.resampling import findings_of, one_resample, resampled
from valor_cli.results import Resampled
from valor_cli.statistics.label_means import joined

QUICK = [one for wing in OBJECT_DETECTION.wings for one in wing.metrics if one.replicas]
PLAIN = [one for one in WING.metrics if one.replicas]

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
    "counts": [{}, {"score_threshold": 0.0, "max_detections": 2}],
    "precision": [{"average": "weighted"}, {"average": "micro"}, {"zero_division": 1.0}],
    "recall": [{}, {"average": "weighted"}],
    "f1": [{}, {"average": "micro", "score_threshold": 0.99}],
    "lvis": [{}, {"max_detections": 3}],
}


def one_by_one(call: Call, evidence: Any, weights: np.ndarray) -> Resampled:
    whole = findings_of(call, evidence, WING.parts)
    rows = [
        one_resample(findings_of(call, again, WING.parts), whole)
        for again in evidence.resamples(weights)
    ]
    return joined(rows, axis=0)


def assert_same_bits(mine: Resampled, expected: Resampled) -> None:
    for own, other in zip(mine, expected, strict=True):
        assert np.array_equal(own, other, equal_nan=True)


def same_bits(call: Call, evidence: Any, weights: np.ndarray) -> None:
    mine = call.replicas(evidence, weights)
    assert mine.values.shape[1] > 0
    assert_same_bits(mine, one_by_one(call, evidence, weights))


def calls_of(metrics: Sequence[Metric[Any]]) -> list[Call]:
    return [asked(one, **more) for one in metrics for more in PARAMETERS.get(one.name, [{}])]


def test_calls_go_to_other_processes_with_what_they_are_computed_by() -> None:
    for call in calls_of(QUICK):
        again = pickle.loads(pickle.dumps(call))  # noqa: S301
        assert again.metric.name == call.metric.name


def test_metrics_of_every_wing_are_quick() -> None:
    names = {one.name for one in QUICK}
    assert set(OBJECT_DETECTION.defaults) - names == {"pr_curve"}
    assert {"lvis", "coco_keypoints", "mean_average_precision"} <= names


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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("call", calls_of(LVIS_WING.metrics), ids=_most)
def test_lvis(seed: int, call: Call) -> None:
    dataset = with_federation(random_dataset(seed, digits=[None, 1][seed % 2]), seed)
    evidence = LVIS_WING.evidence(dataset, LVIS_WING.plan([call], []))
    same_bits(call, evidence, np.random.default_rng(seed).integers(0, 4, (5, 20)))


@pytest.mark.parametrize("seed", range(4))
def test_keypoints(seed: int) -> None:
    (metric,) = KEYPOINTS_WING.metrics
    dataset = keypoint_problem(seed, digits=[None, 1][seed % 2])
    evidence = KEYPOINTS_WING.evidence(dataset, KEYPOINTS_WING.plan([asked(metric)], []))
    weights = np.random.default_rng(seed).integers(0, 4, (5, evidence.unit_count))
    same_bits(asked(metric), evidence, weights)


def test_counts_wider_than_32_bits_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = match_detections(random_dataset(1), MatchingPlan())
    weights = np.random.default_rng(1).integers(0, 3, (3, 20))
    monkeypatch.setattr(replicas, "LARGEST", 10)
    same_bits(asked(COCO), evidence, weights)


def test_no_objects_at_all() -> None:
    evidence = match_detections(small_dataset(["cat"], [], []), MatchingPlan())
    for call in calls_of(PLAIN):
        same_bits(call, evidence, np.array([[1, 0], [2, 3]]))


def test_metrics_that_ask_alike_share_what_is_found() -> None:
    evidence = match_detections(random_dataset(2), MatchingPlan())
    weights = np.random.default_rng(2).integers(0, 3, (3, 20))
    one, two = Replicas.of(evidence, weights), Replicas.of(evidence, weights)
    whole = one.precision((0.5, 0.75), 100)
    assert two.precision((0.5, 0.75), 100) is whole
    assert np.array_equal(two.precision((0.75,), 100), whole[:, 1:], equal_nan=True)
    assert Replicas.of(evidence, weights.copy()) is not one


def test_resampled_mixes_quick_metrics_and_others() -> None:
    # More resamples than are taken together, twice, and a rest.
    slow = replace(COCO, replicas=None)
    quick = next(one for one in WING.metrics if one.name == "counts")
    best = next(one for one in WING.metrics if one.name == "best_f1")
    evidence = match_detections(random_dataset(3, images=6), MatchingPlan())
    weights = np.random.default_rng(3).integers(0, 3, (70, 6))
    calls = [asked(best), asked(COCO), asked(quick), asked(slow)]
    whole = [findings_of(call, evidence, WING.parts) for call in calls]
    found = resampled(calls, whole, evidence, WING.parts, weights)
    expected = [one_by_one(call, evidence, weights) for call in calls]
    assert_same_bits(found, joined(expected, axis=1))


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
    expected = [
        one_by_one(asked(COCO), evidence.within(size), weights) for size in ("small", "large")
    ]
    assert_same_bits(found, joined(expected, axis=1))
