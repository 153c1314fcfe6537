"""Cells of CSV files come in; texts and lists of them go out, or a noted fault."""

from __future__ import annotations

import ast
import io
import json
import tokenize
import warnings
from typing import Any, Final

from valor_cli.readers import sample_values as values
from valor_cli.readers.csv_cells import number_in
from valor_cli.readers.json_records import parsed
from valor_cli.readers.sample_values import Note

_UNREADABLE: Final = (SyntaxError, ValueError, MemoryError, RecursionError)
"""What `ast.parse` raises for a text that is no Python."""

_LISTS = "a JSON list of texts, or a list as Python writes it"


def amount(cell: str, place: str, note: Note) -> float | None:
    """A number of 0 or more; None where there is none."""
    if not cell.strip():
        return None
    found, wrong = number_in(cell)
    if not wrong and found < 0:
        wrong = f"expected 0 or more, found {cell.strip()}"
    if wrong:
        note(place, wrong)
        return None
    return found


def contexts(cell: str, place: str, note: Note) -> tuple[str, ...] | None:
    """The texts of a list: JSON, or as Python and numpy write one."""
    found = _json_list(cell)
    if found is not None:
        for where, message in values.faults(found, place):
            note(where, message)
        return values.contexts(found, place, note)
    strings = _python_strings(cell)
    if strings is None:
        note(place, f"expected {_LISTS}, for the cell begins with [; found neither")
    return strings


def listed_texts(cell: str, place: str, note: Note) -> tuple[str, ...]:
    """The texts of a list, else the cell as it is: a text may well begin with a bracket."""
    if not cell:
        return ()
    if cell.lstrip().startswith("["):
        found = _json_list(cell)
        if found is not None:
            return values.texts(found, place, note)
        strings = _python_strings(cell)
        if strings is not None:
            return strings
    return (cell,)


def _json_list(cell: str) -> list[Any] | None:
    try:
        found = parsed(cell.encode())
    except (json.JSONDecodeError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _python_strings(cell: str) -> tuple[str, ...] | None:
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
    except (*_UNREADABLE, tokenize.TokenError):
        return None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in [*found, *apart]):
        return None
    if len(apart) == len(found):
        return tuple(found)
    return None if commas else tuple(apart)
