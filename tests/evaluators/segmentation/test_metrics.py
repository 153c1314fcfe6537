"""Metrics of label maps: worked by hand, by scikit-learn and valor-lite, and where undefined."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluators.segmentation.asking import (
    METRICS,
    ask,
    asked,
    findings,
    numbers,
    reasons,
)
from tests.oracles.label_map_problems import random_maps
from tests.oracles.segmentation import (
    boundary_pixels,
    by_label,
    drawn,
    pixels_of,
    pooled,
    sklearn,
)
from tests.oracles.valor_lite_segmentation import SEEDS, with_background
from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.evaluators.segmentation.evidence.confusions import (
    NO_GROUND_TRUTH,
    NO_LABEL,
    NO_PREDICTIONS,
    CountingPlan,
    plan_counting,
)
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.evaluators.segmentation.metrics.image_scores import NOTHING
from valor_cli.evaluators.segmentation.metrics.pixel_accuracy import NO_PIXELS
from valor_cli.results import MetricTable

GOLDEN = Path(__file__).parents[2] / "golden" / "segmentation" / "valor-lite.json"

# Pooled over both images: a 4 of 7, b 0 of 2 + 1, c is predicted once and is nowhere, d is
# nowhere at all. The # pixel is not judged; the open one (-) is a missed a.
POOLED = drawn({"one": (["aaab#"], ["aabaa"]), "two": (["aaab"], ["aa-c"])}, 4)
# Right: a, a, background as background; wrong: a called b, background called a, b called
# background, background left open.
OPEN = drawn({"one": (["aaa#"], ["aab#"]), "two": (["--b-#"], ["-a-#a"])}, 2)
# a: 6 in the ground truth, 5 predicted, 4 both; b: 2, 2, 1; c: 2, 0, 0; d: 0, 2, 0; e nowhere.
# The last pixel of "one" is background, as are the first two of "two", both called d or nothing.
FIVE = drawn({"one": (["aaaaaabbcc-"], ["aaaadbab---"]), "two": (["--#"], ["-dd"])}, 5)


@pytest.mark.parametrize(
    ("name", "parameters", "dataset", "expected", "n"),
    [
        ("iou", {}, POOLED, {"a": 4 / 7, "b": 0.0, "c": None, "d": None}, [6, 2, 0, 0]),
        # Background: a: 2 right, 1 missed for it, 1 invented on it.
        ("iou", {}, drawn({"one": (["aaa--"], ["aa-a-"])}, 1), {"a": 2 / 4}, [3]),
        ("mean_iou", {}, POOLED, {None: (4 / 7 + 0) / 2}, [8]),
        ("frequency_weighted_iou", {}, POOLED, {None: (6 * 4 / 7 + 2 * 0) / 8}, [8]),
        # a: 3 of 4; b: 0 of 1; c is predicted only; background is no label.
        (
            "mean_accuracy",
            {},
            drawn({"one": (["aaaab--"], ["aaacaa-"])}, 3),
            {None: (3 / 4 + 0) / 2},
            [5],
        ),
        ("pixel_accuracy", {}, OPEN, {None: 3 / 7}, [7]),
        # One pixel wide. a: 14 and 12 boundary pixels, 9 in both; b: 10 and 12, 7 in both; the
        # second image has 5 more of a on both sides. c has no ground truth.
        (
            "boundary_iou",
            {},
            drawn({"one": (["aaaabb"] * 5, ["aaabbb"] * 5), "two": (["aaaaa-"], ["aaaaac"])}, 3),
            {"a": 14 / 22, "b": 7 / 15, "c": None, None: (14 / 22 + 7 / 15) / 2},
            [25, 10, 0, 35],
        ),
        *(
            (name, {"average": "macro"}, FIVE, {**each, None: mean}, [6, 2, 2, 0, 0, 10])
            for name, each, mean in (
                (
                    "precision",
                    {"a": 4 / 5, "b": 1 / 2, "c": 0.0, "d": 0.0, "e": None},
                    (4 / 5 + 1 / 2 + 0) / 3,
                ),
                (
                    "recall",
                    {"a": 4 / 6, "b": 1 / 2, "c": 0.0, "d": None, "e": None},
                    (4 / 6 + 1 / 2 + 0) / 3,
                ),
                (
                    "f1",
                    {"a": 8 / 11, "b": 2 / 4, "c": 0.0, "d": None, "e": None},
                    (8 / 11 + 1 / 2 + 0) / 3,
                ),
            )
        ),
    ],
)
def test_worked_by_hand(
    name: str,
    parameters: Mapping[str, Any],
    dataset: SegmentationDataset,
    expected: Mapping[str | None, float | None],
    n: list[int],
) -> None:
    found = ask(dataset, name, **parameters)
    assert numbers(found) == pytest.approx(expected, abs=1e-15)
    assert [value.n for value in found.values] == n


@pytest.mark.parametrize(
    ("name", "parameters", "mean"),
    [
        ("precision", {"average": "micro"}, 5 / 7),
        ("recall", {"average": "micro"}, 5 / 10),
        ("f1", {"average": "micro"}, 10 / 17),
        ("precision", {"average": "weighted"}, (6 * 4 / 5 + 2 * 1 / 2 + 2 * 0) / 10),
    ],
)
def test_averages_worked_by_hand(name: str, parameters: Mapping[str, Any], mean: float) -> None:
    assert numbers(ask(FIVE, name, **parameters))[None] == pytest.approx(mean, abs=1e-15)


def test_zero_division_stands_in_for_labels_never_predicted() -> None:
    for name in ("precision", "f1"):
        assert numbers(ask(FIVE, name, zero_division=1.0))["c"] == 1.0
    found = ask(FIVE, "precision", zero_division=1.0)
    assert numbers(found)["d"] == 0.0
    never = {"c": NO_PREDICTIONS, "e": NO_GROUND_TRUTH}
    assert reasons(found) == {"a": None, "b": None, "d": None, None: None, **never}


BACKGROUND = drawn({"one": (["-#-"], ["aa-"])}, 1)
NO_PIXEL = drawn({"one": (["##"], ["ab"])}, 2)
OPEN_ALONE = drawn({"one": (["aab"], ["---"])}, 2)


@pytest.mark.parametrize(
    ("name", "parameters", "dataset", "expected"),
    [
        *(
            (name, {}, BACKGROUND, (None, NO_LABEL, 0))
            for name in (
                *("mean_iou", "frequency_weighted_iou", "mean_accuracy", "boundary_iou"),
                *("precision", "recall", "f1"),
            )
        ),
        ("iou", {}, POOLED, (None, NO_GROUND_TRUTH, 0)),
        ("pixel_accuracy", {}, NO_PIXEL, (None, NO_PIXELS, 0)),
        *(
            (name, {"zero_division": 0.5}, OPEN_ALONE, (0.5, NO_PREDICTIONS, 3))
            for name in ("precision", "f1")
        ),
        ("recall", {}, OPEN_ALONE, (0.0, None, 3)),
    ],
)
def test_undefined(
    name: str, parameters: Mapping[str, Any], dataset: SegmentationDataset, expected: Any
) -> None:
    value = ask(dataset, name, **parameters).values[-1]
    assert (value.value, value.undefined, value.n) == expected


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true:UserWarning")
@pytest.mark.parametrize("labels", [3, 6, 40])
def test_values_over_all_labels_equal_scikit_learns(labels: int) -> None:
    # Of 40 labels not all occur in the ground truth.
    dataset = random_maps(labels, images=2, labels=labels)
    truth, prediction, seen, _ = pixels_of(dataset)
    assert labels < 40 or len(seen) < labels
    jaccard = sklearn().jaccard_score
    expected: dict[str, float] = {
        "mean_iou": jaccard(truth, prediction, average="macro", labels=seen),
        "frequency_weighted_iou": jaccard(truth, prediction, average="weighted", labels=seen),
        "mean_accuracy": sklearn().balanced_accuracy_score(truth, prediction),
        "pixel_accuracy": sklearn().accuracy_score(truth, prediction),
    }
    found = {name: numbers(ask(dataset, name))[None] for name in expected}
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_values_of_labels_equal_scikit_learns(average: str) -> None:
    dataset = random_maps(5, labels=5)
    truth, prediction, _, labels = pixels_of(dataset)
    ious = sklearn().jaccard_score(truth, prediction, average=None, labels=labels)
    assert numbers(ask(dataset, "iou")) == pytest.approx(by_label(dataset, ious), abs=1e-12)
    score = sklearn().precision_recall_fscore_support
    each = score(truth, prediction, labels=labels, zero_division=0)
    together = score(truth, prediction, labels=labels, average=average, zero_division=0)
    for name, column, mean in zip(("precision", "recall", "f1"), each, together, strict=False):
        expected = {**by_label(dataset, column), None: mean}
        own = numbers(ask(dataset, name, average=average))
        assert own == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ratio", [0.02, 0.06])
def test_boundaries_are_erosions_of_single_masks(ratio: float) -> None:
    dataset = random_maps(9, images=5, labels=3)
    expected = {}
    for number, label in enumerate(dataset.labels):
        both = either = 0
        for name in dataset.sample_ids:
            pair = dataset.read(name)
            reach = max(1, round(ratio * math.hypot(*pair.truth.shape)))
            truth, prediction, shared = boundary_pixels(pair, number, reach)
            both, either = both + shared, either + truth + prediction - shared
        expected[label] = both / either
    found = numbers(ask(dataset, "boundary_iou", dilation_ratio=ratio))
    mean = found.pop(None)
    assert found == expected
    assert mean == pytest.approx(sum(expected.values()) / 3, abs=1e-12)
    # A boundary as wide as the image gives IoU.
    edges = numbers(ask(dataset, "boundary_iou", dilation_ratio=1.0))
    assert {label: edges[label] for label in expected} == numbers(ask(dataset, "iou"))


def test_boundaries_of_one_run_do_not_mix() -> None:
    dataset = random_maps(10, images=3)
    calls = [asked("boundary_iou", dilation_ratio=ratio) for ratio in (0.1, 0.02)]
    plan = plan_counting([*calls, asked("iou"), calls[0]], [])
    assert plan == CountingPlan((0.02, 0.1))
    evidence = count_confusions(dataset, plan)
    for call in calls:
        assert findings(evidence, call) == ask(dataset, "boundary_iou", **call.parameters)
    assert plan_counting([asked("iou")], []) == CountingPlan()


# ---- the confusion matrix


def table_of(dataset: SegmentationDataset) -> MetricTable:
    (table,) = ask(dataset, "confusion_matrix").tables
    return table


def test_confusion_matrix_worked_by_hand() -> None:
    # a: 3 right, 1 called b, 1 called background; b: 1 called a; background: 2 right, 1 called c.
    dataset = drawn({"one": (["aaaaab###"], ["aaab-aabc"]), "two": (["---"], ["--c"])}, 4)
    assert table_of(dataset) == MetricTable(
        ("a", "b", "c", "d"),
        [[3, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        [1, 0, 0, 0],
        [0, 0, 1, 0],
        # Ground truth: a 5, b 1; predicted: a 4, b 1, c 1; d is on no side.
        ious=[
            [3 / (5 + 4 - 3), 1 / (5 + 1 - 1), 0.0, 0.0],
            [1 / (1 + 4 - 1), 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, None],
            [0.0, 0.0, 0.0, None],
        ],
        unmatched_ground_truth_ratios=[1 / 5, 0.0, None, None],
        unmatched_prediction_ratios=[0.0, 0.0, 1 / 1, None],
    )
    assert not ask(NO_PIXEL, "confusion_matrix").tables


@pytest.mark.parametrize("seed", range(3))
def test_every_pixel_is_in_one_cell(seed: int) -> None:
    dataset = with_background(random_maps(seed, labels=4))
    table, total = table_of(dataset), pooled(dataset)
    count = len(dataset.labels)
    assert table.matrix == [
        [total[truth, prediction] for prediction in range(count)] for truth in range(count)
    ]
    assert table.unmatched_ground_truths == [total[truth, count] for truth in range(count)]
    assert table.unmatched_predictions == [total[count, found] for found in range(count)]


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text())["cases"], ids=str)
def test_the_confusion_matrix_equals_valor_lites(case: dict[str, Any]) -> None:
    """Undefined ratios and IoUs are 0 there and None here."""
    assert case["seed"] in SEEDS
    table = table_of(with_background(random_maps(case["seed"], labels=6)))
    assert list(table.labels) == case["labels"]
    for ours, theirs in (
        (table.ious, case["ious"]),
        (table.unmatched_ground_truth_ratios, case["unmatched_ground_truth_ratios"]),
        (table.unmatched_prediction_ratios, case["unmatched_prediction_ratios"]),
    ):
        filled = np.nan_to_num(np.array(ours, float), nan=0.0)
        np.testing.assert_allclose(filled, np.array(theirs), rtol=0, atol=1e-12)


# ---- scores of single images

IMAGES = drawn(
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


def test_image_scores_worked_by_hand() -> None:
    found = ask(IMAGES, "image_scores")
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
    (curve,) = found.curves
    assert len(curve.points["quantile"]) == 21
    at = dict(zip(curve.points["quantile"], curve.points["mean_iou"], strict=True))
    # 0.5, 0.5, 7/12, 1 stand at 0, 1/3, 2/3 and 1.
    assert (at[0.0], at[1.0]) == (0.5, 1.0)
    assert at[0.5] == pytest.approx((0.5 + 7 / 12) / 2, abs=1e-15)
    assert curve.points["pixel_accuracy"][0] == 0.5


def test_the_worst_images() -> None:
    examples = ask(IMAGES, "image_scores", worst=4).examples
    # half and huge are equal, huge has more errors; an image without a mean IoU comes last; right
    # and void have no error.
    assert [(one.kind, one.sample_id, one.value) for one in examples] == [
        ("worst_image", "huge", 0.5),
        ("worst_image", "half", 0.5),
        ("worst_image", "four", pytest.approx(7 / 12, abs=1e-15)),
        ("worst_image", "none", None),
    ]
    equal = drawn({name: (["ab"], ["aa"]) for name in ("b10", "b2", "a")}, 2)
    found = ask(equal, "image_scores", worst=2).examples
    assert [one.sample_id for one in found] == ["a", "b10"]
    assert not ask(IMAGES, "image_scores", worst=0).examples


def test_images_without_pixels_or_without_labels() -> None:
    found = ask(drawn({"one": (["##"], ["aa"]), "two": (["#"], ["a"])}, 1), "image_scores")
    assert (list(found.curves), list(found.examples)) == ([], [])
    assert [(value.value, value.n) for value in found.values] == [(None, 0), (None, 0)]
    found = ask(drawn({"one": (["--"], ["a-"])}, 1), "image_scores")
    (curve,) = found.curves
    assert set(curve.points["mean_iou"]) == {None}
    assert set(curve.points["pixel_accuracy"]) == {0.5}
    assert numbers(found, "pixel_accuracy") == {None: 0.5}


def test_image_scores_are_those_of_each_image_alone() -> None:
    dataset = random_maps(12, labels=5)
    samples = ask(dataset, "image_scores").samples
    assert samples is not None
    for at in range(dataset.unit_count):
        one = dataset.shard(np.arange(dataset.unit_count) == at)
        for name in ("mean_iou", "pixel_accuracy"):
            alone = numbers(ask(one, name))[None]
            assert samples.columns[name][at] == pytest.approx(alone, abs=1e-12)


def test_resamples_have_means_alone() -> None:
    evidence = count_confusions(IMAGES, CountingPlan())
    weights = np.array([[0, 3, 0, 1, 0, 2], [0, 0, 0, 0, 0, 6]])
    first, second = (
        findings(again, asked("image_scores"))
        for row in weights
        for again in evidence.resamples(row[None])
    )
    assert numbers(first, "mean_iou") == {None: 0.5}
    assert [value.n for value in first.values] == [3, 4]
    assert (first.samples, list(first.curves), list(first.examples)) == (None, [], [])
    assert [value.value for value in second.values] == [None, None]


def test_every_metric_is_here() -> None:
    assert set(METRICS) == {
        *("iou", "mean_iou", "frequency_weighted_iou", "mean_accuracy", "pixel_accuracy"),
        *("boundary_iou", "precision", "recall", "f1", "confusion_matrix", "image_scores"),
    }
