"""Metrics of single objects against the slow oracles, which look at one object at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.detection.asking import (
    PARTS,
    PROBLEMS,
    Problem,
    asked,
    confused_dataset,
    findings,
    numbers,
    plan_of,
    small_dataset,
)
from tests.oracles.confusion import (
    Confusion,
    Found,
    Scene,
    Truth,
    Verdict,
    confusion,
    details,
    nearest,
    overlap,
)
from tests.oracles.tide import costs, errors, missed
from valor_cli.evaluators.detection.evidence.error_types import error_types
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.outcomes import Outcomes, outcomes, overlap_pairs
from valor_cli.evaluators.detection.evidence.parameters import AREAS, MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.best_f1 import BEST_F1
from valor_cli.evaluators.detection.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.evaluators.detection.metrics.detailed_pr_curve import DETAILED_PR_CURVE
from valor_cli.evaluators.detection.metrics.error_breakdown import ERROR_BREAKDOWN, KINDS
from valor_cli.evaluators.detection.metrics.image_scores import IMAGE_SCORES
from valor_cli.evaluators.detection.metrics.pr_curve import PR_CURVE
from valor_cli.evaluators.parameters import SCORES
from valor_cli.metric import Call
from valor_cli.results import MetricExample

CALLS = tuple(
    asked(metric)
    for metric in (CONFUSION_MATRIX, DETAILED_PR_CURVE, ERROR_BREAKDOWN, IMAGE_SCORES, BEST_F1)
)
fuzz = settings(derandomize=True, deadline=None, max_examples=60)

Thing = Found | Truth


def first(things: Sequence[Any], most: int) -> list[Any]:
    """Detections by score, ground truths by image, then by place in the file."""

    def key(one: Thing) -> tuple[float, int, int]:
        return -getattr(one, "score", 0.0), one.image, one.row

    return sorted(things, key=key)[:most]


def objects(example: MetricExample) -> tuple[int | None, int | None]:
    """Numbers of the ground truth and of the detection."""
    assert {ref.outcome for ref in example.objects} == {example.kind}
    by_role = {ref.role: ref.number for ref in example.objects}
    return by_role.get("ground_truth"), by_role.get("prediction")


# ---- what became of every object


def rows(matches: Matches, found: Outcomes) -> dict[str, Any]:
    """The outcomes by numbers of the dataset."""
    number, gt_number = matches.number, matches.gt_number
    right = np.flatnonzero(found.right)
    return {
        "right": {(int(number[at]), int(gt_number[found.met[at]])) for at in right},
        "wrong": set(number[found.wrong].tolist()),
        "real": set(gt_number[found.real].tolist()),
        "missed": set(gt_number[found.missed].tolist()),
    }


def told(verdict: Verdict) -> dict[str, Any]:
    return {
        "right": {(found.row, truth.row) for found, truth in verdict.right},
        "wrong": {found.row for found in verdict.wrong},
        "real": {truth.row for truth in verdict.real},
        "missed": {truth.row for truth in verdict.missed},
    }


@given(PROBLEMS)
@fuzz
def test_outcomes(problem: Problem) -> None:
    iou, score, most = problem.iou, problem.score, problem.limit
    call = asked(CONFUSION_MATRIX, iou_threshold=iou)
    matches = match_detections(problem.dataset, plan_of(call, area=True)).within(problem.area)
    found = outcomes(matches, iou, score, most)
    assert rows(matches, found) == told(problem.verdict())
    # Both directions of a match say the same; only what is looked at is right or wrong.
    right = np.flatnonzero(found.right)
    assert np.array_equal(found.found_by[found.met[right]], right)
    assert not (found.right & found.wrong).any()
    assert np.array_equal(found.right | found.wrong, found.counted)
    assert not (found.counted & ~found.kept).any()
    counts = matches.counts(iou, score, most)
    assert found.right.sum() == counts.tp.sum()
    assert found.wrong.sum() == counts.fp.sum()
    assert found.missed.sum() == counts.fn.sum()


@given(
    seed=st.integers(0, 10_000),
    least=st.sampled_from([0.01, 0.1, 0.5, 1.0]),
    score=st.sampled_from([0.05, 0.5]),
)
@settings(derandomize=True, deadline=None, max_examples=30)
def test_encounters_are_all_overlaps_with_regular_ground_truths(
    seed: int, least: float, score: float
) -> None:
    dataset = confused_dataset(seed, images=6)
    call = asked(CONFUSION_MATRIX, iou_threshold=least, score_threshold=score)
    matches = match_detections(dataset, plan_of(call))
    pairs = overlap_pairs(matches, least)
    scene = Scene.of(dataset)
    expected = {
        (found.row, truth.row): overlap(found, truth)
        for found in scene.founds
        for truth in scene.truths
        if found.image == truth.image and not truth.crowd and found.score >= score
    }
    met = zip(matches.number[pairs.detection], matches.gt_number[pairs.ground_truth], strict=True)
    assert dict(zip(met, pairs.iou.tolist(), strict=True)) == {
        pair: iou for pair, iou in expected.items() if iou >= min(least, 1 - 1e-10)
    }
    assert np.array_equal(
        np.lexsort((pairs.ground_truth, pairs.detection)), np.arange(len(pairs.iou))
    )


def test_outcomes_need_a_plan_that_remembers() -> None:
    matches = match_detections(confused_dataset(0), MatchingPlan())
    with pytest.raises(ValueError, match="keeps no ground truths"):
        outcomes(matches, 0.5)
    with pytest.raises(ValueError, match="keeps no overlap pairs"):
        overlap_pairs(matches, 0.5)


@pytest.mark.parametrize("matching", ["coco", "valor"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.metric.name)
def test_what_a_metric_says_does_not_depend_on_what_else_is_asked(
    call: Call, matching: str
) -> None:
    dataset = confused_dataset(6, images=15, matching=matching)
    alone = match_detections(dataset, plan_of(call))
    others = [
        asked(CONFUSION_MATRIX, iou_threshold=0.9, score_threshold=0.95),
        asked(ERROR_BREAKDOWN, iou_threshold=0.3, background_iou=0.05),
    ]
    for calls in ([call, *CALLS], [call, *others], [call, others[0]]):
        together = match_detections(dataset, plan_of(*calls))
        assert findings(together, call) == findings(alone, call)


def test_the_score_of_a_mistake_is_that_of_the_plan() -> None:
    matches = match_detections(confused_dataset(1), plan_of(asked(ERROR_BREAKDOWN)))
    found = error_types(matches, 0.5, 0.1, 0.4)
    assert not (found.reason[matches.score < 0.4] >= 0).any()
    assert ((found.reason >= 0) == found.outcomes.wrong).all()


@pytest.mark.parametrize("matching", ["coco", "valor"])
@pytest.mark.parametrize("crowds", [[], [0]])
@pytest.mark.parametrize("images", [0, 1, 2, 3])
def test_one_thing_or_nothing_at_all(images: int, crowds: list[int], matching: str) -> None:
    truths: Any = [(0, "cat", (0, 0, 9, 9))][: images % 2]
    found: Any = [(0, "cat", 0.9, (0, 0, 9, 9))][: images // 2]
    dataset = small_dataset(
        ("cat",), truths, found, images=images, crowds=crowds, matching=matching
    )
    matches = match_detections(dataset, plan_of(*CALLS, area=True))
    for area in AREAS:
        for call in CALLS:
            for value in findings(matches.within(area), call).values:
                assert (value.value is None) == (value.undefined is not None)


# ---- metrics


@given(PROBLEMS)
@fuzz
def test_confusion_matrix(problem: Problem) -> None:
    dataset, verdict = problem.dataset, problem.verdict()
    found = problem.ask(
        CONFUSION_MATRIX,
        iou_threshold=problem.iou,
        score_threshold=problem.score,
        max_examples=problem.most,
        max_detections=problem.limit,
    )
    if not (verdict.real or verdict.wrong or verdict.right):
        assert not found.tables
        return
    expected = confusion(verdict, problem.iou, len(dataset.labels))
    (table,) = found.tables
    assert table.labels == dataset.labels
    assert table.matrix == expected.matrix
    assert table.unmatched_ground_truths == expected.unmatched_ground_truths
    assert table.unmatched_predictions == expected.unmatched_predictions
    shown = [(one.kind, one.sample_id, one.label, *objects(one)) for one in found.examples]
    homes = [
        (kind, dataset.image_ids[home.image], dataset.labels[home.label], *numbers)
        for kind, home, *numbers in first_of_cells(verdict, expected, problem.most)
    ]
    assert Counter(shown) == Counter(homes)


def first_of_cells(
    verdict: Verdict, found: Confusion, most: int
) -> list[tuple[str, Thing, int | None, int | None]]:
    """The first cases of every cell: what they are, whose they are, and both numbers."""
    cells: dict[tuple[str, int | None, int | None], dict[Thing, Truth | None]] = {}
    pairs = {"true_positive": verdict.right, "misclassification": found.confused}
    for kind, some in pairs.items():
        for one, truth in some:
            cells.setdefault((kind, truth.label, one.label), {})[one] = truth
    for one in found.alone:
        cells.setdefault(("unmatched_prediction", None, one.label), {})[one] = None
    for truth in found.lost:
        cells.setdefault(("unmatched_ground_truth", truth.label, None), {})[truth] = truth
    return [
        (kind, truth or one, truth and truth.row, None if truth is one else one.row)
        for (kind, *_), cases in cells.items()
        for one in first(list(cases), most)
        for truth in [cases[one]]
    ]


@given(PROBLEMS, st.sampled_from([0.01, 0.1, 0.2]))
@fuzz
def test_error_breakdown(problem: Problem, background: float) -> None:
    dataset, verdict = problem.dataset, problem.verdict(-np.inf)
    found = problem.ask(
        ERROR_BREAKDOWN,
        iou_threshold=problem.iou,
        background_iou=background,
        max_detections=problem.limit,
        max_examples=problem.most,
    )
    told = errors(verdict, problem.iou, background)
    lost = missed(verdict, told)
    aims = {error.found.row: error.aim for error in told}
    for kind in KINDS:
        own = [error.found for error in told if error.reason == kind]
        own += lost if kind == "missed" else []
        by_label = {
            label: sum(one.label == at for one in own) for at, label in enumerate(dataset.labels)
        }
        assert numbers(found, kind) == {None: len(own), **by_label}
        shown = [one for one in found.examples if one.kind == kind]
        cases = first(own, problem.most)
        assert [[ref.number for ref in one.objects] for one in shown] == [
            [one.row] if kind == "missed" or aims[one.row] is None else [aims[one.row].row, one.row]
            for one in cases
        ]
        assert [one.sample_id for one in shown] == [dataset.image_ids[one.image] for one in cases]
    if verdict.real:
        near = nearest(problem.scene) if problem.matching == "valor" else None
        for name, value in costs(problem.scene, verdict, told, near).items():
            assert numbers(found, f"{name}_cost") == {None: pytest.approx(value, abs=1e-12)}


@given(PROBLEMS)
@settings(derandomize=True, deadline=None, max_examples=15)
def test_best_f1_is_that_of_no_other_threshold(problem: Problem) -> None:
    dataset = problem.dataset
    found = problem.ask(BEST_F1, iou_threshold=problem.iou, max_detections=problem.limit)
    best: dict[str, tuple[float, float | None, float | None, float | None]] = {}
    for level in sorted({one.score for one in problem.scene.founds}, reverse=True):
        verdict = problem.verdict(level)
        for at, label in enumerate(dataset.labels):
            tp = sum(one.label == at for one, _ in verdict.right)
            fp = sum(one.label == at for one in verdict.wrong)
            truths = sum(one.label == at for one in verdict.real)
            if truths:
                f1 = 2 * tp / (tp + fp + truths)
                best.setdefault(label, (0.0, None, None, None))
                if f1 > best[label][0]:
                    best[label] = (f1, level, tp / (tp + fp), tp / truths)
    columns = [numbers(found, name) for name in ("f1", "score_threshold", "precision", "recall")]
    for label in dataset.labels:
        own = tuple(column[label] for column in columns)
        assert own == best.get(label, (None, None, None, None))
    values = [value for value, *_ in best.values()]
    mean = pytest.approx(np.mean(values), abs=1e-12) if values else None
    assert columns[0][None] == mean


KINDS_OF = {
    "tp": "true_positive",
    "fp_misclassifications": "misclassification",
    "fp_hallucinations": "hallucination",
    "fn_misclassifications": "misclassification",
    "fn_no_predictions": "no_prediction",
}


@given(
    PROBLEMS,
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]), min_size=1, max_size=4),
)
@fuzz
def test_curves(problem: Problem, levels: list[float]) -> None:
    dataset, thresholds = problem.dataset, tuple(sorted(set(levels)))
    at = {"pr_curve_iou_threshold": problem.iou, "max_detections": problem.limit}
    calls = (
        asked(DETAILED_PR_CURVE, **at, score_thresholds=thresholds, max_examples=problem.most),
        asked(PR_CURVE, **at),
    )
    matches = match_detections(dataset, plan_of(*calls, area=True)).within(problem.area)
    found, plain = (findings(matches, call) for call in calls)
    curves, others = (
        {curve.label: curve.points for curve in each.curves} for each in (found, plain)
    )
    shown = {
        (one.kind, one.objects[0].role, one.label, one.sample_id, one.objects[0].number, level)
        for one in found.examples
        for level in one.at["score_thresholds"]
    }
    assert all(len(one.objects) == 1 for one in found.examples)
    assert all(one.objects[0].outcome == one.kind for one in found.examples)
    wanted = set()
    for place, level in enumerate(thresholds):
        expected = details(problem.verdict(level), problem.iou)
        for number, label in enumerate(dataset.labels):
            lists: dict[str, list[Any]] = {
                name: [one for one in getattr(expected, name) if one.label == number]
                for name in KINDS_OF
            }
            tp, *parts = map(len, lists.values())
            counts = [tp, parts[0] + parts[1], parts[2] + parts[3], *parts]
            if label in curves:
                assert [curves[label][name][place] for name in PARTS] == counts
            else:
                assert counts == [0] * 7
            if label in others and level in SCORES:
                own = [others[label][name][SCORES.index(level)] for name in PARTS[:3]]
                assert own == counts[:3]
            wanted |= {
                (
                    KINDS_OF[name],
                    "ground_truth" if name.startswith("fn") else "prediction",
                    *(label, dataset.image_ids[one.image], one.row, level),
                )
                for name, some in lists.items()
                for one in first(some, problem.most)
            }
    assert shown == wanted


@given(PROBLEMS)
@fuzz
def test_image_scores(problem: Problem) -> None:
    dataset = problem.dataset
    found = problem.ask(
        IMAGE_SCORES,
        iou_threshold=problem.iou,
        score_threshold=problem.score,
        worst=problem.most,
    )
    verdict = problem.verdict(limited=False)
    assert found.samples is not None
    expected: dict[str, list[Any]] = {name: [] for name in found.samples.columns}
    ranking = []
    for image in range(dataset.unit_count):
        tp = sum(one.image == image for one, _ in verdict.right)
        fp = sum(one.image == image for one in verdict.wrong)
        fn = sum(one.image == image for one in verdict.missed)
        columns = {
            "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
            "precision": tp / (tp + fp) if tp + fp else (0 if fn else None),
            "recall": tp / (tp + fn) if tp + fn else None,
            "tp": tp,
            "fp": fp,
            "fn": fn,
        }
        for name, value in columns.items():
            expected[name].append(value)
        if fp + fn:
            ranking.append((columns["f1"], -fp - fn, image))
    assert found.samples.columns == expected
    assert list(found.samples.sample_ids) == dataset.image_ids.tolist()
    for output in ("f1", "precision", "recall"):
        defined = [value for value in expected[output] if value is not None]
        mean = pytest.approx(sum(defined) / len(defined), abs=1e-12) if defined else None
        assert list(numbers(found, output).values()) == [mean]
    ranking.sort()
    assert [(one.sample_id, one.value) for one in found.examples] == [
        (dataset.image_ids[image], f1) for f1, _, image in ranking[: problem.most]
    ]
    outcome = {("prediction", one.row): "true_positive" for one, _ in verdict.right}
    outcome |= {("ground_truth", one.row): "missed" for one in verdict.missed}
    outcome |= {("ground_truth", truth.row): "found" for _, truth in verdict.right}
    outcome |= {
        ("prediction", one.found.row): one.reason for one in errors(verdict, problem.iou, 0.1)
    }
    for example, (*_, image) in zip(found.examples, ranking, strict=False):
        truths = [truth.row for truth in problem.scene.truths if truth.image == image]
        founds = [one for one in problem.scene.founds if one.image == image]
        founds = [one for one in first(founds, 10_000) if one.score >= problem.score]
        places = [("ground_truth", row) for row in truths]
        places += [("prediction", one.row) for one in founds]
        shown = [(ref.role, ref.number, ref.outcome) for ref in example.objects]
        assert shown == [(*place, outcome.get(place, "ignored")) for place in places]
