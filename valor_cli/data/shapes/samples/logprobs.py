"""Parse token log-probabilities.

A list has one number per token of the response: the natural logarithm of its probability, or null
where it was not scored, as is usual for the first token. An item may also be an object with a
`logprob`, as in the responses of OpenAI's API and APIs compatible with it.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, TypeAlias

import orjson

from valor_cli.data.json_records import Number, parsed, said
from valor_cli.data.shapes.samples.values import Note, faults

Logprobs: TypeAlias = tuple[float | None, ...]

ROUNDING: Final = 1e-6
"""What a logarithm may be above 0: the probability of a sure token, rounded up."""

KEY: Final = "logprob"

_NONE: Final = type(None)
_NUMBERS: Final = frozenset({float, int, _NONE})
_OBJECTS: Final = ({dict}, {dict, _NONE})


def logprobs(value: Any, place: str, note: Note) -> Logprobs | None:
    """Log-probabilities in a list; None if absent. The first fault is reported."""
    if value is None:
        return None
    if not isinstance(value, list):
        note(place, f"expected a list of numbers, found {said(value)}")
        return None
    found: list[float | None] = []
    for position, item in enumerate(value):
        where = f"{place}[{position}]"
        if isinstance(item, dict):
            if KEY not in item:
                note(where, f'expected a number, null, or an object with "{KEY}", found none')
                return None
            item, where = item[KEY], f"{where}.{KEY}"
        if (wrong := _wrong(item)) is not None:
            note(where, wrong)
            return None
        found.append(None if item is None else float(item))
    return tuple(found)


def plain_logprobs(value: Any) -> Logprobs | None:
    """The same, fast, for values decoded by orjson; None if unusual or invalid."""
    if type(value) is not list:
        return None
    kinds = set(map(type, value))
    if kinds in _OBJECTS:
        value = [None if one is None else one.get(KEY, "") for one in value]
        kinds = set(map(type, value))
    if not kinds <= _NUMBERS:
        return None
    numbers = [one for one in value if one is not None] if _NONE in kinds else value
    if numbers and not (-math.inf < min(numbers) and max(numbers) <= ROUNDING):
        return None
    if int not in kinds:
        return tuple(value)
    return tuple(None if one is None else float(one) for one in value)


def logprobs_in(cell: str, place: str, note: Note) -> Logprobs | None:
    """Log-probabilities in a CSV cell: a JSON list; None if blank."""
    if not cell.strip():
        return None
    try:
        found = plain_logprobs(orjson.loads(cell))
        if found is not None:
            return found
    except (orjson.JSONDecodeError, RecursionError):
        pass
    try:
        value = parsed(_as_json(cell).encode())
    except (json.JSONDecodeError, RecursionError):
        note(place, "expected a JSON list of numbers, and null for tokens without one")
        return None
    problems = list(faults(value, place))
    if problems:
        note(*problems[0])
        return None
    return logprobs(value, place, note)


def _as_json(cell: str) -> str:
    """A list that Python wrote, as a data frame is saved: None is null."""
    return cell if '"' in cell else cell.replace("None", "null")


def _wrong(item: Any) -> str | None:
    """What is wrong with a value; None: nothing."""
    if item is None:
        return None
    if not isinstance(item, Number):
        return f"expected a number or null, found {said(item)}"
    if not math.isfinite(item):
        return f"expected a finite number, found {said(item)}"
    if item > ROUNDING:
        return f"expected the natural logarithm of a probability, 0 or less, found {said(item)}"
    return None
