"""Boundary IoU: worked by hand, and erosions of one mask after the other."""

from __future__ import annotations

import math

import pytest

from tests.evaluators.segmentation.asking import ask, asked, findings, numbers
from tests.oracles.label_map_problems import random_maps
from tests.oracles.segmentation import boundary_pixels, drawn
from valor_cli.evaluators.segmentation.evidence.confusions import (
    NO_GROUND_TRUTH,
    CountingPlan,
    plan_counting,
)
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.evaluators.segmentation.metrics.boundary_iou import BOUNDARY_IOU
from valor_cli.evaluators.segmentation.metrics.iou import IOU


def test_worked_by_hand() -> None:
    # One pixel wide. a: 14 and 12 boundary pixels, 9 in both; b: 10 and 12, 7 in both; the second
    # image has 5 more of a on both sides. c has no ground truth.
    dataset = drawn({"one": (["aaaabb"] * 5, ["aaabbb"] * 5), "two": (["aaaaa-"], ["aaaaac"])}, 3)
    found = ask(dataset, BOUNDARY_IOU)
    a, b = (9 + 5) / (14 + 12 - 9 + 5), 7 / (10 + 12 - 7)
    assert numbers(found) == {"a": a, "b": b, "c": None, None: (a + b) / 2}
    assert [(value.n, value.undefined) for value in found.values] == [
        (25, None),
        (10, None),
        (0, NO_GROUND_TRUTH),
        (35, None),
    ]


@pytest.mark.parametrize("ratio", [0.02, 0.06])
def test_equals_erosions_of_single_masks(ratio: float) -> None:
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
    found = numbers(ask(dataset, BOUNDARY_IOU, dilation_ratio=ratio))
    mean = found.pop(None)
    assert found == expected
    assert mean == pytest.approx(sum(expected.values()) / 3, abs=1e-12)


def test_widths_of_one_run_do_not_mix() -> None:
    dataset = random_maps(10, images=3)
    calls = [asked(BOUNDARY_IOU, dilation_ratio=ratio) for ratio in (0.1, 0.02)]
    plan = plan_counting([*calls, asked(IOU), calls[0]], [])
    assert plan == CountingPlan((0.02, 0.1))
    evidence = count_confusions(dataset, plan)
    for call in calls:
        alone = ask(dataset, BOUNDARY_IOU, **call.parameters)
        assert findings(evidence, call) == alone
    assert plan_counting([asked(IOU)], []) == CountingPlan()


def test_a_boundary_as_wide_as_the_image_gives_iou() -> None:
    dataset = random_maps(11)
    edges, whole = (
        numbers(ask(dataset, BOUNDARY_IOU, dilation_ratio=1.0)),
        numbers(ask(dataset, IOU)),
    )
    edges.pop(None)
    assert edges == whole
