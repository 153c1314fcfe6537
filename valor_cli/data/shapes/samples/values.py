"""Say what is wrong with a row of text samples."""

from __future__ import annotations

import ast
import io
import json
import math
import tokenize
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from valor_cli.data.column_names import number_in
from valor_cli.data.json_records import (
    TOO_DEEP,
    DuplicateKey,
    Number,
    json_or_none,
    said,
    scalar_text,
)
from valor_cli.data.schema import Path, dotted, value_at
from valor_cli.data.shapes.samples.other_tools import one_shape
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.samples.schema import (
    LOGPROB,
    LOGPROBS,
    ROUNDING,
    SCHEMA,
    TEXT_KEYS,
    metadata_at,
)
from valor_cli.data.values import is_text

Faults: TypeAlias = Iterator[tuple[str, str]]
"""Where in a row, and what is wrong there."""

NO_LIST: Final = (
    "expected a JSON list of texts, or a list as Python writes it, for the cell begins with [; "
    "found neither"
)
NO_LOGPROBS: Final = "expected a JSON list of numbers, and null for tokens without one"

_UNREADABLE: Final = (SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError)
"""What is raised for a text that is not Python."""


class Unread(str):
    """What is wrong with a cell, in place of its value."""

    __slots__ = ()


class RowCheck:
    """Names the faults of rows of a file."""

    def __init__(self, reading: SampleReading, *, cells: bool = False) -> None:
        """Initialise; `cells` is whether rows are cells by name, not values of JSON."""
        self._reading = reading
        self._cells = cells
        self._layouts: dict[tuple[str, ...], dict[str, Path]] = {}

    def faults(self, record: Any) -> list[tuple[str, str]]:
        """The faults of cells, or of a value of `json_records.parsed`."""
        try:
            if self._cells:
                return list(self._of_row(record))
            return faults_of(record) or list(self._of_row(one_shape(record)))
        except RecursionError:
            return [("", TOO_DEEP)]

    def _of_row(self, record: Mapping[str, Any]) -> Faults:
        """The faults of fields, and of metadata; what both read has one."""
        placed = set[str]()
        for place, message in self._of_fields(record):
            placed.add(place)
            yield place, message
        for name in self._reading.metadata:
            way = metadata_at(record, name)
            if way and dotted(way) not in placed:
                check = _any if name in self._reading.texts else _metadata
                yield from check(value_at(record, way), dotted(way))

    def _of_fields(self, record: Mapping[str, Any]) -> Faults:
        names = tuple(record)
        if names not in self._layouts:
            self._layouts[names] = SCHEMA.layout(names, self._reading.columns)
        layout = self._layouts[names]
        for field in SCHEMA.fields:
            path = layout.get(field.name)
            if path is None or (field.name == LOGPROBS and not self._reading.logprobs):
                continue
            value, place = value_at(record, path), dotted(path)
            if self._cells and value is not None:
                value = value_of_cell(field.type, value)
                if wrong := list(faults(value, place)):
                    yield from wrong[:1] if field.type == "logprobs" else wrong
                    continue
            if isinstance(value, Unread):
                yield place, value
            elif value is not None:
                yield from _CHECKS[field.type](value, place)


def faults_of(value: Any) -> list[tuple[str, str]]:
    """The faults of a row as a whole: it is no object, or not JSON."""
    if not isinstance(value, dict):
        return [("", f"expected an object, one a sample, found {said(value)}")]
    try:
        return list(faults(value))
    except RecursionError:
        return [("", TOO_DEEP)]


