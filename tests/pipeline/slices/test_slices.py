"""Slices: which there are, the columns and ranges they come from, and which samples are in them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.oracles.problems import random_dataset
from valor_cli import api, catalogue
from valor_cli.config import load_config
from valor_cli.errors import ConfigError
from valor_cli.evaluators.detection.evidence.parameters import MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.metric import Loaded
from valor_cli.pipeline.slices import slices as slicing
from valor_cli.pipeline.slices.columns import slice_columns
from valor_cli.pipeline.slices.slices import (
    Columns,
    Condition,
    Range,
    Slice,
    number_of,
    quartile_ranges,
    resolve_slices,
)
from valor_cli.results import RunResult


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
            matches, wing, Columns({"light": [1, "1", True, None]})
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
    with pytest.raises(ConfigError, match=r"101 values of metadata.light; list at most 100"):
        resolved(tmp_path, f"[{{metadata.light: {[*range(101)]}}}]", list(range(101)))


def test_a_truth_value_reads_as_in_yaml() -> None:
    assert Slice.of_value("metadata.night", True).name == "metadata.night=true"


def test_several_conditions_hold_all_of_a_slice() -> None:
    part = Slice((Condition("metadata.camera", "rear"), Condition("metadata.age", Range(20, 40))))
    assert part.name == "metadata.camera=rear & metadata.age=[20, 40)"
    metadata = {"camera": ["rear", "rear", "front", "rear"], "age": [20, 40, 30, None]}
    units = part.units(Columns(metadata))
    assert units is not None
    assert units.tolist() == [True, False, False, False]
    assert Slice.of_value("area", "small").units(Columns({})) is None


def test_the_order_of_the_units_does_not_matter(tmp_path: Path) -> None:
    assert resolved(tmp_path, "[metadata.light]", ["1", 1, "b", 2]) == resolved(
        tmp_path, "[metadata.light]", [2, "b", 1, "1"]
    )


def test_a_search_is_no_slice_yet(tmp_path: Path) -> None:
    assert resolved(tmp_path, "auto", ["low"]) == []
    assert resolved(tmp_path, "[auto, metadata.light]", ["low"]) == ["metadata.light=low"]


def run(folder: Path, **more: Any) -> RunResult:
    """Four answers, one of them without a language."""
    rows = [
        {"id": n, "response": "a", "references": ["a"], "language": language, "length": n}
        for n, language in enumerate(("de", "fr", None, "de"))
    ]
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = {
        "task": "text_generation",
        "data": {"samples": {"m": str(path)}, "columns": {"sample_id": "id"}},
        "metrics": ["exact_match"],
        "slices": ["metadata.language"],
    }
    return api.evaluate({**config, **more})


def test_the_samples_of_each_slice(tmp_path: Path) -> None:
    (one,) = run(tmp_path).slices
    assert list(one.names) == ["metadata.language=de", "metadata.language=fr"]
    assert [str(name) for name in one.sample_ids] == ["0", "1", "2", "3"]
    assert one.members.tolist() == [[True, False, False, True], [False, True, False, False]]


def test_samples_without_ids_of_their_own_are_in_no_list() -> None:
    cut = Slice.of_value("metadata.light", "low")
    columns = Columns({"light": ["low", "high"]})
    for ids, names in ((np.array(["a", "b"]), ["metadata.light=low"]), (range(2), [])):
        loaded: Loaded[Any] = Loaded(
            {"m": SimpleNamespace(unit_ids=ids)}, metadata={"m": {"light": ["low", "high"]}}
        )
        found = slicing.memberships(loaded, [cut], {"m": columns})
        assert [name for one in found for name in one.names] == names


def test_slices_beyond_what_a_file_may_hold_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicing, "MOST_FLAGS", 7)
    (one,) = run(tmp_path).slices
    assert list(one.names) == ["metadata.language=de"]


def test_runs_without_slices_record_none(tmp_path: Path) -> None:
    assert run(tmp_path, slices=[]).slices == ()


def test_all_columns_by_name_but_that_of_the_clusters() -> None:
    metadata = {"m": {"b": ["x"], "a": ["y"], "patient": ["p"]}}
    assert [one.key for one in slice_columns(metadata, None, "metadata.patient")] == [
        "metadata.a",
        "metadata.b",
    ]
    (only,) = slice_columns(metadata, ["metadata.b"])
    assert only.key == "metadata.b"


def test_what_reads_the_same_is_one_condition() -> None:
    values = [1, "1", True, "true", None, 1.0, "x"]
    (column,) = slice_columns({"m": {"a": values}}, None)
    assert [one.name for one in column.conditions] == [
        "metadata.a=1",
        "metadata.a=true",
        "metadata.a=1.0",
        "metadata.a=x",
    ] or len(column.conditions) == 4
    codes = column.codes({"a": values}).tolist()
    names = [None if code < 0 else column.conditions[code].name for code in codes]
    assert names == [
        "metadata.a=1",
        "metadata.a=1",
        "metadata.a=true",
        "metadata.a=true",
        None,
        "metadata.a=1.0",
        "metadata.a=x",
    ]
    # Conditions hold of the same units that their codes name.
    for at, one in enumerate(column.conditions):
        assert one.units(Columns({"a": values})).tolist() == [code == at for code in codes]


def test_many_numbers_are_cut_at_their_quartiles() -> None:
    values = [*map(str, range(1, 201)), None]
    (column,) = slice_columns({"m": {"age": values}}, None)
    assert [one.name for one in column.conditions] == [
        "metadata.age=[1, 50)",
        "metadata.age=[50, 100)",
        "metadata.age=[100, 150)",
        "metadata.age=[150, 200]",
    ]
    codes = column.codes({"age": values})
    assert (codes[0], codes[48], codes[49], codes[199], codes[200]) == (0, 0, 1, 3, -1)
    for at, one in enumerate(column.conditions):
        assert one.units(Columns({"age": values})).tolist() == (codes == at).tolist()


def test_many_texts_and_long_ones_are_left_out() -> None:
    metadata = {"id": [f"n{at}" for at in range(101)], "text": ["a" * 201] * 101}
    metadata["few"] = ["x"] * 101
    assert [one.key for one in slice_columns({"m": metadata}, None)] == ["metadata.few"]


def test_models_share_their_columns() -> None:
    metadata = {"m": {"a": ["x", "y"]}, "n": {"a": ["z", "x"]}}
    (column,) = slice_columns(metadata, None)
    assert [one.value for one in column.conditions] == ["x", "y", "z"]
    assert column.codes(metadata["n"]).tolist() == [2, 0]


def test_quartiles_are_numbers_that_occur() -> None:
    # Of 1..8 the quarters end with the 2nd, the 4th and the 6th number.
    names = list(map(str, quartile_ranges([8, 1, 5, 3, 7, 2, 6, 4])))
    assert names == ["[1, 2)", "[2, 4)", "[4, 6)", "[6, 8]"]


def test_equal_borders_are_one() -> None:
    assert list(map(str, quartile_ranges([0, 0, 0, 0, 0, 5]))) == ["[0, 5]"]
    assert list(map(str, quartile_ranges([0.25, 0, 0, 0.5]))) == ["[0, 0.25)", "[0.25, 0.5]"]
    assert list(map(str, quartile_ranges([3, 3]))) == ["[3, 3]"]


def test_every_number_is_in_one_range() -> None:
    numbers = [0.1, 0.2, 0.2, 3, 4, 4, 9, 1e9, -7]
    ranges = quartile_ranges(numbers)
    assert [sum(one.holds(number) for one in ranges) for number in numbers] == [1] * 9
    assert str(ranges[-1]).endswith("1000000000]")


def test_the_upper_bound_is_in_the_last_range_alone() -> None:
    assert not Range(1, 2).holds(2)
    assert Range(1, 2, last=True).holds(2)
    assert Range(1, 2).holds("1.5")
    assert not Range(0, 2).holds(True)
    assert not Range(0, 2).holds(None)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        ("3", 3.0),
        ("-.5e1", -5.0),
        (True, None),
        (None, None),
        ("nan", None),
        ("1_000", None),
        ("1e999", None),
        ("٣", None),
        (10**400, None),
        ("9" * 50, None),
        ("", None),
    ],
)
def test_what_is_a_number(value: object, number: float | None) -> None:
    assert number_of(value) == number  # type: ignore[arg-type]
