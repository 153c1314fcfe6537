"""Mean IoU: worked by hand, and scikit-learn."""

from __future__ import annotations

import pytest

from tests.evaluators.segmentation.asking import ask
from tests.oracles.label_map_problems import random_maps
from tests.oracles.scikit_segmentation import pixels_of, sklearn
from tests.oracles.segmentation import drawn
from valor_cli.evaluators.segmentation.evidence.confusions import NO_LABEL
from valor_cli.evaluators.segmentation.metrics.mean_iou import MEAN_IOU


def test_worked_by_hand() -> None:
    # a: 4 of 7; b: 0 of 3; c is predicted only and d nowhere: neither enters.
    dataset = drawn({"one": (["aaab#"], ["aabaa"]), "two": (["aaab"], ["aa-c"])}, 4)
    (value,) = ask(dataset, MEAN_IOU).values
    assert (value.value, value.n, value.label) == ((4 / 7 + 0) / 2, 8, None)


def test_ground_truth_of_background_alone_has_none() -> None:
    (value,) = ask(drawn({"one": (["--#"], ["a-a"])}, 2), MEAN_IOU).values
    assert (value.value, value.undefined, value.n) == (None, NO_LABEL, 0)


@pytest.mark.parametrize("labels", [3, 40])
def test_equals_scikit_learn_over_the_labels_of_the_ground_truth(labels: int) -> None:
    # Of 40 labels not all occur in the ground truth.
    dataset = random_maps(labels, images=2, labels=labels)
    truth, prediction, seen, _ = pixels_of(dataset)
    assert labels < 40 or len(seen) < labels
    expected = sklearn().jaccard_score(truth, prediction, average="macro", labels=seen)
    (value,) = ask(dataset, MEAN_IOU).values
    assert value.value == pytest.approx(expected, abs=1e-12)
