"""Find the listed steps of a text, and align two lists of steps.

All patterns are anchored or of bounded length, so finding steps takes linear time.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.text.sentences import split_sentences

Edit: TypeAlias = Literal["match", "mismatch", "insertion", "deletion"]


class Step(NamedTuple):
    """A step: its marker starts at `start`, its text at `body`; `end` is exclusive."""

    start: int
    body: int
    end: int


class Pairing(NamedTuple):
    """Alignment of a step: a match or mismatch has both positions.

    An insertion is a step that is missing and would have to be inserted; a deletion is one too
    many.
    """

    edit: Edit
    expected: int | None
    given: int | None


_QUOTED = r"[ \t]*(?:[#>][#> \t]*)?"
_BOLD = r"(?:\*\*|__)?"
_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten"
_ORDINALS = (
    "first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|fifth(?:ly)?|sixth(?:ly)?"
    "|seventh(?:ly)?|eighth(?:ly)?|ninth(?:ly)?|tenth(?:ly)?"
    "|then|next|after that|afterwards?|finally|last(?:ly)?"
)

_NAMED = re.compile(
    rf"(?:^{_QUOTED}(?:[-*•][ \t]+)?{_BOLD}|(?<=[.!?:;]\s))"
    rf"step[ \t]{{1,4}}(?:\d{{1,3}}|{_WORDS})\b{_BOLD}[ \t]{{0,4}}[.:)–—-]{{0,2}}{_BOLD}",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(
    rf"(?P<line>^{_QUOTED}{_BOLD})?(?<![^\s#>*_])"
    rf"(?P<open>\()?(?P<number>\d{{1,3}})(?P<close>[.)]){_BOLD}(?=\s|[^\W\d])",
    re.MULTILINE,
)
_BULLETED = re.compile(r"^[ \t]*[-*+•‣◦▪●○∙·–—][ \t]+(?=\S)", re.MULTILINE)
_ORDINAL = re.compile(
    rf"(?:{_ORDINALS})\b(?=[,:]|[ \t]{{1,4}}[^\W\d_])",
    re.IGNORECASE,
)
# "First World War" and "Next Generation" are names.
_CAPITAL = re.compile(r"\w+(?: that)?[ \t]+(?!I\b)[A-Z]")
_LINE = re.compile(r"[^\n]+")
_BLANK = re.compile(r"\n[ \t\r]*\n")
_AROUND = " \t\r\n*_#>`.,:;!?–—-"
_SAYING = re.compile(rf"[^\s{_AROUND}]")


def find_steps(text: str) -> list[Step]:
    """The steps that a text lists, in order.

    Steps are marked in one of four ways: "Step n", numbers ("1.", "1)", "(1)"), bullets, and
    ordinal words (First, Second, Then, Next, Finally …) that begin a line or a sentence. The first
    of these that the text has twice or more makes the steps, else the first that it has once;
    ordinal words count from two on. What is marked in another way, or further to the right, belongs
    to the step it is in.

    A step ends before the next one and at a blank line; one marked by an ordinal word, with its
    sentence.
    """
    single: list[Step] = []
    for find in (_named, _numbered, _bulleted):
        found = find(text)
        if len(found) > 1:
            return found
        single = single or found
    ordinals = _ordinal(text)
    return ordinals if len(ordinals) > 1 else single


def words_of(text: str, step: Step) -> str:
    """The normalised text of a step: no marker, case, markup or extra white space."""
    return " ".join(text[step.body : step.end].strip(_AROUND).casefold().split())


def _named(text: str) -> list[Step]:
    return _bounded(text, [match.span() for match in _NAMED.finditer(text)])


def _numbered(text: str) -> list[Step]:
    """Numbers that begin a line; within one, a 1 after punctuation and what counts on from it."""
    found: list[tuple[int, int]] = []
    lines: list[int] = []
    before = ("", 0)
    for match in _NUMBERED.finditer(text):
        number, form = int(match["number"]), f"{match['open']}{match['close']}"
        start = match.start()
        begins = match["line"] is not None
        ahead = text[max(0, start - 4) : start].rstrip()[-1:]
        if begins or before == (form, number - 1) or (number == 1 and ahead in ".!?:;"):
            found.append(match.span())
            lines.append(_indent(match["line"]) if begins else -1)
            before = (form, number)
    return _bounded(text, _outermost(found, lines))


def _bulleted(text: str) -> list[Step]:
    matches = list(_BULLETED.finditer(text))
    indents = [_indent(match.group()) for match in matches]
    return _bounded(text, _outermost([match.span() for match in matches], indents))


def _ordinal(text: str) -> list[Step]:
    found: list[Step] = []
    if not re.search(rf"\b(?:{_ORDINALS})\b", text, re.IGNORECASE):
        return found
    for line in _LINE.finditer(text):
        for start, end in split_sentences(line.group()):
            first, last = line.start() + start, line.start() + end
            match = _ORDINAL.match(text, first, last)
            words = _SAYING.search(text, match.end(), last) if match else None
            if words and not _CAPITAL.match(text, first, last):
                found.append(Step(first, words.start(), last))
    return found


def _indent(before: str) -> int:
    """How far to the right a line begins."""
    return len(before.expandtabs(4)) - len(before.expandtabs(4).lstrip(" "))


def _outermost(spans: list[tuple[int, int]], indents: list[int]) -> list[tuple[int, int]]:
    """The markers that stand furthest to the left, give or take one; -1 is within a line."""
    edge = min((indent for indent in indents if indent >= 0), default=0) + 1
    return [span for span, indent in zip(spans, indents, strict=True) if indent <= edge]


def _bounded(text: str, markers: list[tuple[int, int]]) -> list[Step]:
    """Steps that begin with markers, until the next one or a blank line; none without words."""
    limits = [*(start for start, _ in markers), len(text)][1:]
    found = []
    for (start, after), limit in zip(markers, limits, strict=True):
        words = _SAYING.search(text, after, limit)
        if words:
            blank = _BLANK.search(text, words.start(), limit)
            end = blank.start() if blank else limit
            length = len(text[words.start() : end].rstrip())
            found.append(Step(start, words.start(), words.start() + length))
    return found


def align(equal: NDArray[np.bool_]) -> list[Pairing]:
    """The shortest edit path from the given steps to the expected ones, in order.

    Of as many edits the alignment with the fewest mismatches is taken, so that a step that both
    have is found; all four counts follow from that. Among those, from the end on, a pair goes
    before a deletion, and that before an insertion.

    Args:
        equal: (expected, given) which of the steps say the same.
    """
    costs = _costs(equal)
    one = costs[0, 1] if equal.shape[1] else 1
    i, j = equal.shape
    found: list[Pairing] = []
    while i or j:
        if i and j and costs[i, j] == costs[i - 1, j - 1] + (0 if equal[i - 1, j - 1] else one + 1):
            i, j = i - 1, j - 1
            found.append(Pairing("match" if equal[i, j] else "mismatch", i, j))
        elif j and costs[i, j] == costs[i, j - 1] + one:
            j -= 1
            found.append(Pairing("deletion", None, j))
        else:
            i -= 1
            found.append(Pairing("insertion", i, None))
    return found[::-1]


def _costs(equal: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(expected + 1, given + 1) the cost of making each beginning of one that of the other.

    An edit costs more than all mismatches together can add to it.
    """
    expected, given = equal.shape
    one = expected + given + 1
    costs = np.empty((expected + 1, given + 1), np.int64)
    costs[0] = ahead = np.arange(given + 1) * one
    for i in range(expected):
        row = costs[i] + one
        row[1:] = np.minimum(row[1:], costs[i, :-1] + np.where(equal[i], 0, one + 1))
        # A deletion of any length at once, in place of one after the other.
        costs[i + 1] = np.minimum.accumulate(row - ahead) + ahead
    return costs
