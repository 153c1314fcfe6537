"""Which slices there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracles.problems import random_dataset
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import ConfigError
from valor_cli.evaluators.detection.plan import MatchingPlan
from valor_cli.evaluators.detection.shards import match_detections
from valor_cli.metric import Loaded
from valor_cli.pipeline.slices import Slice, resolve_slices


def resolved(folder: Path, slices: str, values: list[Any]) -> list[str]:
    path = folder / "run.yaml"
    path.write_text(
        f"task: object_detection\ndata: {{ground_truth: a, predictions: b}}\nslices: {slices}\n"
    )
    loaded: Loaded[Any] = Loaded({}, {"m": {"light": values}}, (), {}, (), (), {}, {})
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
        part = Slice("metadata.light", value).of(matches, wing, {"light": [1, "1", True, None]})
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
    assert Slice("metadata.night", True).name == "metadata.night=true"
