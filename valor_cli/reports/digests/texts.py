"""Texts of examples for reports: marked parts, invisible characters made visible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import capital, clean, plural, words
from valor_cli.results import ShownText, Verdict

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


LONG = 240
BEFORE = 60
"""Characters of an excerpt, and of those before its first mark."""


class Excerpt(Struct, frozen=True):
    """The part of a text around its first mark; whether there is more before and after it."""

    shown: ShownText
    before: bool
    after: bool


def excerpt(shown: ShownText) -> Excerpt:
    """A text from shortly before its first mark."""
    first = shown.marks[0][0] if shown.marks else 0
    start = max(first - BEFORE, 0) if first > LONG - BEFORE else 0
    end = start + LONG
    marks = [
        (max(a - start, 0), min(b, end) - start, kind)
        for a, b, kind in shown.marks
        if a < end and b > start
    ]
    part = ShownText(shown.field, shown.text[start:end], marks)
    return Excerpt(part, start > 0, end < len(shown.text) or shown.left_out > 0)


def left_out(shown: ShownText) -> str:
    """How much of the text is omitted, in words; empty if none."""
    if not shown.left_out:
        return ""
    return f"… {plural(shown.left_out, 'character')} left out"


LENGTH = 300
"""Characters shown of what was judged, and of the reason."""

WORD = 60
"""Characters of a verdict."""


class ShownVerdict(Struct, frozen=True):
    """A verdict with invisible characters shown; not escaped.

    Attributes:
        mark: What it says of the sample, in one sign.
        side: The same as a word: "for", "against", or "neither".
        word: The verdict.
        text: What was judged; empty where that is the response itself.
        reason: Why, in the judge's words; may be empty.
    """

    mark: str
    side: str
    word: str
    text: str
    reason: str


class ShownVerdicts(Struct, frozen=True):
    """Some verdicts of one sample, and the number of all in words."""

    lines: tuple[ShownVerdict, ...]
    counts: str
    left_out: int


_SIDES = {True: ("✓", "for"), False: ("✗", "against"), None: ("–", "neither")}


def shown_verdicts(verdicts: Sequence[Verdict], most: int) -> ShownVerdicts:
    """Verdicts in order; if there are too many, negative ones are kept."""
    first = sorted(range(len(verdicts)), key=lambda at: (verdicts[at].good is not False, at))[:most]
    return ShownVerdicts(
        tuple(_shown(verdicts[at]) for at in sorted(first)),
        _counts(verdicts),
        len(verdicts) - len(first),
    )


def _shown(verdict: Verdict) -> ShownVerdict:
    mark, side = _SIDES[verdict.good]
    word = clean(visible(verdict.verdict[:WORD]), WORD)
    return ShownVerdict(mark, side, word, _cut(verdict.text), _cut(verdict.reason))


def _cut(text: str) -> str:
    """Shorten to one line, since these texts are in lists."""
    line = " ".join(visible(text[: LENGTH + 1]).split())
    return line if len(text) <= LENGTH and len(line) <= LENGTH else f"{line[:LENGTH].rstrip()} …"


def _counts(verdicts: Sequence[Verdict]) -> str:
    """How many speak for and against the sample: "3 for, 2 against"."""
    sides = [_SIDES[verdict.good][1] for verdict in verdicts]
    named = [(side, sides.count(side)) for side in ("for", "against", "neither")]
    return ", ".join(f"{count:,} {side}" for side, count in named if count)
