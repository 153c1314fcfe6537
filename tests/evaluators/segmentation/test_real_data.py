"""Real label maps: the numbers that scikit-learn and numpy have of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.evaluators.segmentation.asking import asked, findings, numbers
from valor_cli.evaluators.segmentation import SEMANTIC_SEGMENTATION
from valor_cli.evaluators.segmentation.evidence.confusions import CountingPlan
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.evaluators.segmentation.load.dataset import load_segmentation
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs
from valor_cli.metric import NoOptions, Selection
from valor_cli.results import Findings

DATA = Path(__file__).parents[2] / "real_data" / "segmentation"
METRICS = {metric.name: metric for metric in SEMANTIC_SEGMENTATION.metrics}


class Names(NamedTuple):
    """Where a set lies, and how its expected.json calls the numbers."""

    folder: str
    mean_iou: str
    mean_accuracy: str
    ignore_index: int | None = None


SETS = {
    "dsb2018-nuclei-a": Names("semantic", "mIoU", "mean_class_accuracy"),
    "coco-panoptic-deeplab": Names(
        "", "mIoU_over_classes_in_gt", "mean_recall_over_classes_in_gt", 255
    ),
}


@pytest.fixture(scope="module", params=SETS)
def case(request: pytest.FixtureRequest) -> tuple[Names, Any, dict[str, Findings]]:
    """Its names, the expected numbers, and what every metric without boundaries says."""
    names = SETS[request.param]
    folder = DATA / request.param / names.folder
    inputs = SegmentationInputs(
        ground_truth=str(folder / "groundtruth"),
        predictions=str(folder / "predictions"),
        labels=str(folder / "classes.json"),
        ignore_index=names.ignore_index,
    )
    (dataset,) = load_segmentation(inputs, NoOptions(), Selection()).datasets.values()
    evidence = count_confusions(dataset, CountingPlan())
    found = {
        name: findings(evidence, asked(metric))
        for name, metric in METRICS.items()
        if not metric.evidence
    }
    expected = json.loads((DATA / request.param / "expected.json").read_text())["semantic"]
    return names, expected, found


def test_numbers_of_each_label(case: tuple[Names, Any, dict[str, Findings]]) -> None:
    _, expected, found = case
    for metric, key in (
        ("iou", "iou"),
        ("precision", "precision"),
        ("recall", "recall"),
        ("f1", "dice_f1"),
    ):
        ours = numbers(found[metric])
        ours.pop(None, None)
        seen = {label: value for label, value in ours.items() if value is not None}
        theirs = {label: one[key] for label, one in expected["per_class"].items()}
        assert seen == pytest.approx(theirs, rel=0, abs=1e-12)


def test_numbers_over_all_labels(case: tuple[Names, Any, dict[str, Findings]]) -> None:
    names, expected, found = case
    ours = {
        metric: numbers(found[metric])[None]
        for metric in ("mean_iou", "pixel_accuracy", "mean_accuracy", "frequency_weighted_iou")
    }
    theirs = {
        "mean_iou": expected[names.mean_iou],
        "pixel_accuracy": expected["pixel_accuracy"],
        "mean_accuracy": expected[names.mean_accuracy],
        "frequency_weighted_iou": expected["frequency_weighted_IoU"],
    }
    assert ours == pytest.approx(theirs, rel=0, abs=1e-12)


def test_the_confusion_matrix(case: tuple[Names, Any, dict[str, Findings]]) -> None:
    _, expected, found = case
    (table,) = found["confusion_matrix"].tables
    assert table.matrix == expected["confusion_matrix_rows_gt_cols_pred"]
    (pixels,) = found["pixel_accuracy"].values
    assert pixels.n == sum(map(sum, table.matrix))
    assert pixels.n == expected.get("pixels_counted", pixels.n)
