"""Build strict JSON Schemas for judge replies.

All keys are required and no others allowed, as providers ask, although a reply is accepted with
fewer or more. Each schema is a new object, because clients may modify it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Form = dict[str, Any]


def text() -> Form:
    """A string."""
    return {"type": "string"}


def choice(words: Sequence[str]) -> Form:
    """One of some words."""
    return {"type": "string", "enum": list(words)}


def whole(numbers: Sequence[int]) -> Form:
    """One of some integers."""
    return {"type": "integer", "enum": list(numbers)}


def whole_or_null() -> Form:
    """An integer, or null."""
    return {"type": ["integer", "null"]}


def number() -> Form:
    """Any number."""
    return {"type": "number"}


def many(items: Form) -> Form:
    """A list. Its length is not in the schema, since some providers reject one there."""
    return {"type": "array", "items": items}


def keyed(**properties: Form) -> Form:
    """An object; keys are written in order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
