"""The records of results.py in; the JSON Schema of results.json, and what does not fit it, out."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Mapping as MappingType
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from valor_cli.results import (
    SCHEMA_VERSION,
    ExampleResult,
    GateResult,
    InputFile,
    MetricResult,
    RunInfo,
    RunResult,
    TableResult,
)

Schema = dict[str, Any]

_SIMPLE = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (types.NoneType,),
    "array": (list,),
    "object": (dict,),
}
_COUNT: Schema = {"type": "integer"}
_RATIO: Schema = {"type": ["number", "null"]}

RUN_EXTRAS: Mapping[str, Schema] = {
    "calls": {"type": "integer"},
    "tokens": {"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
    "cost_usd": {"type": ["number", "null"]},
    "saved_usd": {"type": ["number", "null"]},
}
"""What the file's `run` says beside RunInfo: sums of its usage."""

ADDED: Mapping[type, tuple[str, ...]] = {
    TableResult: ("ious", "unmatched_ground_truth_ratios", "unmatched_prediction_ratios"),
    ExampleResult: ("texts", "reason", "verdicts"),
    RunInfo: ("usage", "stopped", "stopped_by", "saved_usd"),
    InputFile: ("left_out",),
    RunResult: ("coverage", "agreements", "prompts", "intervals", "comparisons", "searches"),
    MetricResult: ("method", "caution"),
    GateResult: ("gate",),
}
"""By record, keys that earlier versions did not write; a file without them has none of that."""

ORDER = (
    "schema_version",
    "task",
    "models",
    "primary",
    "data",
    "settings",
    "prompts",
    "intervals",
    "run",
    "metrics",
    "comparisons",
    "searches",
    "coverage",
    "agreements",
    "curves",
    "tables",
    "examples",
    "problems",
    "insights",
    "gates",
    "warnings",
    "missing_prediction_labels",
    "ignored_prediction_labels",
)
"""The keys of the file, in its order."""


def results_schema() -> Schema:
    """The JSON Schema of results.json, made from the records that fill it."""
    whole = _of(RunResult)
    run = whole["properties"]["run"]
    run["properties"] |= RUN_EXTRAS
    run["required"] += [name for name in RUN_EXTRAS if name not in ADDED[RunInfo]]
    for name in ("samples", "resamples", "texts"):
        del whole["properties"][name]
    properties = {**whole["properties"], "schema_version": {"const": SCHEMA_VERSION}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "valor results.json",
        "description": "One evaluation: a row per value, curves as columns of equal length.",
        "type": "object",
        "properties": {name: properties[name] for name in ORDER},
        "required": [name for name in ORDER if name not in ADDED[RunResult]],
        "additionalProperties": False,
    }


def misfits(value: Any, schema: Schema, place: str = "") -> Iterator[tuple[str, str]]:
    """Where a document leaves the schema and how: (place, message), in document order."""
    if not schema:
        return  # anything fits
    if "const" in schema or "enum" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        if not any(value == one and type(value) is type(one) for one in allowed):
            yield place, f"expected {' or '.join(map(repr, allowed))}, got {_shown(value)}"
        return
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield place, f"expected {' or '.join(kinds)}, got {_shown(value)}"
    elif isinstance(value, list):
        yield from _list_misfits(value, schema, place)
    elif isinstance(value, dict):
        yield from _object_misfits(value, schema, place)


def _list_misfits(value: list[Any], schema: Schema, place: str) -> Iterator[tuple[str, str]]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not least <= len(value) <= most:
        yield place, f"expected {least} items, got {len(value)}"
        return
    first: Sequence[Schema] = schema.get("prefixItems", ())
    for index, (item, one) in enumerate(zip(value, first, strict=False)):
        yield from misfits(item, one, _join(place, str(index)))
    items = schema.get("items", {})
    # A matrix of many labels has a million of them.
    if items == _COUNT and set(map(type, value)) <= {int}:
        return
    if items == _RATIO and set(map(type, value)) <= {int, float, types.NoneType}:
        return
    for index, item in enumerate(value):
        yield from misfits(item, items, _join(place, str(index)))


def _object_misfits(value: dict[str, Any], schema: Schema, place: str) -> Iterator[tuple[str, str]]:
    known: Schema = schema.get("properties", {})
    rest = schema.get("additionalProperties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield _join(place, name), "missing"
    for name, item in value.items():
        if name in known:
            yield from misfits(item, known[name], _join(place, name))
        elif rest is False:
            yield _join(place, name), "no such key in this schema version"
        else:
            yield from misfits(item, rest, _join(place, name))


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _is(value: object, kind: str) -> bool:
    # JSON true is no number, though Python's is.
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _of(hint: Any) -> Schema:
    """The schema of a type as the records declare it."""
    if hint is Any:
        return {}
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _union([_of(argument) for argument in arguments])
    if origin is MappingType:
        return {"type": "object", "additionalProperties": _of(arguments[1])}
    if origin is tuple:
        size = len(arguments)
        kinds = [_of(argument) for argument in arguments]
        alike = all(kind == kinds[0] for kind in kinds)
        items: Schema = {"items": kinds[0]} if alike else {"prefixItems": kinds}
        return {"type": "array", **items, "minItems": size, "maxItems": size}
    if origin is Sequence:
        return {"type": "array", "items": _of(arguments[0])}
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        properties = {field.name: _of(hints[field.name]) for field in fields(hint)}
        return {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name not in _added(hint)],
            "additionalProperties": False,
        }
    raise TypeError(f"no schema for {hint}")


def _added(record: Any) -> tuple[str, ...]:
    return ADDED.get(record, ())


def _union(members: Sequence[Schema]) -> Schema:
    """One schema for several: what constrains arrays or objects leaves the other kinds alone."""
    enums = [member["enum"] for member in members if "enum" in member]
    if enums:
        return {"enum": [*enums[0], None]}
    merged: Schema = {}
    kinds: list[str] = []
    for member in members:
        kind = member["type"]
        kinds += [kind] if isinstance(kind, str) else kind
        merged |= member
    if "number" in kinds:
        kinds = [kind for kind in kinds if kind != "integer"]
    return merged | {"type": kinds}
