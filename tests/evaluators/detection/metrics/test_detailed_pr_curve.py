"""The detailed curve: worked by hand, its sums, the slow oracle, and its examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.detection.asking import (
    ask,
    asked,
    confused_dataset,
    findings,
    plan_of,
    small_dataset,
)
from tests.oracles.confusion import Details, Found, Scene, Truth, coco, details, settle
from tests.oracles.valor import valor
from valor_cli.evaluators.detection.evidence.parameters import AREAS
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.detailed_pr_curve import DETAILED_PR_CURVE
from valor_cli.evaluators.detection.metrics.pr_curve import PR_CURVE
from valor_cli.evaluators.parameters import SCORES
from valor_cli.results import MetricCurve

PARTS = (
    "tp",
    "fp",
    "fn",
    "fp_misclassifications",
    "fp_hallucinations",
    "fn_misclassifications",
    "fn_no_predictions",
)
RULES = {"coco": coco, "valor": valor}


def column(curve: MetricCurve, level: float) -> list[float | None]:
    at = list(curve.points["score_threshold"]).index(level)
    return [curve.points[name][at] for name in PARTS]


def test_worked_by_hand() -> None:
    #   ground truths             detections (score)
    #   0  cat at (0, 0)          0  cat .9 at (0, 0)     right
    #   1  dog at (50, 0)         1  cat .7 at (50, 0)    over the dog: misclassified
    #   2  dog at (80, 80)        2  cat .6 at (0, 0)     a duplicate overlaps no other label:
    #                                                     a hallucination
    #                             3  dog .5 at (50, 0)    right
    #                             4  cow .3 at (0, 0)     over the cat: misclassified
    dataset = small_dataset(
        ("cat", "dog", "cow", "yak"),
        [
            (0, "cat", (0, 0, 10, 10)),
            (0, "dog", (50, 0, 10, 10)),
            (0, "dog", (80, 80, 10, 10)),
        ],
        [
            (0, "cat", 0.9, (0, 0, 10, 10)),
            (0, "cat", 0.7, (50, 0, 10, 10)),
            (0, "cat", 0.6, (0, 0, 10, 10)),
            (0, "dog", 0.5, (50, 0, 10, 10)),
            (0, "cow", 0.3, (0, 0, 10, 10)),
        ],
    )
    found = ask(dataset, DETAILED_PR_CURVE)
    assert [curve.label for curve in found.curves] == ["cat", "dog", "cow"]
    cat, dog, cow = found.curves
    assert set(cat.points) == {"score_threshold", *PARTS}
    assert tuple(cat.points["score_threshold"]) == SCORES
    #                            tp fp fn  fp: mis hall  fn: mis none
    assert column(cat, 0.95) == [0, 0, 1, 0, 0, 0, 1]
    assert column(cat, 0.7) == [1, 1, 0, 1, 0, 0, 0]
    assert column(cat, 0.6) == [1, 2, 0, 1, 1, 0, 0]
    # Dog 1 is missed above .5, up to .7 with a cat over it; nothing is ever over dog 2.
    assert column(dog, 0.75) == [0, 0, 2, 0, 0, 0, 2]
    assert column(dog, 0.7) == [0, 0, 2, 0, 0, 1, 1]
    assert column(dog, 0.5) == [1, 0, 1, 0, 0, 0, 1]
    # A label without ground truth has its false positives.
    assert column(cow, 0.3) == [0, 1, 0, 1, 0, 0, 0]
    assert column(cow, 0.35) == [0] * 7
    shown = [
        (one.kind, one.label, one.objects[0].role, one.objects[0].number, one.at)
        for one in found.examples
    ]
    upto = {level: SCORES[: SCORES.index(level) + 1] for level in (0.9, 0.7, 0.6, 0.5, 0.3)}
    assert shown == [
        ("true_positive", "cat", "prediction", 0, {"score_thresholds": upto[0.9]}),
        ("true_positive", "dog", "prediction", 3, {"score_thresholds": upto[0.5]}),
        ("misclassification", "cat", "prediction", 1, {"score_thresholds": upto[0.7]}),
        ("misclassification", "cow", "prediction", 4, {"score_thresholds": upto[0.3]}),
        ("hallucination", "cat", "prediction", 2, {"score_thresholds": upto[0.6]}),
        # Of the dogs without a prediction the first: dog 2, and dog 1 where it is one.
        (
            "no_prediction",
            "dog",
            "ground_truth",
            2,
            {"score_thresholds": SCORES[: SCORES.index(0.7) + 1]},
        ),
        (
            "misclassification",
            "dog",
            "ground_truth",
            1,
            {"score_thresholds": (0.55, 0.6, 0.65, 0.7)},
        ),
        (
            "no_prediction",
            "dog",
            "ground_truth",
            1,
            {"score_thresholds": (0.75, 0.8, 0.85, 0.9, 0.95)},
        ),
        ("no_prediction", "cat", "ground_truth", 0, {"score_thresholds": (0.95,)}),
    ]


PROBLEMS: dict[str, Any] = {
    "seed": st.integers(0, 10_000),
    "digits": st.sampled_from([0, 1, 2, None]),
    "iou": st.sampled_from([0.05, 0.3, 0.5, 0.75]),
    "area": st.sampled_from(list(AREAS)),
    "matching": st.sampled_from(list(RULES)),
}


@given(**PROBLEMS, limit=st.sampled_from([None, 1, 3]))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_counts_are_those_of_the_plain_curve_and_the_parts_add_up(
    seed: int, digits: int | None, iou: float, area: str, matching: str, limit: int | None
) -> None:
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    at = {"pr_curve_iou_threshold": iou, "max_detections": limit}
    calls = asked(DETAILED_PR_CURVE, **at), asked(PR_CURVE, **at)
    matches = match_detections(dataset, plan_of(*calls, area=True)).within(area)
    detailed, plain = (findings(matches, call) for call in calls)
    by_label = {curve.label: curve.points for curve in detailed.curves}
    for curve in plain.curves:
        for name in ("score_threshold", "tp", "fp", "fn"):
            assert list(by_label[curve.label][name]) == list(curve.points[name])
    for points in by_label.values():
        tp, fp, fn, *parts = (np.array(points[name]) for name in PARTS)
        assert np.array_equal(parts[0] + parts[1], fp)
        assert np.array_equal(parts[2] + parts[3], fn)
        assert all((part >= 0).all() for part in parts)
        assert len(set(tp + fn)) == 1


@given(
    **PROBLEMS,
    levels=st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]), min_size=1, max_size=4),
    most=st.sampled_from([0, 1, 3]),
)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_parts_and_examples_are_those_of_the_oracle(
    seed: int,
    digits: int | None,
    iou: float,
    area: str,
    matching: str,
    levels: list[float],
    most: int,
) -> None:
    dataset = confused_dataset(seed, images=8, digits=digits, matching=matching)
    thresholds = tuple(sorted(set(levels)))
    found = ask(
        dataset,
        DETAILED_PR_CURVE,
        area=area,
        score_thresholds=thresholds,
        pr_curve_iou_threshold=iou,
        max_examples=most,
    )
    scene = Scene.of(dataset)
    curves = {curve.label: curve for curve in found.curves}
    shown: set[tuple[str, str | None, int, float]] = {
        (one.kind, one.label, one.objects[0].number, level)
        for one in found.examples
        for level in one.at["score_thresholds"]
    }
    wanted = set()
    for level in thresholds:
        verdict = settle(scene, iou, level, limits=AREAS[area], rule=RULES[matching])
        expected = details(verdict, iou)
        for at, label in enumerate(dataset.labels):
            lists = [
                [one for one in getattr(expected, name) if one.label == at]
                for name in ("tp", *PARTS[3:])
            ]
            tp, *parts = map(len, lists)
            numbers = [tp, parts[0] + parts[1], parts[2] + parts[3], *parts]
            if label in curves:
                assert column(curves[label], level) == numbers
            else:
                assert numbers == [0] * 7
        wanted |= examples(dataset.labels, expected, level, most)
    assert shown == wanted
    for one in found.examples:
        (ref,) = one.objects
        thing = (scene.founds if ref.role == "prediction" else scene.truths)[place(scene, ref)]
        assert one.sample_id == dataset.image_ids[thing.image]
        assert ref.outcome == one.kind


def place(scene: Scene, ref: Any) -> int:
    """Where in the scene an object stands: some may have been left out."""
    things = scene.founds if ref.role == "prediction" else scene.truths
    return [one.row for one in things].index(ref.number)


KINDS = {
    "tp": "true_positive",
    "fp_misclassifications": "misclassification",
    "fp_hallucinations": "hallucination",
    "fn_misclassifications": "misclassification",
    "fn_no_predictions": "no_prediction",
}


def examples(
    labels: Any, found: Details, level: float, most: int
) -> set[tuple[str, str | None, int, float]]:
    """The first cases of every count: detections by score, ground truths by image."""
    shown = set()
    for name, kind in KINDS.items():
        for at, label in enumerate(labels):
            cases: list[Found | Truth] = [one for one in getattr(found, name) if one.label == at]
            cases.sort(key=lambda one: (-getattr(one, "score", 0.0), one.image, one.row))
            shown |= {(kind, label, one.row, level) for one in cases[:most]}
    return shown


@pytest.mark.parametrize("seed", range(4))
def test_every_count_has_an_example(seed: int) -> None:
    dataset = confused_dataset(seed, images=10)
    found = ask(dataset, DETAILED_PR_CURVE, max_examples=1)
    shown = {
        (one.kind, one.objects[0].role, one.label, level)
        for one in found.examples
        for level in one.at["score_thresholds"]
    }
    for curve in found.curves:
        for name, kind in KINDS.items():
            role = "ground_truth" if name.startswith("fn") else "prediction"
            for level, count in zip(
                curve.points["score_threshold"], curve.points[name], strict=True
            ):
                assert ((kind, role, curve.label, level) in shown) == (count != 0)
