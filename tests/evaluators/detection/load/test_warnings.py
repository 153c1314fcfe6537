"""Boxes that look like something else are told of; numbers are what they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from valor_cli import evaluate

SAMPLES = ROOT / "sample_data" / "object_detection"
SIZES = {
    image["id"]: (image["width"], image["height"])
    for image in json.loads((SAMPLES / "ground_truth.json").read_text())["images"]
}

Box = list[float]


def told(folder: Path, changed: Callable[[Box, int], Box], most: int = 1_000) -> list[str]:
    """What is warned of where every box of a model is written in another way."""
    found = json.loads((SAMPLES / "large.json").read_text())[:most]
    for one in found:
        one["bbox"] = changed(one["bbox"], one["image_id"])
    (folder / "changed.json").write_text(json.dumps(found))
    truth = SAMPLES / "ground_truth.json"
    data = {"ground_truth": truth, "predictions": {"odd": folder / "changed.json"}}
    config = {"task": "object_detection", "data": data, "metrics": ["counts"]}
    return [warning for warning in evaluate(config).warnings if " box of odd" in warning]


def corners(box: Box, image: int) -> Box:
    x, y, width, height = box
    return [x, y, x + width, y + height]


def fractions(box: Box, image: int) -> Box:
    return [part / side for part, side in zip(box, SIZES[image] * 2, strict=True)]


def as_they_are(box: Box, image: int) -> Box:
    return box


@pytest.mark.parametrize(
    ("changed", "most", "expected"),
    [
        (corners, 1_000, ["are these x1, y1, x2 and y2?"]),
        (fractions, 1_000, ["are these fractions of the image?"]),
        # Right boxes and few ones are not spoken of.
        (as_they_are, 1_000, []),
        (corners, 4, []),
        (fractions, 4, []),
    ],
)
def test_boxes_in_another_form(
    tmp_path: Path, changed: Callable[[Box, int], Box], most: int, expected: list[str]
) -> None:
    assert [one.rpartition(": ")[2] for one in told(tmp_path, changed, most)] == expected
