"""Names of the columns of a CSV file, cells of its rows, and what may be wrong with either."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any, Final

from valor_cli.data.values import describe, shortened
from valor_cli.errors import DataError, Problem, did_you_mean, printable

COLUMNS_HINT: Final = "Map other names under `data: columns:`, as {%s: my_column}."

DELIMITERS: Final = ",;\t|"
_LONGEST_FIELD = 2**31 - 1
_LISTED = 30
_SHOWN = 40

_NAMES: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def csv_reader(
    lines: Iterable[str], delimiter: str, *, spaced: bool = False, strict: bool = True
) -> Any:
    """A csv reader without a limit on cell length.

    Args:
        lines: The text, with its line ends.
        delimiter: The delimiter between two fields.
        spaced: Whether spaces follow it that belong to no field.
        strict: Whether text behind a closing quote, or a quote left open, is an error.
    """
    # Python's own limit of 131,072 characters is for all of the process.
    csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=spaced, strict=strict)


def not_csv(path: str, line: int, error: csv.Error) -> DataError:
    """The error of the csv module for the row that starts on a line."""
    message = f"not CSV ({error}); a double quote inside a field is written twice"
    if str(error) == "unexpected end of data":
        message = "a double quote opens a field here, and none closes it"
    return DataError(Problem(f"{path}:{line}", message))


def fields_of(line: str, delimiter: str) -> list[str]:
    """The fields of a line, unstripped."""
    return next(csv_reader(StringIO(line, newline=""), delimiter, strict=False), [])


def listed(names: Sequence[str]) -> str:
    """Names on one line, for a message."""
    shown = ", ".join(printable(name[:_SHOWN]) for name in names[:_LISTED])
    return shown + (", …" if len(names) > _LISTED else "")


def some_of(names: Iterable[str]) -> str:
    """The first names in their order, for a message."""
    ascending = sorted(names)
    return ", ".join(map(printable, ascending[:3])) + (", …" if len(ascending) > 3 else "")


def quoted(name: str) -> str:
    """A name for a message."""
    return f"'{printable(shortened(name))}'"


def check_mapped(columns: Mapping[str, str], known: Iterable[str]) -> None:
    """Reject a column mapping with unknown names.

    Raises:
        DataError: A standard name is unknown.
    """
    known = list(known)
    problems = [
        Problem("columns", f"there is no '{name}'{did_you_mean(name, known)}")
        for name in columns
        if name not in known
    ]
    if problems:
        raise DataError(problems, hint=f"Columns that can be mapped: {', '.join(known)}")


def duplicate_columns(
    names: Sequence[str], place: str, *, ignore_case: bool = False
) -> list[Problem]:
    """Problems for duplicate column names; columns without a name are ignored."""
    seen: dict[str, int] = {}
    problems = []
    for position, name in enumerate(names, 1):
        first = seen.setdefault(name.casefold() if ignore_case else name, position)
        if name and first != position:
            message = f"duplicate column '{name[:_SHOWN]}' (columns {first} and {position})"
            problems.append(Problem(place, message))
    return problems


def missing_columns(wanted: Mapping[str, str], names: Sequence[str], place: str) -> list[Problem]:
    """Problems for missing columns; `wanted` maps each to its purpose."""
    return [
        Problem(
            place,
            f"there is no column '{name}' {reason}{did_you_mean(name, names)}; "
            f"there is: {listed(names)}",
        )
        for name, reason in wanted.items()
        if name not in names
    ]


def missing_fields(fields: Sequence[str], aliases: Mapping[str, Sequence[str]]) -> str:
    """The message for missing fields of a shape, with the names that they may have."""
    shown = " and ".join(
        f"'{name}' (or {', '.join(aliases[name])})" if aliases[name] else f"'{name}'"
        for name in fields
    )
    verb = "columns {} are" if len(fields) > 1 else "column {} is"
    return f"the {verb.format(shown)} missing"


def wrong_field_count(found: int, expected: int, delimiter: str) -> str:
    """The message for a row with the wrong number of fields.

    Args:
        found, expected: How many there are, and are in the first line.
        delimiter: The delimiter.
    """
    message = f"expected {expected} fields as in the first line, found {found}"
    if found > expected:
        message += f"; a field that holds a {_NAMES[delimiter]} must be in double quotes"
    return message


def indicator_in(cell: str) -> bool | None:
    """Whether a cell says 1 or true, or 0 or false; None if it says neither."""
    word = cell.strip().casefold()
    if word in ("true", "false"):
        return word == "true"
    value, _ = number_in(word)
    return bool(value) if value in (0, 1) else None


def number_in(cell: str, note: str = "") -> tuple[float, str]:
    """The finite number in a cell, or what is wrong with it; the other is empty (NaN).

    Args:
        cell: Its text.
        note: What to add where it is no number.
    """
    text = cell.strip()
    try:
        # Python's float takes more than what other tools call a number.
        value = float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        value = None
    if value is None:
        found = describe(text) if text else "nothing"
        hint = "; write decimals with a point" if "," in text else note
        return math.nan, f"expected a number, found {found}{hint}"
    if not math.isfinite(value):
        return math.nan, f"expected a finite number, found {describe(text)}"
    return value, ""
