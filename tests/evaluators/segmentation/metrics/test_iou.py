"""IoU per label: worked by hand, and scikit-learn."""

from __future__ import annotations

import pytest

from tests.evaluators.segmentation.asking import ask, numbers, reasons
from tests.oracles.label_map_problems import random_maps
from tests.oracles.scikit_segmentation import by_label, pixels_of, sklearn
from tests.oracles.segmentation import drawn
from valor_cli.evaluators.segmentation.evidence.confusions import NO_GROUND_TRUTH
from valor_cli.evaluators.segmentation.metrics.iou import IOU


def test_worked_by_hand() -> None:
    # Pooled over both images: a 4 of 7, b 0 of 2 + 1, c is predicted once and is nowhere, d is
    # nowhere at all. The # pixel is not judged; the open one (-) is a missed a.
    dataset = drawn({"one": (["aaab#"], ["aabaa"]), "two": (["aaab"], ["aa-c"])}, 4)
    found = ask(dataset, IOU)
    assert numbers(found) == {"a": 4 / 7, "b": 0.0, "c": None, "d": None}
    assert reasons(found) == {"a": None, "b": None, "c": NO_GROUND_TRUTH, "d": NO_GROUND_TRUTH}
    assert [value.n for value in found.values] == [6, 2, 0, 0]


def test_an_excluded_background_counts_against_labels() -> None:
    # a: 2 right, 1 missed for background, 1 invented on background.
    dataset = drawn({"one": (["aaa--"], ["aa-a-"])}, 1)
    assert numbers(ask(dataset, IOU)) == {"a": 2 / 4}


@pytest.mark.parametrize("seed", range(3))
def test_equals_scikit_learn(seed: int) -> None:
    dataset = random_maps(seed, labels=5)
    truth, prediction, _, labels = pixels_of(dataset)
    expected = sklearn().jaccard_score(truth, prediction, average=None, labels=labels)
    assert numbers(ask(dataset, IOU)) == pytest.approx(by_label(dataset, expected), abs=1e-12)