def faults(value: Any, place: str = "") -> Faults:
    """Faults anywhere in a parsed value: duplicate keys, invalid numbers."""
    if isinstance(value, dict):
        if isinstance(value, DuplicateKey):
            yield _joined(place, value.key), "duplicate key in this object"
        for key, item in value.items():
            yield from faults(item, _joined(place, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from faults(item, f"{place}[{position}]")
    elif isinstance(value, float) and not isinstance(value, Number):
        yield place, f"{_named(value)} is not a number in JSON; write null where there is none"


def value_of_cell(kind: str, cell: str, joined_by: str = "") -> Any:
    """The value that a cell of a type of field has, as in JSON; `Unread` if it has none."""
    if kind == "id":
        return cell or Unread("expected the id of a sample, found nothing")
    if kind == "amount":
        message = number_in(cell)[1] if cell.strip() else ""
        return Unread(message) if message else Number(cell.strip()) if cell.strip() else None
    if kind == "logprobs":
        # Python writes None for null.
        found = json_or_none((cell if '"' in cell else cell.replace("None", "null")).encode())
        return Unread(NO_LOGPROBS) if found is None and cell.strip() else found
    if kind not in ("texts", "contexts") or not cell.lstrip().startswith("["):
        joined = kind == "contexts" and joined_by and cell.strip()
        return cell.split(joined_by) if joined else cell or None
    found = json_or_none(cell.encode())
    if not isinstance(found, list):
        found = _python_strings(cell)
    if found is None:
        return Unread(NO_LIST) if kind == "contexts" else cell
    return found


def _python_strings(cell: str) -> list[str] | None:
    """The strings of a list as `repr` writes it, of a list or of a numpy array.

    numpy writes no commas. Python itself would join such strings to one.
    """
    text = cell.strip()
    try:
        with warnings.catch_warnings():
            # An odd backslash in a string is no affair of whoever runs this.
            warnings.simplefilter("ignore")
            found = ast.literal_eval(text)
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
            strings = [one.string for one in tokens if one.type == tokenize.STRING]
            commas = any(one.type == tokenize.OP and one.string == "," for one in tokens)
            apart = [ast.literal_eval(one) for one in strings]
    except _UNREADABLE:
        return None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in [*found, *apart]):
        return None
    if len(apart) == len(found):
        return found
    return None if commas else apart


def _text(value: Any, place: str) -> Faults:
    if scalar_text(value) is None:
        wanted = "Unicode text" if isinstance(value, str) else "a text"
        yield place, f"expected {wanted}, found {_named(value)}"


def _sample_id(value: Any, place: str) -> Faults:
    found = None if isinstance(value, bool) else scalar_text(value)
    if found is None:
        yield place, f"expected a string or a number, found {_named(value)}"
    elif not found or "\0" in found:
        what = "one with a NUL character" if found else "an empty text"
        yield place, f"expected the id of a sample, found {what}"


def _path(value: Any, place: str) -> Faults:
    yield from _text(value, place)
    if "\0" in (scalar_text(value) or ""):
        yield place, "expected a path, found one with a NUL character"


def _any(value: Any, place: str) -> Faults:
    if not isinstance(value, list | dict):
        yield from _text(value, place)
    elif not is_text(json.dumps(value, ensure_ascii=False)):
        yield place, "expected Unicode text, found half a character in it"


def _texts(value: Any, place: str) -> Faults:
    if not isinstance(value, list):
        yield from _text(value, place)
    else:
        for position, item in enumerate(value):
            yield from _text(item, f"{place}[{position}]")


def _contexts(value: Any, place: str) -> Faults:
    if isinstance(value, dict):
        yield place, "expected a list of texts, found an object"
    elif not isinstance(value, list):
        yield from _text(value, place)
    else:
        for position, item in enumerate(value):
            where = f"{place}[{position}]"
            if isinstance(item, dict):
                key = next((key for key in TEXT_KEYS if key in item), None)
                if key is None:
                    keys = ", ".join(f'"{key}"' for key in TEXT_KEYS)
                    message = f"expected a text, or an object with one of {keys}"
                    yield where, f"{message}, found none of them"
                    continue
                item, where = item[key], f"{where}.{key}"
            yield from _text(item, where)


def _amount(value: Any, place: str) -> Faults:
    if not isinstance(value, int | float) or isinstance(value, bool):
        yield place, f"expected a number, found {_named(value)}"
    elif not math.isfinite(value):
        yield place, f"expected a finite number, found {_named(value)}"
    elif value < 0:
        yield place, f"expected 0 or more, found {_named(value)}"


def _logprobs(value: Any, place: str) -> Faults:
    """The first fault of a list of log-probabilities."""
    if not isinstance(value, list):
        yield place, f"expected a list of numbers, found {said(value)}"
        return
    for position, item in enumerate(value):
        where = f"{place}[{position}]"
        if isinstance(item, dict):
            if LOGPROB not in item:
                message = f'expected a number, null, or an object with "{LOGPROB}", found none'
                yield where, message
                return
            item, where = item[LOGPROB], f"{where}.{LOGPROB}"
        message = ""
        if item is not None and not isinstance(item, Number):
            message = "a number or null"
        elif item is not None and not math.isfinite(item):
            message = "a finite number"
        elif item is not None and item > ROUNDING:
            message = "the natural logarithm of a probability, 0 or less"
        if message:
            yield where, f"expected {message}, found {said(item)}"
            return


def _metadata(value: Any, place: str) -> Faults:
    if isinstance(value, list | dict):
        yield place, f"expected a single value, found {_named(value)}"
    elif isinstance(value, str) and not is_text(value):
        yield place, f"expected Unicode text, found {_named(value)}"
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, f"expected a finite number, found {_named(value)}"


_CHECKS: Final[Mapping[str, Callable[[Any, str], Faults]]] = {
    "id": _sample_id,
    "text": _text,
    "name": _text,
    "path": _path,
    "any": _any,
    "texts": _texts,
    "contexts": _contexts,
    "amount": _amount,
    "logprobs": _logprobs,
}


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _named(value: Any) -> str:
    if isinstance(value, float) and not isinstance(value, Number):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return said(value)
