"""Frequency weighted IoU: worked by hand, and scikit-learn."""

from __future__ import annotations

import pytest

from tests.evaluators.segmentation.asking import ask
from tests.oracles.label_map_problems import random_maps
from tests.oracles.scikit_segmentation import pixels_of, sklearn
from tests.oracles.segmentation import drawn
from valor_cli.evaluators.segmentation.evidence.confusions import NO_LABEL
from valor_cli.evaluators.segmentation.metrics.frequency_weighted_iou import FREQUENCY_WEIGHTED_IOU


def test_worked_by_hand() -> None:
    # a: 6 pixels, IoU 4 of 7; b: 2 pixels, IoU 0; c has no ground truth.
    dataset = drawn({"one": (["aaab#"], ["aabaa"]), "two": (["aaab"], ["aa-c"])}, 3)
    (value,) = ask(dataset, FREQUENCY_WEIGHTED_IOU).values
    assert value.value == pytest.approx((6 * 4 / 7 + 2 * 0) / 8, abs=1e-15)
    assert value.n == 8


def test_no_label_in_the_ground_truth() -> None:
    (value,) = ask(drawn({"one": (["-#"], ["aa"])}, 1), FREQUENCY_WEIGHTED_IOU).values
    assert (value.value, value.undefined) == (None, NO_LABEL)


def test_equals_scikit_learn() -> None:
    dataset = random_maps(8, labels=6)
    truth, prediction, seen, _ = pixels_of(dataset)
    (value,) = ask(dataset, FREQUENCY_WEIGHTED_IOU).values
    expected = sklearn().jaccard_score(truth, prediction, average="weighted", labels=seen)
    assert value.value == pytest.approx(expected, abs=1e-12)
