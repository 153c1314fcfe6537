"""Parse a JSON document; syntax errors name the line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from valor_cli.data.json_records import LONGEST_INTEGER, TOO_DEEP
from valor_cli.errors import DataError, Problem, printable

T = TypeVar("T")

_EXCERPT = 30
_REASONS = {
    "Expecting value": "expected a value",
    "Expecting ',' delimiter": "expected a comma or the end",
    "Expecting ':' delimiter": "expected a colon",
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
}
"""The standard library's words, where ours are plainer."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_HALF_A_WORD = re.compile(r"[-+.\\\w]*\s*")
_NO_BRACKET = re.compile(r"[^\[\]{}]+")


def parse_json(text: bytes, path: str) -> object:
    """Parse a JSON text like `json.loads`: with NaN and Infinity, and the last of duplicate keys.

    Args:
        text: UTF-8 without byte order mark.
        path: The file, for messages.

    Raises:
        DataError: The text is not JSON; the place is `path:line:column`.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        # It is stricter than json.loads (NaN, 1e999, lone surrogates) and names no line.
        return decoded(lambda: json.loads(text.decode("utf-8"), parse_int=_integer), path)


def decoded(decode: Callable[[], T], path: str) -> T:
    """What a decoder of the standard library makes of a JSON text.

    Args:
        decode: Decodes it.
        path: The file, for messages.

    Raises:
        DataError: The text is not JSON; the place is `path:line:column`.
    """
    try:
        return decode()
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise DataError(Problem(place, _syntax_message(error.doc, error))) from None
    except RecursionError:
        raise DataError(Problem(path, TOO_DEEP)) from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST_INTEGER else float(digits)


def _syntax_message(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return "there is no JSON here, only white space"
    inside = _inside_at_end(text, error)
    if inside:
        return f"the file ends inside {inside}: it was cut off; write or copy it again"
    excerpt = printable(text[error.pos : error.pos + _EXCERPT].splitlines()[0])
    if error.msg == "Extra data":
        return f"not JSON: more text after its end: {excerpt} (one value a line is JSONL)"
    reason = _REASONS.get(error.msg) or error.msg.strip(": ").removesuffix(" at")
    return f"not JSON: {reason[0].lower()}{reason[1:]}, found: {excerpt}"


def _inside_at_end(text: str, error: json.JSONDecodeError) -> str:
    """What a cut-off text ends in; empty when the text breaks earlier than at its end."""
    if error.msg.startswith("Unterminated string"):
        return "a string"
    if error.msg == "Extra data" or not _HALF_A_WORD.fullmatch(text, error.pos):
        return ""
    # Up to the error the text is right, so every string in it is closed.
    inside = [""]
    for bracket in _NO_BRACKET.sub("", _STRING.sub("", text[: error.pos])):
        if bracket in "]}":
            inside.pop()
        else:
            inside.append("a list" if bracket == "[" else "an object")
    return inside[-1]
