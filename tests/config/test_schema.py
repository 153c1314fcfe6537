"""The JSON Schema of configs."""

from __future__ import annotations

import json

from tests.config.vocabulary import Words
from valor_cli.config import Gate, RunConfig, json_schema


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
