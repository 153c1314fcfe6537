"""Describe types, defaults and bounds of JSON Schemas in words, for the tables of pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from valor_cli.entry_points import NAME

Schema: TypeAlias = Mapping[str, Any]

SECTIONS: Mapping[str, str] = {
    "Interval": "interval",
    "Gate": "gates",
    "Report": "report",
    "SliceSearch": "slices",
    "JudgeSettings": "judge",
    "PriceSettings": "price",
    "EmbedderSettings": "embedder",
    "LanguageModelSettings": "language_model",
    "Formats": "format",
    "Extraction": "extract",
    "LabelCells": "multi_label",
    "AtLeastOf": "composite",
}
"""The section that lists the keys of each model."""

WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null"}


def default(shown: Schema) -> str:
    default = shown.get("default")
    if default in (None, {}, [], ""):
        return ""
    if isinstance(default, float):
        return f"`{default:g}`"
    return f"`{default if isinstance(default, str) else json.dumps(default)}`"


def typed(shown: Schema, *, nullable: bool = False) -> str:
    """A type in words, with its bounds; null is mentioned only if it is not the default."""
    if "$ref" in shown:
        name = str(shown["$ref"]).rpartition("/")[2].rpartition("__")[2]
        return f"[mapping](#{SECTIONS[name]})"
    if "anyOf" in shown or "oneOf" in shown:
        members = shown.get("anyOf") or shown["oneOf"]
        kept = [one for one in members if nullable or one.get("type") != "null"]
        return either(dict.fromkeys(typed(one) for one in kept))
    if "const" in shown:
        return f"`{shown['const']}`" if "type" in shown else str(shown["const"])
    if "enum" in shown:
        return listed(f"`{one}`" for one in shown["enum"])
    kind = shown.get("type")
    if kind == "array":
        return f"list of {one(typed(shown.get('items', {})))}"
    if kind == "object":
        inner = shown.get("additionalProperties")
        return f"mapping to {one(typed(inner))}" if isinstance(inner, dict) else "mapping"
    if shown.get("format") == "path":
        return "path"
    if shown.get("pattern") == r"^metadata\..+$":
        return "`metadata.NAME`"
    if shown.get("pattern") == rf"^{NAME.pattern}$":
        return "`PACKAGE.NAME`"
    return f"{WORDS.get(str(kind), str(kind))}{_range(shown)}"


def _range(shown: Schema) -> str:
    """The bounds of a number."""
    if "minimum" in shown and "maximum" in shown:
        return f", {shown['minimum']:,} to {shown['maximum']:,}"
    if "exclusiveMinimum" in shown and "exclusiveMaximum" in shown:
        return f" between {shown['exclusiveMinimum']:g} and {shown['exclusiveMaximum']:g}"
    told = {"minimum": "≥", "exclusiveMinimum": ">"}
    return "".join(f" {sign} {shown[key]:g}" for key, sign in told.items() if key in shown)


def either(types: Iterable[str]) -> str:
    kept = list(types)
    return (", or " if any(" or " in one for one in kept) else " or ").join(kept)


def one(kind: str) -> str:
    return f"({kind})" if " or " in kind and not kind.startswith("`") else kind


def listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


_NAMES = ("Fleiss",)
"""First words that keep their capital."""


def told(text: str) -> str:
    """A description as a cell: no capital, no full stop."""
    text = " ".join(text.split()).removesuffix(".")
    word = re.match(r"\w+", text)
    plain = word is not None and (word[0][1:].islower() or word[0] == "A")
    plain = plain and text.split("'")[0] not in _NAMES
    return text[:1].lower() + text[1:] if plain else text


def yaml(text: str) -> str:
    return f"```yaml\n{text}\n```"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings)]
    lines += [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
