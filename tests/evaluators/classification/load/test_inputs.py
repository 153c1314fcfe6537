"""The `data:` block of classification: the two ways to name files, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from valor_cli.evaluators.classification.load.inputs import ClassificationInputs

TWO_WAYS = "give ground_truth and predictions, or samples where one file holds both"


def error(**block: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        ClassificationInputs.model_validate(block)
    return "\n".join(each["msg"] for each in caught.value.errors())


def test_two_files() -> None:
    inputs = ClassificationInputs(ground_truth="a/gt.csv", predictions="a/resnet.v2.csv.gz")
    assert inputs.models == {"resnet": "a/resnet.v2.csv.gz"}
    assert inputs.format_of("ground_truth") is None


def test_a_file_of_both_sides_per_model() -> None:
    inputs = ClassificationInputs(samples={"small": "s.csv", "large": "l.csv"}, format="jsonl")
    assert list(inputs.models) == ["small", "large"]
    assert inputs.format_of("samples") == "jsonl"


def test_paths_start_at_the_folder_of_the_config() -> None:
    block = {"samples": "s.csv", "images": "pictures", "classes": "classes.txt"}
    inputs = ClassificationInputs.model_validate(block, context={"folder": "/data"})
    assert inputs.models == {"s": "/data/s.csv"}
    assert (inputs.images, inputs.classes) == ("/data/pictures", "/data/classes.txt")


def test_names_of_classes_are_no_paths() -> None:
    block = {"samples": "s.csv", "classes": ("cat", 3, True)}
    inputs = ClassificationInputs.model_validate(block, context={"folder": "/data"})
    assert inputs.classes == ("cat", 3, True)


def test_a_format_per_side() -> None:
    formats = {"ground_truth": "csv", "predictions": "jsonl"}
    block = {"ground_truth": "gt", "predictions": "-", "format": formats}
    inputs = ClassificationInputs.model_validate(block)
    assert inputs.format_of("ground_truth") == "csv"
    assert inputs.format_of("predictions") == "jsonl"
    assert inputs.models == {"stdin": "-"}


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({}, f"no ground_truth and no predictions: {TWO_WAYS}"),
        ({"ground_truth": "gt.csv"}, f"no predictions: {TWO_WAYS}"),
        ({"predictions": {"a": "a.csv"}}, f"no ground_truth: {TWO_WAYS}"),
        (
            {"samples": "s.csv", "ground_truth": "gt.csv"},
            "samples holds both sides: leave out ground_truth",
        ),
        (
            {"samples": "s.csv", "ground_truth": "gt.csv", "predictions": "p.csv"},
            "samples holds both sides: leave out ground_truth and predictions",
        ),
        (
            {"samples": "s.csv", "format": {"predictions": "csv"}},
            "samples holds both sides, so format is one name",
        ),
        (
            {"ground_truth": "-", "predictions": {"a": "a.csv", "b": "-"}},
            "standard input (-) can be one input only; name files for the others",
        ),
        (
            {"samples": "-", "classes": "-"},
            "standard input (-) can be one input only; name files for the others",
        ),
        ({"samples": "s.csv", "classes": ("1", 1)}, "the class '1' is listed twice"),
        ({"samples": "s.csv", "classes": ("a", " ")}, "a class needs a name, found an empty text"),
    ],
)
def test_what_is_refused(block: dict[str, Any], message: str) -> None:
    assert f"Value error, {message}" in error(**block).split("\n")


@pytest.mark.parametrize(
    "block",
    [
        {"samples": {}},
        {"samples": ""},
        {"samples": "s.csv", "classes": ()},
        {"samples": "s.csv", "format": "coco"},
        {"samples": "s.csv", "on_invalid": "ignore"},
        {"samples": "s.csv", "iou": 1},
    ],
)
def test_what_is_no_such_block(block: dict[str, Any]) -> None:
    assert error(**block)
