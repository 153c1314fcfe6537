"""Build the JSON Schema (2020-12) of configs for a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from valor_cli.config.models import AUTO, COMPOSITE, Composite, Gate, Interval, Report, SliceSearch
from valor_cli.config.vocabulary import FILTER_KEYS, Vocabulary
from valor_cli.entry_points import NAME

Schema: TypeAlias = dict[str, Any]
_Named: TypeAlias = Mapping[object, Schema]
"""The reference to each model's own schema."""

_SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
_METADATA = r"^metadata\..+$"
_OWN: Schema = {
    "type": "object",
    "required": ["python"],
    "properties": {
        "python": {
            "type": "string",
            "pattern": rf"^(.+:[^:]+|(?!.*\.py$){NAME.pattern})$",
            "description": "A function of yours: FILE.py:FUNCTION, package.module:FUNCTION, or the "
            "name of an installed package's entry point.",
        },
        "name": {"type": "string", "description": "The metric is own.NAME."},
        "threshold": {"type": ["number", "null"]},
        "when": {
            "type": "object",
            "additionalProperties": {"enum": ["passes", "fails"]},
            "description": "Only for samples that pass, or fail, another metric.",
        },
    },
    "description": "A function of yours as a metric; further keys are its parameters.",
}
_ENVIRONMENT: Schema = {
    "type": "string",
    "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$",
    "description": "A value from the environment, as ${NAME} or ${NAME:-default}.",
}


def config_schema(vocabulary: Vocabulary) -> Schema:
    """The schema of a config: the keys of all tasks, then a condition per task."""
    names = {task: vocabulary.metric_names(task) for task in vocabulary.task_names()}
    models: list[type[BaseModel]] = [Interval, Gate, Report, SliceSearch, Composite]
    for task, metrics in names.items():
        models += [vocabulary.inputs(task), vocabulary.options(task)]
        models += [vocabulary.parameters(task, metric) for metric in metrics.values()]
    references, definitions = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models)]
    )
    named: _Named = {model: reference for (model, _), reference in references.items()}
    options = {
        name: schema
        for task in names
        for name, schema in _options(vocabulary, task, named, definitions).items()
    }
    properties = {**_properties(list(names), named), **options}
    shape = _with_environment({"$defs": definitions["$defs"], "properties": properties})
    shape["$defs"]["environment"] = _ENVIRONMENT
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "valor config",
        "description": "The config of a `valor evaluate` run.",
        "required": ["task", "data"],
        **_mapping(**shape),
        "allOf": [_of_task(vocabulary, task, named) for task in names],
    }


def _options(vocabulary: Vocabulary, task: str, named: _Named, definitions: Schema) -> Schema:
    """The keys that a task adds to the top; which task has which is for `valor` to check."""
    name = named[vocabulary.options(task)]["$ref"].rpartition("/")[2]
    found: Schema = definitions["$defs"][name].get("properties", {})
    return found


def _properties(tasks: Sequence[str], named: _Named) -> Schema:
    """The top-level keys, as far as they are the same for all tasks."""
    one_or_more = {"anyOf": [_SCALAR, _some(_SCALAR)]}
    return {
        "task": {"enum": tasks, "description": "The kind of evaluation."},
        "data": {"type": "object", "description": "The files to read, relative to this one."},
        "metrics": {
            "type": "array",
            "minItems": 1,
            "description": "The metrics to compute; omitted: the task's default set.",
        },
        "label_map": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Map of labels in the files to labels to evaluate.",
        },
        "filter": _mapping(
            properties=dict.fromkeys(FILTER_KEYS, one_or_more),
            patternProperties={_METADATA: one_or_more},
            description="Map of columns to the value, or values, to keep.",
        ),
        "slices": {
            "anyOf": [{"const": AUTO}, {"type": "array"}],
            "description": "Keys to slice by: metadata.NAME, or one the task has; auto searches "
            "for the slices on which a model does worst.",
        },
        "interval": named[Interval],
        "gates": {
            "type": "array",
            "items": {"anyOf": [named[Gate], {"type": "string"}]},
            "description": "Limits that fail the run.",
        },
        "report": named[Report],
    }


def _of_task(vocabulary: Vocabulary, task: str, named: _Named) -> Schema:
    """The condition for one task."""
    alone, bodies = [], {}
    for name, metric in vocabulary.metric_names(task).items():
        model = vocabulary.parameters(task, metric)
        bodies[name] = named[model]
        if not any(field.is_required() for field in model.model_fields.values()):
            alone.append(name)
            bodies[name] = {"anyOf": [named[model], {"type": "null"}]}
    slices = vocabulary.slice_values(task)
    values = {key: _some({"enum": list(known)}) for key, known in slices.items()}
    metadata = {"type": "string", "pattern": _METADATA}
    search = {AUTO: {"anyOf": [named[SliceSearch], {"type": "null"}]}}
    with_values = _one_of({**values, **search}, patternProperties={_METADATA: _some(_SCALAR)})
    keys = [{"enum": list(slices)}, {"const": AUTO}, metadata, with_values]
    entries = [
        {"enum": alone},
        _one_of(bodies),
        _OWN,
        _one_of({COMPOSITE: named[Composite]}),
    ]
    own = {"type": "string", "pattern": r"^own\."}
    gated = {"anyOf": [{"enum": list(bodies)}, own]}
    properties = {
        "data": named[vocabulary.inputs(task)],
        "metrics": {"items": {"anyOf": entries}},
        "slices": {"items": {"anyOf": keys}},
        "gates": {"items": {"properties": {"metric": gated}}},
    }
    condition = {"properties": {"task": {"const": task}}, "required": ["task"]}
    return {"if": condition, "then": {"properties": properties}}


def _mapping(**more: Any) -> Schema:
    return {"type": "object", "additionalProperties": False, **more}


def _one_of(properties: Schema, **more: Any) -> Schema:
    """A mapping of a single key."""
    return _mapping(minProperties=1, maxProperties=1, properties=properties, **more)


def _some(items: Schema) -> Schema:
    """A list that is not empty."""
    return {"type": "array", "minItems": 1, "items": items}


def _with_environment(schema: Any) -> Any:
    """The same schema, with `${NAME}` allowed where it asks for anything but text."""
    if isinstance(schema, list):
        return [_with_environment(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may itself be called "enum" or "type"; its schema is then a mapping.
    closed = isinstance(schema.get("enum"), list) or isinstance(
        schema.get("const"), str | int | float
    )
    if closed or schema.get("type") in ("number", "integer", "boolean"):
        about = {key: schema[key] for key in ("title", "description", "default") if key in schema}
        rest = {key: value for key, value in schema.items() if key not in about}
        return {**about, "anyOf": [rest, {"$ref": "#/$defs/environment"}]}
    return {
        key: value if key in ("default", "examples") else _with_environment(value)
        for key, value in schema.items()
    }
