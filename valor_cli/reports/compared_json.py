"""Two runs held against each other in; the bytes of compared.json out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from valor_cli.reports.finite import finite
from valor_cli.reports.results_json import dumps
from valor_cli.results import SCHEMA_VERSION, ComparedRuns

_LINES = ("comparisons", "changes", "changed", "only_first", "only_second", "warnings")


def compared_json(compared: ComparedRuns) -> bytes:
    """The record in its order: a key per line, and a row per line where there are rows.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have; it says where.
    """
    _refuse_nan(compared)
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "worse": compared.worse}
    document |= {one.name: getattr(compared, one.name) for one in fields(compared)}
    lines = [dumps(name) + b": " + _value(name, value) for name, value in document.items()]
    return b"{\n  " + b",\n  ".join(lines) + b"\n}\n"


def _value(name: str, value: Any) -> bytes:
    if name in _LINES and value:
        return b"[\n    " + b",\n    ".join(map(dumps, value)) + b"\n  ]"
    return dumps(value)


def _refuse_nan(compared: ComparedRuns) -> None:
    """Stop at a stray NaN, which would be written as null."""
    for name in ("comparisons", "changed"):
        for index, row in enumerate(getattr(compared, name)):
            if not finite([_plain(row)]):
                raise ValueError(f"{name}.{index}: NaN or infinity")
    for name in ("first", "second"):
        if not finite([_plain(getattr(compared, name).run)]):
            raise ValueError(f"{name}.run: NaN or infinity")


def _plain(value: Any) -> Any:
    """A record as mappings and lists, however deep."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
