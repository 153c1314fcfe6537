"""YAML to RunConfig, whole: any text or tree is a config or a ConfigError; and its JSON Schema."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.config.vocabulary import START, Boxes, Words, load
from valor_cli.config import Gate, Interval, RunConfig, json_schema
from valor_cli.errors import ConfigError


def test_the_environment_and_overrides_reach_the_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEED", "7")
    config = load(
        START + "interval:\n  seed: ${SEED}\n  level: ${LEVEL:-0.9}\nmetrics: [ap]\n",
        'filter."metadata.weather"=rain',
        "data.predictions={a: x.json}",
        "metrics.0={ap: {max_detections: 3}}",
    )
    assert config.interval == Interval(seed=7, level=0.9)
    assert config.filter == {"metadata.weather": ("rain",)}
    assert isinstance(config.data, Boxes)
    assert config.data.predictions == {"a": "x.json"}
    assert config.metrics is not None
    assert config.metrics[0].parameters["max_detections"] == 3


@pytest.mark.parametrize("module", ["numpy", "valor_cli.config.schema"])
def test_what_only_some_need_is_not_imported(module: str) -> None:
    code = f"import sys, valor_cli.config; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


KEYS = ["task", "data", "metrics", "label_map", "filter", "slices", "interval", "gates", "report"]


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["boxes", "coco", "ap", "area", "metadata.a", "area=small", "${A}", "-"]),
)


INNER_KEYS = st.sampled_from(
    ["ap", "area", "metric", "min", "level", "formats", "out", "predictions", "slice", "label"]
)


TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(INNER_KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(tree=st.dictionaries(st.sampled_from(KEYS), TREES, max_size=6))
def test_any_tree_is_a_config_or_a_config_error(tree: dict[str, object]) -> None:
    lines: list[str] = []
    try:
        # JSON with its non-ASCII escaped is YAML, but for NaN, which is text there.
        load(json.dumps({"task": "boxes", **tree}))
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
    assert all(line.isprintable() for line in lines)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=st.text(max_size=80), start=st.sampled_from(["", START]))
def test_any_text_is_a_config_or_a_config_error(text: str, start: str) -> None:
    lines: list[str] = []
    try:
        load(start + text.encode("utf-8", "replace").decode())
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
    assert all(line.isprintable() for line in lines)


LABELS = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters="$"), max_size=8
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    thresholds=st.lists(st.floats(0, 1), min_size=1, max_size=4),
    labels=st.dictionaries(LABELS, LABELS, max_size=4),
    seed=st.integers(0, 2**63),
)
def test_a_valid_config_survives(
    thresholds: list[float], labels: dict[str, str], seed: int
) -> None:
    tree = {
        "task": "boxes",
        "data": {"ground_truth": "a", "predictions": {"m": "b"}},
        "metrics": [{"ap": {"iou_thresholds": thresholds}}],
        "label_map": labels,
        "interval": {"seed": seed},
    }
    config = load(json.dumps(tree, ensure_ascii=False))
    assert config.metrics is not None
    assert config.metrics[0].parameters["iou_thresholds"] == tuple(thresholds)
    assert config.label_map == labels
    assert config.interval == Interval(seed=seed)


def test_the_schema_knows_tasks_metrics_and_slices() -> None:
    schema = json_schema(Words())
    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    fields = set(RunConfig.model_fields) - {"path", "sha256", "options", "notes"}
    assert set(schema["properties"]) == fields | {"matching"}
    assert all("description" in part or "$ref" in part for part in schema["properties"].values())
    assert schema["properties"]["task"]["anyOf"][0] == {"enum": ["boxes", "text"]}
    boxes, text = schema["allOf"]
    assert boxes["if"] == {"properties": {"task": {"const": "boxes"}}, "required": ["task"]}
    inside = boxes["then"]["properties"]
    assert inside["data"] == {"$ref": "#/$defs/Boxes"}
    alone, with_parameters, own, made = inside["metrics"]["items"]["anyOf"]
    assert alone["enum"] == ["coco", "average_precision", "ap"]
    assert with_parameters["properties"]["ap"]["anyOf"][0] == {"$ref": "#/$defs/Average"}
    assert own["required"] == ["python"]
    assert made["properties"] == {"composite": {"$ref": "#/$defs/Composite"}}
    named, own_name = inside["gates"]["items"]["properties"]["metric"]["anyOf"]
    assert (named["enum"], own_name["pattern"]) == (alone["enum"], r"^own\.")
    keys, auto, _, with_values = inside["slices"]["items"]["anyOf"]
    assert keys == {"enum": ["area"]}
    assert auto == {"const": "auto"}
    assert with_values["properties"]["auto"]["anyOf"][0] == {"$ref": "#/$defs/SliceSearch"}
    assert schema["properties"]["slices"]["anyOf"][1] == {"type": "array"}
    # A metric with a required parameter cannot be named alone.
    alone, with_parameters, *_ = text["then"]["properties"]["metrics"]["items"]["anyOf"]
    assert "matching" not in alone["enum"]
    assert with_parameters["properties"]["matching"] == {"$ref": "#/$defs/Matching"}


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    schema = json_schema(Words())
    references: set[str] = set()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            references.update(value for key, value in node.items() if key == "$ref")
        for inner in node.values() if isinstance(node, dict) else node:  # type: ignore[attr-defined]
            if isinstance(inner, dict | list):
                walk(inner)

    walk(schema)
    assert {name.removeprefix("#/$defs/") for name in references} <= set(schema["$defs"])


def test_numbers_of_the_schema_may_come_from_the_environment() -> None:
    schema = json_schema(Words())
    seed = schema["$defs"]["Interval"]["properties"]["seed"]
    assert seed["anyOf"] == [
        {"minimum": 0, "type": "integer"},
        {"$ref": "#/$defs/environment"},
    ]
    assert (seed["default"], seed["description"]) == (0, "Seed of the resampling.")


def test_the_gate_of_the_schema_needs_a_limit() -> None:
    assert Gate.model_json_schema()["anyOf"] == [
        {"required": ["coverage"]},
        {"required": ["metric", "min"]},
        {"required": ["metric", "max"]},
        {"required": ["metric", "max_drop"]},
        {"required": ["metric", "not_worse"]},
    ]
