"""What the keys of a reply hold in; its JSON Schema out, as strict as providers want it.

All keys are required and no others allowed, though a reply is read without some and with others.
Each is made anew: those who send them to a provider may rewrite them.
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
    """One of some whole numbers."""
    return {"type": "integer", "enum": list(numbers)}


def whole_or_null() -> Form:
    """A whole number, or null."""
    return {"type": ["integer", "null"]}


def number() -> Form:
    """Any number."""
    return {"type": "number"}


def many(items: Form) -> Form:
    """A list. Its length stands in no form: some providers refuse one there."""
    return {"type": "array", "items": items}


def keyed(**properties: Form) -> Form:
    """An object; what comes first is written first."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
