"""Which slices there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracles.problems import random_dataset
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import ConfigError
from valor_cli.evaluators.detection.evidence.parameters import MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.metric import Loaded
from valor_cli.pipeline.slices.quartiles import Range
from valor_cli.pipeline.slices.slices import Condition, Slice, resolve_slices


def resolved(folder: Path, slices: str, values: list[Any]) -> list[str]:
    path = folder / "run.yaml"
    path.write_text(
        f"task: object_detection\ndata: {{ground_truth: a, predictions: b}}\nslices: {slices}\n"
    )
    loaded: Loaded[Any] = Loaded({}, metadata={"m": {"light": values}})
    wings = catalogue.task("object_detection").wings
    return [part.name for part in resolve_slices(load_config(path, catalogue), wings, loaded)]


def test_every_value_that_occurs_is_a_slice(tmp_path: Path) -> None:
    names = resolved(tmp_path, "[metadata.light]", ["low", None, "high", "low"])
    assert names == ["metadata.light=high", "metadata.light=low"]
    assert resolved(tmp_path, "[metadata.light]", [10, 2, True, 1]) == [
        "metadata.light=true",
        "metadata.light=1",
        "metadata.light=2",
        "metadata.light=10",
    ]


def test_values_that_read_the_same_are_the_same_slice(tmp_path: Path) -> None:
    assert len(resolved(tmp_path, "[metadata.light]", [1, "1"])) == 1
    matches = match_detections(random_dataset(0, images=4), MatchingPlan())
    wing = catalogue.task("object_detection").wings[0]
    for value in (1, "1"):
        part = Slice.of_value("metadata.light", value).of(
            matches, wing, {"light": [1, "1", True, None]}
        )
        assert part is not None
        assert part.unit_count == 2


def test_values_can_be_named(tmp_path: Path) -> None:
    names = resolved(tmp_path, "[{metadata.light: [low]}, {area: [small]}]", ["low", "high"])
    assert names == ["metadata.light=low", "area=small"]


def test_a_value_that_does_not_occur(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no metadata.light is 'lo' .did you mean 'low'.."):
        resolved(tmp_path, "[{metadata.light: [lo]}]", ["low"])


def test_a_column_with_too_many_values(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"metadata.light has 101 values; list the ones"):
        resolved(tmp_path, "[metadata.light]", list(range(101)))


def test_a_truth_value_reads_as_in_yaml() -> None:
    assert Slice.of_value("metadata.night", True).name == "metadata.night=true"


def test_several_conditions_hold_all_of_a_slice() -> None:
    part = Slice((Condition("metadata.camera", "rear"), Condition("metadata.age", Range(20, 40))))
    assert part.name == "metadata.camera=rear & metadata.age=[20, 40)"
    metadata = {"camera": ["rear", "rear", "front", "rear"], "age": [20, 40, 30, None]}
    units = part.units(metadata)
    assert units is not None
    assert units.tolist() == [True, False, False, False]
    assert Slice.of_value("area", "small").units({}) is None


def test_the_order_of_the_units_does_not_matter(tmp_path: Path) -> None:
    assert resolved(tmp_path, "[metadata.light]", ["1", 1, "b", 2]) == resolved(
        tmp_path, "[metadata.light]", [2, "b", 1, "1"]
    )


def test_a_search_is_no_slice_yet(tmp_path: Path) -> None:
    assert resolved(tmp_path, "auto", ["low"]) == []
    assert resolved(tmp_path, "[auto, metadata.light]", ["low"]) == ["metadata.light=low"]
