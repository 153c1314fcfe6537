"""Merge and mask character spans of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

MASK = "•"


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text, with their kind ("US_SSN")."""

    start: int
    end: int
    kind: str


_ESCAPES = re.compile(r"\\[bfnrt]")


def without_escapes(text: str) -> str:
    r"""The text with escaped line ends and tabs replaced by spaces of equal length.

    In `"key:\nghp_…"` the n is no letter of what follows it.
    """
    return _ESCAPES.sub("  ", text) if "\\" in text else text


def disjoint(spans: Iterable[Span]) -> list[Span]:
    """Sorted, disjoint spans: the earlier wins, then the longer."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end, one.kind)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found


def masked(text: str, spans: Iterable[Span]) -> str:
    """The text with each character of the spans masked.

    White space and punctuation stay, so that the shape of the match can be seen.
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
