"""Check single JSON values of text samples."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from valor_cli.data.json_records import DuplicateKey, Number, said, scalar_text
from valor_cli.data.values import is_text

Note: TypeAlias = Callable[[str, str], None]
"""Takes where in the row, and what is wrong there."""

TEXT_KEYS: Final = ("text", "content", "page_content")
"""Keys of the text of a context that is an object, in order of preference."""


def text(value: Any, place: str, note: Note) -> str | None:
    """A text; numbers, true and false as written."""
    if value is None:
        return None
    found = scalar_text(value)
    if found is None:
        wanted = "Unicode text" if isinstance(value, str) else "a text"
        note(place, f"expected {wanted}, found {_named(value)}")
    return found


def name(value: Any, place: str, note: Note) -> str | None:
    """A nonblank text; None if absent."""
    found = text(value, place, note)
    return found if found and found.strip() else None


def sample_id(value: Any, place: str, note: Note) -> str | None:
    """A sample id: a text, or a number as written."""
    if value is None:
        return None
    found = None if isinstance(value, bool) else scalar_text(value)
    if found is None:
        note(place, f"expected a string or a number, found {_named(value)}")
    elif not found or "\0" in found:
        what = "one with a NUL character" if found else "an empty text"
        note(place, f"expected the id of a sample, found {what}")
    return found


def response(value: Any, place: str, note: Note) -> str | None:
    """A text; objects and lists as compact JSON."""
    if not isinstance(value, list | dict):
        return text(value, place, note)
    found = compact(value)
    if not is_text(found):
        note(place, "expected Unicode text, found half a character in it")
        return None
    return found


def texts(value: Any, place: str, note: Note) -> tuple[str, ...]:
    """One text, or a list of texts."""
    if value is None:
        return ()
    if not isinstance(value, list):
        found = text(value, place, note)
        return () if found is None else (found,)
    return tuple(_items(value, place, note))


def contexts(value: list[Any], place: str, note: Note) -> tuple[str, ...]:
    """The texts of a list of texts, or of objects with a text."""
    found: list[str] = []
    for position, item in enumerate(value):
        where = f"{place}[{position}]"
        if isinstance(item, dict):
            key = next((key for key in TEXT_KEYS if key in item), None)
            if key is None:
                keys = ", ".join(f'"{key}"' for key in TEXT_KEYS)
                note(where, f"expected a text, or an object with one of {keys}, found none of them")
                continue
            item, where = item[key], f"{where}.{key}"
        found += _items([item], where, note, numbered=False)
    return tuple(found)


def amount(value: Any, place: str, note: Note) -> float | None:
    """A non-negative number."""
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        note(place, f"expected a number, found {_named(value)}")
    elif not math.isfinite(value):
        note(place, f"expected a finite number, found {_named(value)}")
    elif value < 0:
        note(place, f"expected 0 or more, found {_named(value)}")
    else:
        return float(value)
    return None


def metadata(value: Any, place: str, note: Note) -> Any:
    """A scalar value."""
    if isinstance(value, list | dict):
        note(place, f"expected a single value, found {_named(value)}")
    elif isinstance(value, str) and not is_text(value):
        note(place, f"expected Unicode text, found {_named(value)}")
    elif isinstance(value, float) and not math.isfinite(value):
        note(place, f"expected a finite number, found {_named(value)}")
    else:
        return value.plain if isinstance(value, Number) else value
    return None


def compact(value: Any) -> str:
    """A value as compact JSON, numbers as written."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        pairs = (f"{_string(key)}:{compact(item)}" for key, item in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return _string(value) if isinstance(value, str) else json.dumps(value)


def faults(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
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


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _items(value: list[Any], place: str, note: Note, *, numbered: bool = True) -> Iterator[str]:
    for position, item in enumerate(value):
        found = scalar_text(item)
        if found is not None:
            yield found
            continue
        where = f"{place}[{position}]" if numbered else place
        wanted = "Unicode text" if isinstance(item, str) else "a text"
        note(where, f"expected {wanted}, found {_named(item)}")


def _named(value: Any) -> str:
    if isinstance(value, float) and not isinstance(value, Number):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return said(value)


def _string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
