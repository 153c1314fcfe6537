"""Parse JSON objects and keep numbers as they are written; make objects of columns."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, TypeAlias

from valor_cli.data.values import describe, is_text
from valor_cli.errors import printable

Record: TypeAlias = dict[str, Any]

TOO_DEEP: Final = "the JSON is nested too deeply to be read"
_SHOWN = 40


class Number(float):
    """A number with its notation: as a label, 3 is "3" and 3.0 is "3.0"."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Number:
        """Parse a number."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    @property
    def plain(self) -> int | float:
        """The number as by `json.loads`."""
        whole = self.text.lstrip("-").isdigit() and len(self.text) < LONGEST_INTEGER
        return int(self.text) if whole else float(self)


LONGEST_INTEGER = 4000
"""Digits. Python refuses to convert more than 4,300 by default."""


class DuplicateKey(Record):
    """An object with a duplicate key.

    Attributes:
        key: The first such key.
    """

    key: str


def parsed(content: bytes) -> Any:
    """A JSON value with `Number` numbers, and `DuplicateKey` for objects with duplicate keys.

    Raises:
        json.JSONDecodeError: It is none.
        RecursionError: It is nested too deeply.
    """
    return _DECODER.decode(content.decode("utf-8"))


def json_or_none(content: bytes) -> Any:
    """The value of a JSON text, as of `parsed`; None if it is none."""
    try:
        return parsed(content)
    except (json.JSONDecodeError, RecursionError):
        return None


def json_cell(cell: str) -> Any:
    """The value of a cell that holds JSON; of any other its text, and None of an empty one."""
    try:
        return parsed(cell.encode()) if cell.strip()[:1] in ("{", "[") else cell or None
    except (json.JSONDecodeError, RecursionError):
        return cell


def not_json(error: json.JSONDecodeError | RecursionError) -> str:
    """What to say of a line that `parsed` refuses."""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    return f"not JSON ({error.msg}, column {error.colno}); each line is one JSON object"


def object_of(pairs: Sequence[tuple[str, Any]]) -> Record:
    """An object of its members; `DuplicateKey` if two have one key."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    repeated = DuplicateKey(found)
    repeated.key = next(key for at, key in enumerate(keys) if key in keys[:at])
    return repeated


_DECODER = json.JSONDecoder(object_pairs_hook=object_of, parse_int=Number, parse_float=Number)


def said(value: object) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, Number):
        return value.text if len(value.text) <= _SHOWN else f"a number of {len(value.text)} digits"
    return describe(value)


def scalar_text(value: object) -> str | None:
    """A label or id as text, with numbers, true and false as written; None otherwise."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) and is_text(value) else None


def plain(value: Any) -> Any:
    """A value of `parsed` as `json.loads` has it, with Python's own numbers.

    Writing takes no more calls a level than this: what gets through is not too deep for that.
    """
    if isinstance(value, Number):
        return value.plain
    if isinstance(value, list):
        return [plain(one) for one in value]
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def records(columns: Iterable[tuple[str, Iterable[Any]]], count: int) -> list[Record]:
    """Objects of their values by key, in the order of columns; what is None is left out."""
    rows: list[Record] = [{} for _ in range(count)]
    for key, values in columns:
        for row, value in zip(rows, values, strict=True):
            if value is not None:
                row[key] = value
    return rows


def first_of(names: Sequence[str], keys: Collection[str]) -> str | None:
    """The first of some names that is a key, else None."""
    return next((name for name in names if name in keys), None)


def present_keys(record: Record, most: int = 12) -> str:
    """The keys of an object, for a message."""
    names = ", ".join(printable(key[:_SHOWN]) for key in list(record)[:most])
    return f"there is: {names or 'nothing'}"
