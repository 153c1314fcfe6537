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
from valor_cli.data.json_records import DuplicateKey, Number, parsed, said, scalar_text
from valor_cli.data.schema import Layout, dotted, value_at
from valor_cli.data.shapes.samples.other_tools import one_shape
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.data.shapes.samples.schema import (
    LOGPROB,
    LOGPROBS,
    ROUNDING,
    SCHEMA,
    TEXT_KEYS,
    layout_of,
    metadata_at,
)
from valor_cli.data.values import is_text

Faults: TypeAlias = Iterator[tuple[str, str]]
"""Where in a row, and what is wrong there."""

TOO_DEEP: Final = "the JSON is nested too deeply to be read"
NO_LIST: Final = (
    "expected a JSON list of texts, or a list as Python writes it, for the cell begins with [; "
    "found neither"
)
NO_LOGPROBS: Final = "expected a JSON list of numbers, and null for tokens without one"

_UNREADABLE: Final = (SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError)
"""What is raised for a text that is not Python."""


class RowCheck:
    """Names the faults of rows of a file."""

    def __init__(self, reading: SampleReading) -> None:
        self._reading = reading
        self._layouts: dict[tuple[str, ...], Layout] = {}

    def of_record(self, value: Any) -> list[tuple[str, str]]:
        """The faults of a value of `json_records.parsed`."""
        try:
            return faults_of(value) or list(self._of_fields(one_shape(value), _BY_TYPE))
        except RecursionError:
            return [("", TOO_DEEP)]

    def of_cells(self, record: Mapping[str, str]) -> list[tuple[str, str]]:
        """The faults of cells by name."""
        return list(self._of_fields(record, _BY_TYPE_OF_CELL))

    def _of_fields(self, record: Mapping[str, Any], by_type: Mapping[str, _Check]) -> Faults:
        names = tuple(record)
        layout = self._layouts.get(names)
        if layout is None:
            layout = self._layouts[names] = layout_of(names, self._reading.columns)
        for field, key in zip(SCHEMA.fields, layout.keys, strict=True):
            if field.name == LOGPROBS and not self._reading.logprobs:
                continue
            path = (key,) if key is not None else layout.paths.get(field.name)
            value = None if path is None else value_at(record, path)
            if value is not None and field.type in by_type:
                yield from by_type[field.type](value, layout.name_of(field.name))
        for name in self._reading.metadata:
            path = metadata_at(record, name)
            if path is not None:
                yield from _metadata(value_at(record, path), dotted(path))


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


def json_list(cell: str) -> list[Any] | None:
    """The list that a cell holds as JSON; None if it holds none."""
    try:
        found = parsed(cell.encode())
    except (json.JSONDecodeError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def python_strings(cell: str) -> list[str] | None:
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


def logprobs_of(cell: str) -> Any:
    """The JSON of a cell, where Python may have written None for null.

    Raises:
        json.JSONDecodeError: It is none.
        RecursionError: It is nested too deeply.
    """
    return parsed((cell if '"' in cell else cell.replace("None", "null")).encode())


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


def _id_in(cell: str, place: str) -> Faults:
    if not cell or "\0" in cell:
        found = "one with a NUL character" if cell else "nothing"
        yield place, f"expected the id of a sample, found {found}"


def _texts_in(cell: str, place: str) -> Faults:
    if cell.lstrip().startswith("[") and (found := json_list(cell)) is not None:
        yield from _texts(found, place)


def _contexts_in(cell: str, place: str) -> Faults:
    if not cell.lstrip().startswith("["):
        return
    found = json_list(cell)
    if found is not None:
        yield from faults(found, place)
        yield from _contexts(found, place)
    elif python_strings(cell) is None:
        yield place, NO_LIST


def _amount_in(cell: str, place: str) -> Faults:
    if cell.strip():
        found, wrong = number_in(cell)
        if not wrong and found < 0:
            wrong = f"expected 0 or more, found {cell.strip()}"
        if wrong:
            yield place, wrong


def _logprobs_in(cell: str, place: str) -> Faults:
    if cell.strip():
        try:
            value = logprobs_of(cell)
        except (json.JSONDecodeError, RecursionError):
            yield place, NO_LOGPROBS
            return
        yield from list(faults(value, place))[:1] or _logprobs(value, place)


def _path_in(cell: str, place: str) -> Faults:
    if "\0" in cell:
        yield "artifacts", "expected a path, found one with a NUL character"


_Check: TypeAlias = Callable[[Any, str], Faults]

_BY_TYPE: Final[Mapping[str, _Check]] = {
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
_BY_TYPE_OF_CELL: Final[Mapping[str, _Check]] = {
    "id": _id_in,
    "path": _path_in,
    "texts": _texts_in,
    "contexts": _contexts_in,
    "amount": _amount_in,
    "logprobs": _logprobs_in,
}


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _named(value: Any) -> str:
    if isinstance(value, float) and not isinstance(value, Number):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return said(value)
