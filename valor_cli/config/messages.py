"""Turn pydantic errors into plain messages with the path of the fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from valor_cli.config.problems import TreePath, quoted
from valor_cli.errors import did_you_mean

_KINDS = {
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_LIMITS = {
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "finite_number": "a finite number",
    "literal_error": "one of {expected}",
    "too_short": "at least {min_length} items",
    "too_long": "at most {max_length} items",
}


class Fault(Struct, frozen=True):
    """A pydantic error, with its path in the tree.

    Attributes:
        kind: Pydantic's name for it.
        message: The model's or pydantic's own words, for want of `expected`.
        expected: The expected value; empty if only the message says what is wrong.
        value: The value found; for a list of the wrong length, the length.
        union: The path of the union it lies in.
    """

    path: TreePath
    kind: str
    message: str
    expected: str
    value: Any
    union: TreePath | None

    @property
    def of_kind(self) -> bool:
        """Whether the value has the wrong type, rather than an invalid value."""
        return self.kind in _KINDS


def faults_in(error: ValidationError, tree: Any) -> list[Fault]:
    """The faults of a validated tree; for a union, those of the branch that was meant."""
    faults = []
    for details in error.errors(include_url=False):
        kind, context = details["type"], details.get("ctx", {})
        path, union, value = _located(details["loc"], tree, kind)
        if kind == "too_short" and len(value) >= context["min_length"]:
            continue  # Pydantic counts only the valid items, and those that are not are told.
        if kind in ("too_short", "too_long"):
            value = len(value)
        own = kind in ("value_error", "assertion_error")
        message = str(context["error"] if own else details["msg"])
        expected = _KINDS.get(kind) or _limit(kind, context)
        faults.append(Fault(path, kind, message, expected, value, union))
    # A branch with a fault inside the value has the right outer form. Where no branch has one, all
    # of them say what was expected.
    entered = {fault.union for fault in faults if fault.union != fault.path}
    return [fault for fault in faults if fault.union != fault.path or fault.union not in entered]


def _limit(kind: str, context: Mapping[str, Any]) -> str:
    limit = _LIMITS.get(kind, "").format(**context).replace(" 1 items", " 1 item")
    if kind == "string_pattern_mismatch" and "metadata" in context["pattern"]:
        return "a column, as metadata.name"
    if kind != "literal_error":
        return limit
    # Pydantic's "'a', 'b' or 1" becomes "a, b, 1".
    limit = re.sub(r" or (?=[^ ]*$)", ", ", re.sub(r"'([^']*)'", r"\1", limit))
    return limit if ", " in limit else limit.removeprefix("one of ")


def _located(
    loc: Sequence[str | int], node: Any, kind: str
) -> tuple[TreePath, TreePath | None, Any]:
    """The path in the tree that pydantic's `loc` means, that of the union it lies in, the value.

    `loc` names the branches of unions too, which are no part of the tree.
    """
    path: TreePath = ()
    union: TreePath | None = None
    for index, part in enumerate(loc):
        if isinstance(node, dict) and part in node:
            node = node[str(part)]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        elif kind == "missing" and index == len(loc) - 1:
            node = None
        else:
            union = path if union is None else union
            continue
        path = (*path, part)
    return path, union, node


def alternatives(faults: Sequence[Fault]) -> str:
    """The values that any branch of a union accepts."""
    words = list(dict.fromkeys(fault.expected for fault in faults))
    if {"text", "a number", "true or false"} <= set(words):
        words = ["a single value", *(word for word in words if word in ("a list", "a mapping"))]
    elif "a number" in words:
        words = [word for word in words if word != "a whole number"]
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def describe_value(value: Any, *, kind: bool) -> str:
    """Describe a value for a message; with `kind`, also its type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"the text {quoted(value)}" if kind else quoted(value)
    number = re.sub(r"\b(inf|nan)$", r".\1", str(value))
    number = number if len(number) <= 60 else f"{number[:59]}…"
    return f"the number {number}" if kind else number


def unknown_key(name: str, owner: str, known: Sequence[str], word: str = "key") -> str:
    """Report an unknown key, with the keys that exist; `word` is what a key is called."""
    return f"unknown {word}{did_you_mean(name, known)}; {owner} has {', '.join(known) or 'none'}"


def keys_of(model: type[BaseModel], path: TreePath) -> Sequence[str]:
    """The keys of the model, or of a nested one at the path."""
    models = [model]
    for part in path:
        fields = [model.model_fields[str(part)] for model in models if part in model.model_fields]
        if fields:
            models = [inner for field in fields for inner in _models_in(field.annotation)]
    return tuple(dict.fromkeys(name for model in models for name in model.model_fields))


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
