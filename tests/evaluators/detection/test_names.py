"""What the field calls average precision and recall."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from valor_cli.evaluators.detection.names import measure_named

OVER = "mean_average_precision_over_ious"


@pytest.mark.parametrize(
    "name",
    [
        *("mAP@[.50:.95]", "mAP@[.5:.95]", "mAP@[0.5:0.95]", "AP@[0.50:0.05:0.95]", "mAP@.5:.95"),
        *("AP50:95", "mAP50-95", "AP50-95", "map 50-95", "mAP_50:95"),
    ],
)
def test_over_ious(name: str) -> None:
    found = measure_named(name)
    assert found is not None
    assert (found.metric, found.parameters, found.note) == (OVER, {}, "")


@pytest.mark.parametrize(
    ("name", "iou"),
    [("AP50", 0.5), ("mAP50", 0.5), ("mAP@0.50", 0.5), ("AP@.75", 0.75), ("map@75", 0.75)],
)
def test_at_one_threshold(name: str, iou: float) -> None:
    found = measure_named(name)
    assert found is not None
    assert found.metric == "mean_average_precision"
    assert found.parameters == {"iou_thresholds": [iou]}
    assert found.row == {"iou_threshold": iou}


def test_recall_of_some_detections() -> None:
    found = measure_named("AR@100")
    assert found is not None
    assert (found.metric, found.parameters) == ("mean_average_recall", {"max_detections": 100})


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("AP50", "average_precision"),
        ("AP", "average_precision_over_ious"),
        ("AP@[.50:.95]", "average_precision_over_ious"),
        ("AR@100", "average_recall"),
    ],
)
def test_of_one_label(name: str, metric: str) -> None:
    found = measure_named(name, ("label",))
    assert found is not None
    assert found.metric == metric


@pytest.mark.parametrize(
    ("name", "given", "metric"),
    [("mAP", (), OVER), ("AP", ("max_detections",), OVER), ("mAP", ("iou_thresholds",), None)],
)
def test_alone_it_is_cocos(name: str, given: Collection[str], metric: str | None) -> None:
    found = measure_named(name, given)
    assert (found and found.metric) == metric
    if found:
        assert "as COCO has it" in found.note


@pytest.mark.parametrize("name", ["", "f1", "APsmall", "AP5000", "mAP@[.50:.90]", "AR", "wAP50"])
def test_other_names_are_none_of_these(name: str) -> None:
    assert measure_named(name) is None
