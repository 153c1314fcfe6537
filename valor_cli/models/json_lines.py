"""Read JSON Lines and report all faults with their lines."""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from valor_cli.errors import LISTED, DataError, Problem, did_you_mean
from valor_cli.models.requests import Reply


@dataclass(slots=True)
class Faults:
    """Faults of a file; the first are kept, all are counted."""

    path: str
    problems: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, line: int, message: str) -> None:
        """Add a fault on a line."""
        self.total += 1
        if len(self.problems) < LISTED:
            self.problems.append(Problem(f"{self.path}:{line}", message))

    def check(self, hint: str = "") -> None:
        """Raise an error if there are faults.

        Raises:
            DataError: There are some.
        """
        if self.total:
            raise DataError(self.problems, total=self.total, hint=hint)


class Form(NamedTuple):
    """The allowed value of a key."""

    said: str
    fits: Callable[[object], bool]
    needed: bool = False


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and value >= 0
        and math.isfinite(value)
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


TEXT = Form("a text", lambda value: isinstance(value, str))
NEEDED_TEXT = TEXT._replace(needed=True)
CLAIM = Form("true or false", lambda value: isinstance(value, bool))
PROBABILITIES = Form(
    "a mapping of tokens to probabilities",
    lambda value: (
        isinstance(value, dict) and all(_is_number(one) and one <= 1 for one in value.values())
    ),
)
COUNT = Form("a whole number, at least 0", _is_count)
COUNT_OR_NULL = Form(
    "a whole number, at least 0, or null", lambda value: value is None or _is_count(value)
)
NUMBER_OR_NULL = Form(
    "a number, at least 0, or null", lambda value: value is None or _is_number(value)
)


OUTCOME = {
    "refused": CLAIM,
    "cut": CLAIM,
    "tokens_in": COUNT_OR_NULL,
    "tokens_out": COUNT_OR_NULL,
}
"""What a line may say of a reply besides its text."""


def reply_of(said: Mapping[str, Any], **more: Any) -> Reply:
    """The reply of a line, whose keys are those of `Reply` except for `reply`, its text."""
    told = {name: said[name] for name in (*OUTCOME, "cost_usd", "tries", "scores") if name in said}
    return Reply(**{"text": said.get("reply", ""), **told, **more})


def fault_of(found: Mapping[str, Any], forms: Mapping[str, Form]) -> str | None:
    """Why an object does not have a form; None if it does."""
    for name in found:
        if name not in forms:
            listed = ", ".join(forms)
            return f"there is no key '{name}'{did_you_mean(name, forms)}; there are: {listed}"
    for name, form in forms.items():
        if name not in found:
            if form.needed:
                return f"the key '{name}' is missing"
        elif not form.fits(found[name]):
            return f"{name}: must be {form.said}"
    return None


def objects(path: str, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their line numbers from 1; blank lines are skipped.

    Args:
        path: The file, in UTF-8.
        faults: Is told of lines that hold no object.

    Raises:
        DataError: The file cannot be read.
    """
    for number, line in lines(path):
        try:
            yield number, _object(line.strip(b" \t\r\n"))
        except _Unreadable as error:
            faults.add(number, str(error))


def lines(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers from 1.

    Raises:
        DataError: The file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if content.strip(b" \t\r\n"):
                    yield number, content
    except OSError as error:
        problem = Problem(path, f"cannot be read: {error.strerror or error}")
        raise DataError(problem) from error


class _Unreadable(Exception):  # noqa: N818  # what it says of a line
    """Why a line is no object."""


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(
            content.decode(),
            object_pairs_hook=_once,
            parse_constant=_constant,
            parse_float=_float,
        )
    except UnicodeDecodeError as error:
        raise _Unreadable(f"is not UTF-8: byte {error.start + 1} of the line") from error
    except json.JSONDecodeError as error:
        raise _Unreadable(f"is not JSON: {error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise _Unreadable("is nested too deeply") from error
    except ValueError as error:
        # Python reads no integers of thousands of digits.
        raise _Unreadable("holds a number that is too long") from error
    if not isinstance(found, dict):
        raise _Unreadable("must be an object: {…}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Unreadable(f"has the key '{twice}' twice")
    return found


def _constant(name: str) -> float:
    raise _Unreadable(f"is not JSON: {name} is no number")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _Unreadable("holds a number that is too large")
    return value
