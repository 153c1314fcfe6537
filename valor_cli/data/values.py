"""Check single JSON values and convert them to typed values."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from valor_cli.errors import ALIKE, LISTED, DataError, Problem, printable

LARGEST_COORDINATE: Final = 1e150
"""Pixels. The area of a larger box would no longer fit a float64."""

LARGEST_EXACT: Final = 2**53
"""Whole numbers below this are exact as float64."""

_SHOWN = 40


_VARYING: Final = re.compile(r"""'[^']*'|"[^"]*"|\[\d+\]|[-+.\w]*\d[-+.\w]*|(?<=found ).*""")
"""What differs in places and messages of one cause: names, numbers and what was found."""


class Problems:
    """Problems in the rows of one list of a file: the first of each cause are kept, all counted.

    Attributes:
        path: The file.
        list_name: Key of the list in the file; empty when the file is the list.
        total: How many problems there are.
    """

    __slots__ = ("_causes", "_kept", "list_name", "path", "total")

    def __init__(self, path: str, list_name: str = "") -> None:
        self.path = path
        self.list_name = list_name
        self.total = 0
        self._kept: list[Problem] = []
        self._causes: dict[str, int] = {}

    @property
    def kept(self) -> list[Problem]:
        """The first problems of each cause, the last of them with the number of the others."""
        listed = Counter(problem.cause for problem in self._kept)
        last = {problem.cause: at for at, problem in enumerate(self._kept)}
        kept = list(self._kept)
        for cause, at in last.items():
            kept[at] = replace(kept[at], more=self._causes[cause] - listed[cause])
        return kept

    def add(self, row: int, key: str, message: str) -> None:
        """Record a problem of a row; `key` is the place in the row (".bbox[2]")."""
        self.keep(f"{self.path}: {self.list_name}[{row}]{key}", key, message)

    def keep(self, place: str, key: str, message: str) -> None:
        """Record a problem at a place, of which `key` is the part within the row."""
        self.total += 1
        cause = self.path + _VARYING.sub("", f": {key}: {message}")
        before = self._causes.setdefault(cause, 0)
        if before <= ALIKE and len(self._kept) < LISTED:
            self._kept.append(Problem(place, message, cause))
        if before or len(self._causes) <= LISTED:
            self._causes[cause] += 1
        else:
            del self._causes[cause]


class LineProblems(Problems):
    """Problems in the lines of a file, counted from 1.

    Readers of folders change `path` as they go from file to file.
    """

    __slots__ = ()

    def add(self, row: int, key: str, message: str) -> None:
        """Record a problem of a line; `key` is the place in it ("objects[3].box[2]")."""
        place = f"{self.path}:{row}" if row else self.path
        self.keep(f"{place}: {key}" if key else place, key, message)


def stop_on(found: Sequence[Problems], hint: str = "") -> None:
    """Raise an error if problems were recorded.

    Raises:
        DataError: The problems of all lists, in order.
    """
    total = sum(problems.total for problems in found)
    if total:
        kept = [problem for problems in found for problem in problems.kept]
        raise DataError(kept[:LISTED], total=total, hint=hint)


def describe(value: object) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, str):
        shown = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
        return f"the string {printable(json.dumps(shown, ensure_ascii=False))}"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, dict):
        return "an object"
    shown = json.dumps(value)
    return shown if len(shown) <= _SHOWN else f"a number of {len(shown)} digits"


def number(value: object, problems: Problems, row: int, key: str) -> float | None:
    """A finite number as float64."""
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is not float and type(value) is not int:
        problems.add(row, key, f"expected a number, found {describe(value)}")
        return None
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if not math.isfinite(converted):
        problems.add(row, key, f"expected a finite number, found {describe(value)}")
        return None
    return converted


def identifier(
    value: object, kind: type[int] | type[str], problems: Problems, row: int, key: str
) -> int | str | None:
    """An id of its column's kind: a 64-bit integer or a string."""
    if isinstance(value, str) and kind is str:
        if is_text(value):
            return value
        problems.add(row, key, f"expected Unicode text, found {describe(value)}")
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_EXACT:
        # 17.0 is 17: tables written by pandas have such ids.
        value = int(value)
    if type(value) is int and kind is int:
        if -(2**63) <= value < 2**63:
            return value
        problems.add(row, key, f"expected a whole number of 64 bits, found {describe(value)}")
    elif type(value) is int:
        problems.add(row, key, f"expected a string as in most rows, found {describe(value)}")
    elif isinstance(value, str):
        problems.add(row, key, f"expected a whole number as in most rows, found {describe(value)}")
    else:
        found = describe(value)
        problems.add(row, key, f"expected a whole number or a string, found {found}")
    return None


def text(value: object, problems: Problems, row: int, key: str) -> str | None:
    """A string that can be written as UTF-8."""
    if isinstance(value, str) and is_text(value):
        return value
    wanted = "Unicode text" if isinstance(value, str) else "a string"
    problems.add(row, key, f"expected {wanted}, found {describe(value)}")
    return None


def is_text(value: str) -> bool:
    """Whether a text has no lone surrogate, which JSON allows but no file can store."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
