"""Check single JSON values and convert them to typed values."""

from __future__ import annotations

import json
import math
from typing import Final

from valor_cli.data.table import Problems
from valor_cli.errors import printable

LARGEST_COORDINATE: Final = 1e150
"""Pixels. The area of a larger box would no longer fit a float64."""

LARGEST_EXACT: Final = 2**53
"""Whole numbers below this are exact as float64."""

_SHOWN = 40


def shortened(text: str, most: int = _SHOWN) -> str:
    """A text for a message, cut where it is long."""
    return text if len(text) <= most else text[: most - 1] + "…"


def describe(value: object) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, str):
        return f"the string {printable(json.dumps(shortened(value), ensure_ascii=False))}"
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
