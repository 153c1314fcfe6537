"""Precision, recall and F1: worked by hand, their averages, and scikit-learn."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluators.segmentation.asking import ask, numbers, reasons
from tests.oracles.label_map_problems import random_maps
from tests.oracles.scikit_segmentation import by_label, pixels_of, sklearn
from tests.oracles.segmentation import drawn
from valor_cli.evaluators.segmentation.evidence.confusions import (
    NO_GROUND_TRUTH,
    NO_LABEL,
    NO_PREDICTIONS,
)
from valor_cli.evaluators.segmentation.metrics.precision_recall import F1, PRECISION, RECALL

METRICS = (PRECISION, RECALL, F1)
# a: 6 in the ground truth, 5 predicted, 4 both; b: 2, 1, 1; c: 2, 0, 0; d: 0, 2, 0; e nowhere.
# The tenth pixel of the ground truth is background, called d.
DATASET = drawn({"one": (["aaaaaabbcc-"], ["aaaadbab---"]), "two": (["--#"], ["-dd"])}, 5)


def by_hand(metric: Any, **parameters: Any) -> dict[str | None, float | None]:
    return numbers(ask(DATASET, metric, **parameters))


def test_worked_by_hand() -> None:
    # Row "one": a a a a a a b b c c - / a a a a d b a b - - -: a 4 of 6, d and b for the others;
    # b: one called a, one right; c: never predicted. So b is predicted twice, one right.
    assert by_hand(PRECISION) == {
        "a": 4 / 5,
        "b": 1 / 2,
        "c": 0.0,
        "d": 0.0,
        "e": None,
        None: (4 / 5 + 1 / 2 + 0) / 3,
    }
    assert by_hand(RECALL) == {
        "a": 4 / 6,
        "b": 1 / 2,
        "c": 0.0,
        "d": None,
        "e": None,
        None: pytest.approx((4 / 6 + 1 / 2 + 0) / 3, abs=1e-15),
    }
    assert by_hand(F1) == {
        "a": 8 / 11,
        "b": 2 / 4,
        "c": 0.0,
        "d": None,
        "e": None,
        None: pytest.approx((8 / 11 + 1 / 2 + 0) / 3, abs=1e-15),
    }
    assert reasons(ask(DATASET, PRECISION)) == {
        "a": None,
        "b": None,
        "c": NO_PREDICTIONS,
        "d": None,
        "e": NO_GROUND_TRUTH,
        None: None,
    }
    assert [value.n for value in ask(DATASET, F1).values] == [6, 2, 2, 0, 0, 10]


def test_averages_worked_by_hand() -> None:
    assert by_hand(PRECISION, average="micro")[None] == 5 / 7
    assert by_hand(RECALL, average="micro")[None] == 5 / 10
    assert by_hand(F1, average="micro")[None] == 10 / 17
    weighted = by_hand(PRECISION, average="weighted")[None]
    assert weighted == pytest.approx((6 * 4 / 5 + 2 * 1 / 2 + 2 * 0) / 10, abs=1e-15)


def test_zero_division_stands_in_for_labels_never_predicted() -> None:
    for metric in (PRECISION, F1):
        assert by_hand(metric, zero_division=1.0)["c"] == 1.0
    assert by_hand(PRECISION, zero_division=1.0)["d"] == 0.0


def test_nothing_predicted_at_all() -> None:
    dataset = drawn({"one": (["aab"], ["---"])}, 2)
    for metric in (PRECISION, F1):
        value = ask(dataset, metric, zero_division=0.5).values[-1]
        assert (value.value, value.undefined) == (0.5, NO_PREDICTIONS)
    assert ask(dataset, RECALL).values[-1].value == 0.0


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.name)
def test_no_label_in_the_ground_truth(metric: Any) -> None:
    value = ask(drawn({"one": (["-#-"], ["aa-"])}, 2), metric).values[-1]
    assert (value.value, value.undefined, value.n) == (None, NO_LABEL, 0)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_equals_scikit_learn(average: str) -> None:
    dataset = random_maps(5, labels=5)
    truth, prediction, _, labels = pixels_of(dataset)
    score = sklearn().precision_recall_fscore_support
    each = score(truth, prediction, labels=labels, zero_division=0)
    all_of_them = score(truth, prediction, labels=labels, average=average, zero_division=0)
    for metric, columns, together in zip(METRICS, each, all_of_them, strict=False):
        expected = {**by_label(dataset, columns), None: together}
        assert numbers(ask(dataset, metric, average=average)) == pytest.approx(expected, abs=1e-12)
