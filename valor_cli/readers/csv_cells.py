"""Cells of CSV rows come in; numbers, or what is wrong, go out."""

from __future__ import annotations

import math
from typing import Final

from valor_cli.readers.checks import describe

_NAMES: Final = {",": "comma", ";": "semicolon", "\t": "tab"}


def ragged(found: int, expected: int, delimiter: str, what: str) -> str:
    """What to say of a row with another number of fields.

    Args:
        found, expected: How many there are, and are in the first line.
        delimiter: What stands between them.
        what: What may hold a delimiter ("label").
    """
    message = f"expected {expected} fields as in the first line, found {found}"
    if found > expected:
        message += f"; a {what} that holds a {_NAMES[delimiter]} must stand in double quotes"
    return message


def number_in(cell: str, note: str = "") -> tuple[float, str]:
    """The finite number that a cell says, and what is wrong with it; one of them is empty (NaN).

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
