"""Convert Arrow columns to JSON values, one per row.

Null fields of an object are dropped, since Arrow has every key in every row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from valor_cli.data.batch import ColumnType
from valor_cli.data.formats.parquet.columns import fields, kind_of, lists, plain, stored, texts
from valor_cli.data.formats.parquet.files import pa
from valor_cli.data.json_records import DuplicateKey, Number
from valor_cli.errors import Problem

_SHOWN: Final = 60


class NoNumber(float):
    """NaN or an infinity, so that no reader takes it for a number by its type."""

    __slots__ = ()


def values(array: Any) -> list[Any]:
    """The values of a column as JSON values.

    NaN and infinities are `NoNumber`, a decimal is a `Number` with its text, an object with a key
    that is duplicate is `DuplicateKey`.
    """
    array = stored(array)
    kind = kind_of(array.type)
    valid = array.is_valid().to_pylist()
    if kind == "struct":
        return _objects(array, valid)
    if kind in ("list", "map"):
        count, inside = lists(array)
        ends = count.cumsum().tolist()
        if kind == "list":
            items = values(inside)
        else:
            entry = fields(inside)
            items = list(zip(texts(entry["key"]), values(entry["value"]), strict=True))
        found = [items[a:b] for a, b in pairwise([0, *ends])]
        made = found if kind == "list" else [_mapped(one) for one in found]
        return [one if there else None for one, there in zip(made, valid, strict=True)]
    if kind in ("text", "date", "decimal"):
        written = zip(texts(array), valid, strict=True)
        if kind == "decimal":
            return [Number(text) if there else None for text, there in written]
        return [text if there else None for text, there in written]
    if kind == "float":
        return [None if one is None else _number(one) for one in plain(array).to_pylist()]
    whole: list[Any] = plain(array).to_pylist()
    return whole


def as_written(value: Any) -> Any:
    """A value with `Number` numbers, as from `json_records.parsed`."""
    if isinstance(value, bool | str | Number) or value is None:
        return value
    if isinstance(value, int):
        return Number(str(value))
    if isinstance(value, float):
        # What is no number stays as it is, for it has a message of its own.
        return value if isinstance(value, NoNumber) else Number(repr(value))
    if isinstance(value, list):
        return [as_written(one) for one in value]
    made = {key: as_written(one) for key, one in value.items()}
    if isinstance(value, DuplicateKey):
        repeated = DuplicateKey(made)
        repeated.key = value.key
        return repeated
    return made


def unsupported(kind: ColumnType, place: str) -> Iterator[Problem]:
    """Problems for types that are not read."""
    names = [name for name, _ in kind.fields]
    if kind.kind == "deep":
        yield Problem(place, "it is nested too deeply to be read")
    elif kind.kind == "other":
        written = kind.written
        text = written if len(written) <= _SHOWN else written[: _SHOWN - 1] + "…"
        yield Problem(place, f"a column of {text} is not read; write it as text")
    elif kind.kind == "struct" and len(set(names)) < len(names):
        yield Problem(place, "two fields of it have one name")
    for name, inner in kind.fields:
        within = {"list": f"{place}[]", "struct": f"{place}.{name}"}
        yield from unsupported(inner, within.get(kind.kind, place))


def _number(value: float) -> float:
    return value if math.isfinite(value) else NoNumber(value)


def _objects(array: Any, valid: Sequence[bool]) -> list[Any]:
    names = pa.schema(array.type).names
    columns = [values(one) for one in fields(array).values()]
    rows = zip(valid, *columns, strict=True)
    return [
        {name: one for name, one in zip(names, row, strict=True) if one is not None}
        if there
        else None
        for there, *row in rows
    ]


def _mapped(entries: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(entries)
    if len(found) == len(entries):
        return found
    keys = [key for key, _ in entries]
    repeated = DuplicateKey(found)
    repeated.key = next(key for at, key in enumerate(keys) if key in keys[:at])
    return repeated
