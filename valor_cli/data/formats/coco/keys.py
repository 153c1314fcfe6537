"""Check keys and ids of parsed COCO objects."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from valor_cli.data.formats.coco.tables import Id
from valor_cli.data.values import Problems, describe, identifier
from valor_cli.errors import printable

_LISTED_KEYS = 12
_SHOWN = 40


def missing_keys(keys: Sequence[str], record: Mapping[str, Any]) -> str:
    """Report missing keys, with the keys that are present."""
    names = " and ".join(f'"{key}"' for key in keys)
    verb = "is" if len(keys) == 1 else "are"
    there = ", ".join(printable(key[:_SHOWN]) for key in list(record)[:_LISTED_KEYS])
    return f"{names} {verb} missing (there is: {there or 'nothing'})"


def has_keys(record: object, keys: Sequence[str], problems: Problems, row: int) -> bool:
    """Whether this is an object with these keys."""
    if not isinstance(record, dict):
        problems.add(row, "", f"expected an object, found {describe(record)}")
        return False
    missing = [key for key in keys if key not in record]
    if missing:
        problems.add(row, "", missing_keys(missing, record))
    return not missing


def kind_of(rows: Sequence[Any], key: str) -> type[int] | type[str]:
    """The most frequent type of a column's ids."""
    strings = numbers = 0
    for row in rows:
        value = row.get(key) if isinstance(row, dict) else None
        strings += isinstance(value, str)
        numbers += isinstance(value, (int, float))
    return str if strings > numbers else int


def distinct_id(
    value: object,
    kind: type[int] | type[str],
    seen: Mapping[Id, int],
    problems: Problems,
    row: int,
) -> Id | None:
    """An id that must be unique; `seen` holds the rows of earlier ids."""
    found = identifier(value, kind, problems, row, ".id")
    if found is not None and found in seen:
        where = f"{problems.list_name}[{seen[found]}]"
        problems.add(row, ".id", f"duplicate id {quoted(found)}, first at {where}")
        return None
    return found


def reference(
    record: Mapping[str, Any],
    key: str,
    kind: type[int] | type[str],
    known: Container[Id] | None,
    problems: Problems,
    row: int,
) -> Id | None:
    """The id of a known image or category; None for `known` accepts all."""
    found = identifier(record[key], kind, problems, row, f".{key}")
    if found is None or known is None or found in known:
        return found
    thing = "image" if key == "image_id" else "category"
    problems.add(row, f".{key}", f"no {thing} has the id {quoted(found)}")
    return None


def quoted(found: Id) -> str:
    """An id for a message."""
    return describe(found).removeprefix("the string ")


def whole(value: object, least: int, most: int | None) -> int | None:
    """An integer within limits; 480.0 is accepted, since pandas writes integers so."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < least or (most is not None and value > most):
        return None
    return value
