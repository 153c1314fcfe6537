"""The JSON Schema of results.json, as its records declare it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

import msgspec

from valor_cli.results.record import ADDED, Record
from valor_cli.results.run import Document

Schema = dict[str, Any]


def results_schema() -> Schema:
    """The JSON Schema of results.json.

    It requires every key that all files of this schema version have, which reading does not.
    """
    _, records = msgspec.json.schema_components((Document,), ref_template="#/$defs/{name}")
    for name, record in _records(Record):
        if name in records:
            added = added_keys(record)
            schema = records[name]
            schema["required"] = [key for key in record.__struct_fields__ if key not in added]
            schema["description"] = " ".join(
                (inspect.getdoc(record) or "").split("\n\n")[0].split()
            )
            for key, meaning in meanings(record).items():
                if key in schema["properties"]:
                    schema["properties"][key]["description"] = meaning
    records = {name: _compact(schema) for name, schema in records.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **records.pop(Document.__name__),
        "title": "valor results.json",
        "$defs": records,
    }


def added_keys(record: type[Record]) -> frozenset[str]:
    """The keys of a record that the first files of this schema version do not have."""
    hints = get_type_hints(record, include_extras=True)
    return frozenset(
        name for name, hint in hints.items() if ADDED in getattr(hint, "__metadata__", ())
    )


def meanings(record: type) -> Mapping[str, str]:
    """The descriptions of a record's keys, from the `Attributes:` of its docstring."""
    _, _, section = (inspect.getdoc(record) or "").partition("Attributes:\n")
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        begins = re.match(r" {4}([a-z_]\w*(?:, [a-z_]\w*)*): (.*)", line)
        if begins:
            names = begins[1].split(", ")
            found |= dict.fromkeys(names, begins[2])
        elif line.startswith(" " * 8):
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
        else:
            names = []
    return found


def _compact(schema: Any) -> Any:
    """A schema with one list of types instead of a choice between schemas."""
    if isinstance(schema, list):
        return [_compact(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    compact = {name: _compact(one) for name, one in schema.items() if name != "default"}
    choices = compact.get("anyOf", [])
    if len(choices) == 2 and "enum" in choices[0] and choices[1] == {"type": "null"}:
        return {"enum": [*choices[0]["enum"], None]}
    kinds = [one.get("type") for one in choices]
    if not kinds or None in kinds:
        return compact
    if "number" in kinds:
        kinds = [kind for kind in kinds if kind != "integer"]
    del compact["anyOf"]
    for one in choices:
        compact |= one
    return compact | {"type": kinds if len(kinds) > 1 else kinds[0]}


def _records(kind: type[Record]) -> Iterator[tuple[str, type[Record]]]:
    for record in kind.__subclasses__():
        yield record.__name__, record
        yield from _records(record)
