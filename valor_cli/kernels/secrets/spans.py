"""Places in a text in; the text with them masked out, and places put in order, out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

MASK = "•"


class Span(NamedTuple):
    """Characters `start` to `end` (not included) of a text, and what they are ("US_SSN")."""

    start: int
    end: int
    kind: str


_ESCAPES = re.compile(r"\\[bfnrt]")


def without_escapes(text: str) -> str:
    """The text with spaces for the line ends and tabs that JSON and code escape; its length stays.

    In `"key:\\nghp_…"` the n is no letter of what follows it.
    """
    return _ESCAPES.sub("  ", text) if "\\" in text else text


def apart(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, none reaching into another: the earlier wins, of those the longer."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end, one.kind)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found


def masked(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark in the place of each character of the spans; its length stays.

    White space and punctuation stay, so that the shape of what was found can be told.
    """
    pieces: list[str] = []
    at = 0
    for start, end, _ in sorted(spans):
        start = max(start, at)
        if start >= end:
            continue
        pieces.append(text[at:start])
        pieces += [MASK if each.isalnum() else each for each in text[start:end]]
        at = end
    pieces.append(text[at:])
    return "".join(pieces)
