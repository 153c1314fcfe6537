"""Texts of examples for reports: marked parts, invisible characters made visible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from valor_cli.reports.digests.formatting import capital, clean, words
from valor_cli.results import ShownText

# What reorders, hides or says nothing that can be seen. Marks of direction (U+200E, U+200F) and
# joiners (U+200C, U+200D) stay: scripts and emoji need them, and they change nothing around them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u180e\u200b\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e01ef]+"
)
_NAMES = {0: "NUL", 7: "BEL", 8: "BS", 11: "VT", 12: "FF", 13: "CR", 27: "ESC", 127: "DEL"}
_NUMBERED = re.compile(r"(\w+)\[(\d+)\]")
_SINGULAR = {
    "references": "reference",
    "retrieved_contexts": "context",
    "judge_replies": "judge reply",
    "reference_contexts": "reference context",
}

FEW = 3
"""Hidden characters in a row that are written out; more are counted."""


def visible(text: str) -> str:
    """Text with control and hidden characters named: "‹ESC›", "‹U+202E›"."""
    if text.isprintable():
        return text
    return _HIDDEN.sub(_named, text.replace("\r\n", "\n"))


def _named(found: re.Match[str]) -> str:
    hidden = found[0]
    if len(hidden) <= FEW:
        return "".join(f"‹{_name(one)}›" for one in hidden)
    return f"‹{_name(hidden[0])} and {len(hidden) - 1:,} more hidden characters›"


def _name(one: str) -> str:
    return _NAMES.get(ord(one), f"U+{ord(one):04X}")


def parts(shown: ShownText) -> Iterator[tuple[str, str]]:
    """The text as (characters, mark kind), kind empty outside marks."""
    at = 0
    for start, end, kind in shown.marks:
        if at < start:
            yield visible(shown.text[at:start]), ""
        yield visible(shown.text[start:end]), clean(kind, 40)
        at = end
    if at < len(shown.text):
        yield visible(shown.text[at:]), ""


def titles(texts: Sequence[ShownText]) -> list[str]:
    """Titles of texts: "Response", "Context 2"; numbered only if there are several."""
    split = [_NUMBERED.fullmatch(shown.field) for shown in texts]
    named = [found[1] if found else "" for found in split]
    return [
        capital(_SINGULAR.get(found[1], words(found[1])))
        + (f" {int(found[2]) + 1}" if named.count(found[1]) > 1 or int(found[2]) else "")
        if found
        else capital(words(shown.field))
        for found, shown in zip(split, texts, strict=True)
    ]


def left_out(shown: ShownText) -> str:
    """How much of the text is omitted, in words; empty if none."""
    if not shown.left_out:
        return ""
    return f"… {shown.left_out:,} character{'' if shown.left_out == 1 else 's'} left out"
