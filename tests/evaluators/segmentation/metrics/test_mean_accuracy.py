"""Mean accuracy: worked by hand, and scikit-learn's balanced accuracy."""

from __future__ import annotations

import pytest

from tests.evaluators.segmentation.asking import ask
from tests.oracles.label_map_problems import random_maps
from tests.oracles.scikit_segmentation import pixels_of, sklearn
from tests.oracles.segmentation import drawn
from valor_cli.evaluators.segmentation.evidence.confusions import NO_LABEL
from valor_cli.evaluators.segmentation.metrics.mean_accuracy import MEAN_ACCURACY


def test_worked_by_hand() -> None:
    # a: 3 of 4; b: 0 of 1; c is predicted only; background is no label.
    dataset = drawn({"one": (["aaaab--"], ["aaacaa-"])}, 3)
    (value,) = ask(dataset, MEAN_ACCURACY).values
    assert (value.value, value.n) == ((3 / 4 + 0) / 2, 5)


def test_no_label_in_the_ground_truth() -> None:
    (value,) = ask(drawn({"one": (["-#"], ["aa"])}, 1), MEAN_ACCURACY).values
    assert (value.value, value.undefined) == (None, NO_LABEL)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true:UserWarning")
def test_equals_scikit_learn() -> None:
    dataset = random_maps(7, labels=6)
    truth, prediction, *_ = pixels_of(dataset)
    (value,) = ask(dataset, MEAN_ACCURACY).values
    expected = sklearn().balanced_accuracy_score(truth, prediction)
    assert value.value == pytest.approx(expected, abs=1e-12)
