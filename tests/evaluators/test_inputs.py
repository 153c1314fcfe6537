"""What the `data:` blocks of all wings have in common."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Literal

import pytest
from pydantic import ValidationError

from valor_cli.evaluators.classification.load.inputs import ClassificationInputs
from valor_cli.evaluators.detection.load.inputs import DetectionInputs, Formats
from valor_cli.evaluators.inputs import (
    SideFormats,
    format_given,
    model_paths,
    one_standard_input,
)
from valor_cli.evaluators.segmentation.load.inputs import SegmentationInputs


class Letters(SideFormats[Literal["a", "b"]]):
    """Formats of a wing."""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/resnet.v2.csv.gz", "resnet"),
        ("runs/unet/", "unet"),
        ("runs/detect/yolo11n/labels", "yolo11n"),
        ("-", "stdin"),
        (".hidden", "model"),
        ("..", "model"),
        ("sh/*.csv", "sh"),
        ("runs/unet-*.csv", "unet"),
        ("runs/unet_[0-9].jsonl", "unet"),
        ("runs/unet/part.??.csv", "part"),
        ("unet/**/*.csv", "unet"),
        ("*.csv", "model"),
    ],
)
def test_the_name_of_a_lone_path(path: str, name: str) -> None:
    assert model_paths(path) == {name: path}
    assert DetectionInputs(ground_truth="gt.json", predictions=path).models == {name: path}
    assert ClassificationInputs(samples=path).models == {name: path}
    if path != "-":
        inputs = SegmentationInputs(ground_truth="gt", predictions=path, labels=("a",))
        assert inputs.models == {name: path}


def test_a_file_whose_name_looks_like_a_glob(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run[2]-").mkdir()
    assert model_paths("run[2]-") == {"run[2]-": "run[2]-"}


def test_paths_by_model_are_taken_as_they_are() -> None:
    given = {"b": "x/*.csv", "a": "-"}
    assert list(model_paths(given).items()) == list(given.items())


def test_a_format_for_both_sides_or_for_each() -> None:
    assert format_given(None, "predictions") is None
    assert format_given("a", "predictions") == "a"
    sides = Letters(ground_truth="b")
    assert [format_given(sides, side) for side in ("ground_truth", "predictions")] == ["b", None]
    for wrong in ({"ground_truth": "c"}, {"truth": "a"}):
        with pytest.raises(ValidationError):
            Letters.model_validate(wrong)


def test_formats_can_be_sent_to_other_processes() -> None:
    formats = Formats(ground_truth="coco")
    assert pickle.loads(pickle.dumps(formats)) == formats  # noqa: S301 - our own


def test_one_standard_input() -> None:
    one_standard_input(["-", "a", None])
    with pytest.raises(ValueError, match="can be one input only"):
        one_standard_input(["-", ("x",), "-"])
