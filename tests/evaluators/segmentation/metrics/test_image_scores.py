"""Scores of single images: worked by hand, scikit-learn image by image, and the worst images."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.segmentation.asking import ask, asked, findings, numbers
from tests.oracles.label_map_problems import random_maps
from tests.oracles.scikit_segmentation import pixels_of, sklearn
from tests.oracles.segmentation import drawn
from valor_cli.evaluators.segmentation.evidence.confusions import CountingPlan
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.evaluators.segmentation.metrics.image_scores import IMAGE_SCORES, NOTHING

DATASET = drawn(
    {
        "four": (["aabb"], ["abbb"]),  # a: 1 of 2, b: 2 of 3; 1 error
        "half": (["aa--"], ["ac--"]),  # a: 1 of 2; 1 error, c is not in this ground truth
        "huge": (["aaaa"], ["aabb"]),  # a: 2 of 4; 2 errors
        "none": (["----"], ["a---"]),  # no label; 1 error
        "right": (["abc#"], ["abca"]),
        "void": (["####"], ["abca"]),  # no pixel
    },
    3,
)


def test_worked_by_hand() -> None:
    found = ask(DATASET, IMAGE_SCORES)
    samples = found.samples
    assert samples is not None
    assert list(samples.sample_ids) == ["four", "half", "huge", "none", "right", "void"]
    assert samples.columns == {
        "mean_iou": [pytest.approx(7 / 12, abs=1e-15), 0.5, 0.5, None, 1, None],
        "pixel_accuracy": [0.75, 0.75, 0.5, 0.75, 1, None],
        "pixels": [4, 4, 4, 4, 3, 0],
        "errors": [1, 1, 2, 1, 0, 0],
    }
    assert samples.undefined == [None, None, None, NOTHING, None, NOTHING]
    mean, accuracy = found.values
    assert (mean.output, mean.n) == ("mean_iou", 4)
    assert mean.value == pytest.approx((7 / 12 + 0.5 + 0.5 + 1) / 4, abs=1e-15)
    assert (accuracy.output, accuracy.value, accuracy.n) == ("pixel_accuracy", 3.75 / 5, 5)


def test_the_worst_images() -> None:
    examples = ask(DATASET, IMAGE_SCORES, worst=4).examples
    # half and huge are equal, huge has more errors; an image without a mean IoU comes last; right
    # and void have no error.
    assert [(one.kind, one.sample_id, one.value) for one in examples] == [
        ("worst_image", "huge", 0.5),
        ("worst_image", "half", 0.5),
        ("worst_image", "four", pytest.approx(7 / 12, abs=1e-15)),
        ("worst_image", "none", None),
    ]
    assert len(ask(DATASET, IMAGE_SCORES, worst=1).examples) == 1
    assert not ask(DATASET, IMAGE_SCORES, worst=0).examples


def test_equal_images_come_by_their_ids() -> None:
    dataset = drawn({name: (["ab"], ["aa"]) for name in ("b10", "b2", "a")}, 2)
    found = ask(dataset, IMAGE_SCORES, worst=2).examples
    assert [one.sample_id for one in found] == ["a", "b10"]


def test_the_spread() -> None:
    (curve,) = ask(DATASET, IMAGE_SCORES).curves
    assert len(curve.points["quantile"]) == 21
    at = dict(zip(curve.points["quantile"], curve.points["mean_iou"], strict=True))
    # 0.5, 0.5, 7/12, 1 stand at 0, 1/3, 2/3 and 1.
    assert (at[0.0], at[1.0]) == (0.5, 1.0)
    assert at[0.5] == pytest.approx((0.5 + 7 / 12) / 2, abs=1e-15)
    assert curve.points["pixel_accuracy"][0] == 0.5


def test_no_pixel_in_any_image() -> None:
    found = ask(drawn({"one": (["##"], ["aa"]), "two": (["#"], ["a"])}, 1), IMAGE_SCORES)
    assert not found.curves
    assert not found.examples
    assert [(value.value, value.n) for value in found.values] == [(None, 0), (None, 0)]


def test_background_alone_has_an_accuracy_and_no_mean_iou() -> None:
    found = ask(drawn({"one": (["--"], ["a-"])}, 1), IMAGE_SCORES)
    (curve,) = found.curves
    assert set(curve.points["mean_iou"]) == {None}
    assert set(curve.points["pixel_accuracy"]) == {0.5}
    assert numbers(found, "pixel_accuracy") == {None: 0.5}


def test_equals_scikit_learn_image_by_image() -> None:
    dataset = random_maps(12, labels=5)
    samples = ask(dataset, IMAGE_SCORES).samples
    assert samples is not None
    for at in range(dataset.unit_count):
        one = dataset.shard(np.arange(dataset.unit_count) == at)
        truth, prediction, seen, _ = pixels_of(one)
        iou = sklearn().jaccard_score(truth, prediction, average="macro", labels=seen)
        assert samples.columns["mean_iou"][at] == pytest.approx(iou, abs=1e-12)
        right = sklearn().accuracy_score(truth, prediction)
        assert samples.columns["pixel_accuracy"][at] == pytest.approx(right, abs=1e-12)


def test_resamples_have_means_alone() -> None:
    evidence = count_confusions(DATASET, CountingPlan())
    weights = np.array([[0, 3, 0, 1, 0, 2], [0, 0, 0, 0, 0, 6]])
    first, second = (
        findings(again, asked(IMAGE_SCORES))
        for row in weights
        for again in evidence.resamples(row[None])
    )
    assert numbers(first, "mean_iou") == {None: 0.5}
    assert [value.n for value in first.values] == [3, 4]
    assert (first.samples, list(first.curves), list(first.examples)) == (None, [], [])
    assert [value.value for value in second.values] == [None, None]
