"""The confusion matrix of pixels: worked by hand, its sums, and valor-lite's stored numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluators.segmentation.asking import ask
from tests.oracles.label_map_problems import random_maps
from tests.oracles.segmentation import drawn, pooled
from tests.oracles.valor_lite_segmentation import SEEDS, with_background
from valor_cli.evaluators.segmentation.metrics.confusion_matrix import CONFUSION_MATRIX
from valor_cli.results import MetricTable

GOLDEN = Path(__file__).parents[3] / "golden" / "segmentation" / "valor-lite.json"


def table_of(dataset: Any) -> MetricTable:
    (table,) = ask(dataset, CONFUSION_MATRIX).tables
    return table


def test_worked_by_hand() -> None:
    # a: 3 right, 1 called b, 1 called background; b: 1 called a; background: 2 right, 1 called c.
    dataset = drawn({"one": (["aaaaab###"], ["aaab-aabc"]), "two": (["---"], ["--c"])}, 4)
    table = table_of(dataset)
    assert table == MetricTable(
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


def test_no_pixel_that_counts_gives_no_table() -> None:
    assert not ask(drawn({"one": (["##"], ["ab"])}, 2), CONFUSION_MATRIX).tables


@pytest.mark.parametrize("seed", range(3))
def test_every_pixel_is_counted_once(seed: int) -> None:
    dataset = with_background(random_maps(seed, labels=4))
    table, total = table_of(dataset), pooled(dataset)
    count = len(dataset.labels)
    assert table.matrix == [
        [total[truth, prediction] for prediction in range(count)] for truth in range(count)
    ]
    assert table.unmatched_ground_truths == [total[truth, count] for truth in range(count)]
    assert table.unmatched_predictions == [total[count, found] for found in range(count)]


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text())["cases"], ids=str)
def test_equals_valor_lite(case: dict[str, Any]) -> None:
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
