"""What the field calls average precision and recall."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from valor_cli.evaluators.detection.names import measure_named

OVER = "mean_average_precision_over_ious"


@pytest.mark.parametrize(
    ("name", "of", "metric", "parameters"),
    [
        *(
            (name, (), OVER, {})
            for name in (
                *("mAP@[.50:.95]", "mAP@[.5:.95]", "mAP@[0.5:0.95]", "AP@[0.50:0.05:0.95]"),
                *("mAP@.5:.95", "AP50:95", "mAP50-95", "AP50-95", "map 50-95", "mAP_50:95"),
            )
        ),
        *(
            (name, (), "mean_average_precision", {"iou_thresholds": [iou]})
            for name, iou in (
                *(("AP50", 0.5), ("mAP50", 0.5), ("mAP@0.50", 0.5)),
                *(("AP@.75", 0.75), ("map@75", 0.75)),
            )
        ),
        ("AR@100", (), "mean_average_recall", {"max_detections": 100}),
        ("AP50", ("label",), "average_precision", {"iou_thresholds": [0.5]}),
        ("AP", ("label",), "average_precision_over_ious", {}),
        ("AP@[.50:.95]", ("label",), "average_precision_over_ious", {}),
        ("AR@100", ("label",), "average_recall", {"max_detections": 100}),
        # Alone it is COCO's.
        ("mAP", (), OVER, {}),
        ("AP", ("max_detections",), OVER, {}),
    ],
)
def test_a_measure(
    name: str, of: Collection[str], metric: str, parameters: Mapping[str, Any]
) -> None:
    found = measure_named(name, of)
    assert found is not None
    assert (found.metric, found.parameters) == (metric, parameters)
    ious = parameters.get("iou_thresholds")
    assert found.row == ({"iou_threshold": ious[0]} if ious else parameters)
    assert ("as COCO has it" in found.note) == (name in ("mAP", "AP"))
    assert bool(found.note) == (name in ("mAP", "AP"))


@pytest.mark.parametrize(
    ("name", "of"),
    [
        *((name, ()) for name in ("", "f1", "APsmall", "AP5000", "mAP@[.50:.90]", "AR", "wAP50")),
        ("mAP", ("iou_thresholds",)),
    ],
)
def test_other_names_are_none_of_these(name: str, of: Collection[str]) -> None:
    assert measure_named(name, of) is None
