"""The best F1 of each label: worked by hand, and against every threshold there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluators.detection.asking import ask, confused_dataset, numbers, small_dataset
from tests.oracles.confusion import Scene, coco, settle
from tests.oracles.valor import valor
from valor_cli.evaluators.detection.evidence.parameters import AREAS
from valor_cli.evaluators.detection.metrics.best_f1 import BEST_F1, NOTHING_FOUND

RULES = {"coco": coco, "valor": valor}
HERE, THERE, AWAY = (0, 0, 10, 10), (50, 0, 10, 10), (80, 80, 10, 10)


def test_worked_by_hand() -> None:
    # Cats, two of them: right .9, wrong .8, right .7, wrong .7, wrong .1.
    #   from .9: tp 1, fp 0, fn 1: F1 = 2/3      from .7: tp 2, fp 2, fn 0: F1 = 4/6 = 2/3
    #   from .8: tp 1, fp 1, fn 1: F1 = 1/2      from .1: tp 2, fp 3, fn 0: F1 = 4/7
    # The two .7 pass together; of two 2/3 the higher threshold. Dogs are never found.
    dataset = small_dataset(
        ("cat", "dog", "cow"),
        [(0, "cat", HERE), (1, "cat", THERE), (1, "dog", HERE)],
        [
            (0, "cat", 0.9, HERE),
            (0, "cat", 0.8, AWAY),
            (1, "cat", 0.7, AWAY),
            (1, "cat", 0.7, THERE),
            (1, "cat", 0.1, AWAY),
            (0, "dog", 0.9, AWAY),
            (0, "cow", 0.9, AWAY),
        ],
    )
    found = ask(dataset, BEST_F1)
    assert numbers(found, "f1") == {None: 1 / 3, "cat": 2 / 3, "dog": 0, "cow": None}
    assert numbers(found, "score_threshold") == {"cat": 0.9, "dog": None, "cow": None}
    assert numbers(found, "precision") == {"cat": 1, "dog": None, "cow": None}
    assert numbers(found, "recall") == {"cat": 0.5, "dog": None, "cow": None}
    reasons = {(value.output, value.label): value.undefined for value in found.values}
    assert reasons["score_threshold", "dog"] == NOTHING_FOUND
    assert reasons["score_threshold", "cow"] == reasons["f1", "cow"] == "no ground truth"
    assert reasons["f1", "dog"] is None


def test_without_ground_truth_there_is_no_mean() -> None:
    found = ask(small_dataset(("cow",), (), [(0, "cow", 0.9, AWAY)]), BEST_F1)
    assert numbers(found, "f1") == {None: None, "cow": None}


PROBLEMS: dict[str, Any] = {
    "seed": st.integers(0, 10_000),
    "digits": st.sampled_from([0, 1, None]),
    "iou": st.sampled_from([0.3, 0.5, 0.9]),
    "area": st.sampled_from(list(AREAS)),
    "matching": st.sampled_from(list(RULES)),
    "limit": st.sampled_from([None, 1, 2]),
}


@given(**PROBLEMS)
@settings(derandomize=True, deadline=None, max_examples=40)
def test_no_threshold_is_better(
    seed: int, digits: int | None, iou: float, area: str, matching: str, limit: int | None
) -> None:
    if matching == "valor" and limit is not None:
        digits = None
    dataset = confused_dataset(seed, images=6, digits=digits, matching=matching)
    found = ask(dataset, BEST_F1, area=area, iou_threshold=iou, max_detections=limit)
    scene = Scene.of(dataset)
    every = sorted({one.score for one in scene.founds}, reverse=True)
    best: dict[str, tuple[float, float | None, float, float]] = {}
    for level in every:
        verdict = settle(scene, iou, level, most=limit, limits=AREAS[area], rule=RULES[matching])
        for at, label in enumerate(dataset.labels):
            tp = sum(one.label == at for one, _ in verdict.right)
            fp = sum(one.label == at for one in verdict.wrong)
            truths = sum(one.label == at for one in verdict.real)
            if not truths:
                continue
            f1 = 2 * tp / (tp + fp + truths)
            best.setdefault(label, (0.0, None, 0.0, 0.0))
            if f1 > best[label][0]:
                best[label] = (f1, level, tp / (tp + fp), tp / truths)
    f1, threshold = numbers(found, "f1"), numbers(found, "score_threshold")
    precision, recall = numbers(found, "precision"), numbers(found, "recall")
    for label in dataset.labels:
        if label not in best:
            assert f1[label] is threshold[label] is precision[label] is recall[label] is None
            continue
        value, level, *both = best[label]
        assert f1[label] == value
        assert threshold[label] == level
        assert [precision[label], recall[label]] == (both if level is not None else [None, None])
    values = [value for value, *_ in best.values()]
    assert f1[None] == (pytest.approx(np.mean(values), abs=1e-12) if values else None)
