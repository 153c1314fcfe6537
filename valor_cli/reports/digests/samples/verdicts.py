"""Judge verdicts of an example, up to a limit."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.samples.texts import visible
from valor_cli.results import Verdict

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
