"""Find telephone numbers in text.

A number must have a recognisable form: a leading "+" or "00", North American grouping, an area
code in brackets, or a leading 0 with groups. Other digits count if a nearby word says so ("call",
"Fax:", "… office"). No numbering plan is consulted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_GAPS = " \u00a0\u202f.\\-\u2010-\u2013"
_GAP = f"[{_GAPS}]"
_END = r"(?![0-9A-Za-z_]|[.:/][0-9])"
_EXTENSION = r"(?:[ ]?(?:x|ext\.?)[ ]?[0-9]{1,6})?"
_GROUPS = rf"(?:{_GAP}[0-9]{{2,8}})"

_RUN = re.compile(
    rf"[0-9](?<![0-9A-Za-z_][0-9])(?<![0-9][,:/\-][0-9])(?=[0-9()/{_GAPS}]{{5}})[0-9()/{_GAPS}]{{5,60}}+"
)
# Behind a space inside of a run, a number may start as well.
_INNER = re.compile(r"(?<=[ \u00a0\u202f])[(+]?(?=[0-9])|(?<=[0-9])\((?=[0-9])")
_FORMS = re.compile(
    rf"(?:"
    # +44 20 7946 0958, 0049 (0)30 901820
    rf"(?P<abroad>(?:\+|00)[1-9][0-9]{{0,14}}(?:{_GAP}?\([0-9]{{1,4}}\))?(?:{_GAP}[0-9]{{1,12}}){{0,6}})"
    # 212-555-0123, (212) 555-0123, 1-212-555-0123
    rf"|(?:(?:\+?1|001){_GAP})?(?:\([0-9]{{3}}\){_GAP}?|[0-9]{{3}}[.\-\u2010-\u2013]"
    rf"|[2-9][0-9]{{2}}[ \u00a0\u202f])[0-9]{{3}}{_GAP}[0-9]{{4}}"
    # (030) 901 820
    rf"|\((?!19|20)[0-9]{{2,5}}\){_GAP}?[0-9]{{3,4}}{_GAP}?[0-9]{{3,4}}"
    # 06-10446904, 027 896 92 86
    rf"|(?P<trunk>(?:\(0[0-9]{{1,4}}\){_GAP}?|0[0-9]{{1,4}}{_GAP})[0-9]{{2,8}}{_GROUPS}{{0,3}})"
    rf"){_EXTENSION}{_END}"
)
_DIGITS = re.compile(rf"(?:[0-9]{{7,12}}|[0-9]{{2,8}}{_GROUPS}{{1,4}}){_EXTENSION}{_END}")
_WORD_BEFORE = re.compile(
    r"\b(?i:call|phone|telephone|tel|mobile|cell|fax|dial|whatsapp|answering)\b[^0-9\n]{0,20}\Z"
)
_WORD_BEHIND = re.compile(r"[ ,\-]{0,3}\(?(?i:phone|tel|office|fax|mobile|cell|landline)\b")
_DATE = re.compile(
    rf"[0-3]?[0-9]{_GAP}[01]?[0-9]{_GAP}(?:19|20)[0-9]{{2}}|(?:19|20)[0-9]{{2}}{_GAP}[01]?[0-9]{_GAP}"
)
_DIGIT_COUNTS = {"abroad": (8, 15), "trunk": (9, 11)}
_BEFORE = 40


def phone_numbers(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each number, in linear time."""
    for run in _RUN.finditer(text):
        done = 0
        for start in _starts(text, run):
            if start >= done:
                end = _number_end(text, start)
                if end is not None:
                    yield start, end
                    done = end


def _starts(text: str, run: re.Match[str]) -> Iterator[int]:
    """Where in a run of digits and gaps a number may start."""
    first = run.start()
    while first and text[first - 1] in "+(" and run.start() - first < 2:
        first -= 1
    if not first or not (text[first - 1].isalnum() or text[first - 1] == "_"):
        yield first
    for inner in _INNER.finditer(text, run.start(), run.end()):
        yield inner.start()


def _number_end(text: str, start: int) -> int | None:
    """Where the number that starts here ends."""
    if _DATE.match(text, start):
        return None
    found = _FORMS.match(text, start)
    if found is not None:
        fewest, most = _DIGIT_COUNTS.get(found.lastgroup or "", (0, 99))
        if fewest <= sum(map(str.isdecimal, found[found.lastgroup or 0])) <= most:
            return found.end()
    found = _DIGITS.match(text, start)
    if found is None or not sum(map(str.isdecimal, found[0])) >= 7:
        return None
    named = _WORD_BEHIND.match(text, found.end()) or _WORD_BEFORE.search(
        text[max(0, start - _BEFORE) : start]
    )
    return found.end() if named else None
