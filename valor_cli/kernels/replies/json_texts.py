"""Parse the JSON value of a text, or say why it is not JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

DEEPEST = 100
"""Arrays and objects inside each other that are read; the interpreter's stack bounds them."""

_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{}]', re.DOTALL)
_FENCE = re.compile(r"(`{3,}|~{3,})[^\n`]*+\n")


class NotJsonError(ValueError):
    """A text that is not JSON: why, and the position (from 0)."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message, position)
        self.message = message
        self.position = position


class BeyondLimitsError(ValueError):
    """A text that may be JSON but exceeds a limit; the message says which."""


class JsonText(NamedTuple):
    """The value, and duplicate keys (the last value counts)."""

    value: Any
    repeated: tuple[str, ...]


def parse_json(text: str) -> JsonText:
    """Parse a text as strict JSON (RFC 8259): no NaN, no Infinity, no surrounding text.

    Raises:
        NotJsonError: It is none.
        BeyondLimitsError: It is nested deeper than `DEEPEST`, or has a whole number of more digits
            than the interpreter reads (4,300).
    """
    # A depth that depended on the stack of the caller would not be the same in every process.
    if text.count("[") + text.count("{") > DEEPEST:
        _check_depth(text)
    repeated: dict[str, None] = {}

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counted = Counter(key for key, _ in pairs)
            repeated.update((key, None) for key, times in counted.items() if times > 1)
        return found

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=_not_a_number)
    except json.JSONDecodeError as error:
        raise NotJsonError(_in_words(error, text), error.pos) from None
    except _ConstantError as error:
        name = str(error)
        raise NotJsonError(f"{name} is not a number in JSON", _place(text, name)) from None
    except ValueError:
        raise BeyondLimitsError("a whole number has too many digits to be read") from None
    return JsonText(value, tuple(repeated))


def inside_fence(text: str) -> tuple[int, int]:
    """(start, end) of the content of a Markdown code fence; the whole text without a fence.

    The fence must open at the beginning of the text and close at its end, white space aside.
    """
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    opening = _FENCE.match(text, start, end)
    if opening is None or not text.endswith(opening[1], opening.end() - 1, end):
        return 0, len(text)
    return opening.end(), max(opening.end(), end - len(opening[1]))


class _ConstantError(ValueError):
    """NaN, Infinity or -Infinity was met."""


def _not_a_number(name: str) -> NoReturn:
    raise _ConstantError(name)


def _place(text: str, name: str) -> int:
    """Position of a constant outside strings."""
    outside = re.compile(rf'"[^"\\]*+(?:\\.[^"\\]*+)*+"|({name})', re.DOTALL)
    return next((found.start() for found in outside.finditer(text) if found[1]), 0)


def _check_depth(text: str) -> None:
    depth = deepest = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        if found[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in "]}":
            depth -= 1
    if deepest <= DEEPEST:
        return
    if depth > 0:
        raise NotJsonError(f"{depth:,} brackets are never closed", len(text))
    raise BeyondLimitsError(f"it is nested {deepest:,} levels deep, and {DEEPEST} are read")


def _in_words(error: json.JSONDecodeError, text: str) -> str:
    if not text.strip():
        return "the text is empty"
    if text.startswith("\ufeff"):
        return "the text begins with a byte order mark"
    what = error.msg[0].lower() + error.msg[1:]
    return f"{what} at line {error.lineno}, column {error.colno}"
