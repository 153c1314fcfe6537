"""Pixel accuracy: worked by hand, and scikit-learn."""

from __future__ import annotations

import pytest

from tests.evaluators.segmentation.asking import ask
from tests.oracles.label_map_problems import random_maps
from tests.oracles.scikit_segmentation import pixels_of, sklearn
from tests.oracles.segmentation import drawn
from valor_cli.evaluators.segmentation.metrics.pixel_accuracy import NO_PIXELS, PIXEL_ACCURACY


def test_worked_by_hand() -> None:
    # Right: a, a, background as background; wrong: a called b, background called a, b called
    # background, background left open.
    dataset = drawn({"one": (["aaa#"], ["aab#"]), "two": (["--b-#"], ["-a-#a"])}, 2)
    (value,) = ask(dataset, PIXEL_ACCURACY).values
    assert (value.value, value.n) == (3 / 7, 7)


def test_everything_ignored() -> None:
    (value,) = ask(drawn({"one": (["##"], ["ab"])}, 2), PIXEL_ACCURACY).values
    assert (value.value, value.undefined, value.n) == (None, NO_PIXELS, 0)


def test_equals_scikit_learn() -> None:
    dataset = random_maps(6)
    truth, prediction, *_ = pixels_of(dataset)
    (value,) = ask(dataset, PIXEL_ACCURACY).values
    expected = sklearn().accuracy_score(truth, prediction)
    assert (value.value, value.n) == (pytest.approx(expected, abs=1e-12), len(truth))
