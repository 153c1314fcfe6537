"""The `data:` block of text generation: what it takes, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from valor_cli.evaluators.text_generation.inputs import TextInputs


def test_paths_start_from_the_folder_of_the_config(tmp_path: Path) -> None:
    block = {"samples": "a.jsonl", "artifacts": "out"}
    inputs = TextInputs.model_validate(block, context={"folder": str(tmp_path)})
    assert inputs.models == {"a": str(tmp_path / "a.jsonl")}
    assert inputs.artifacts == str(tmp_path / "out")


def test_the_ground_truth_is_read_first_and_is_no_model() -> None:
    inputs = TextInputs(ground_truth="right.json", predictions={"x": "a.json"})
    assert inputs.models == {"x": "a.json"}
    assert list(inputs.files.items()) == [("ground truth", "right.json"), ("x", "a.json")]


def test_models_are_named_by_the_map() -> None:
    assert TextInputs(samples={"x": "a.jsonl", "y": "-"}).models == {"x": "a.jsonl", "y": "-"}


@pytest.mark.parametrize(
    "block",
    [
        {},
        {"samples": {}},
        {"samples": ""},
        {"samples": ["a.jsonl"]},
        {"samples": {"x": "-", "y": "-"}},
        {"samples": "a", "format": "feather"},
        {"samples": "a", "on_invalid": "ignore"},
        {"samples": "a", "ground_truth": "b"},
        {"samples": "a", "predictions": "b"},
        {"ground_truth": "a"},
        {"predictions": "a"},
        {"ground_truth": "-", "predictions": "-"},
        {"ground_truth": "a", "predictions": {}},
        {"ground_truth": "a", "predictions": {"ground truth": "b"}},
        {"samples": "a", "columns": {"response": 3}},
    ],
)
def test_other_blocks_are_refused(block: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TextInputs.model_validate(block)
