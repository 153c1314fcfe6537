"""Extract JSON values from the reply of a language model, most likely answer first.

Models think aloud, fence their JSON, add prose, leave trailing commas, and break lines inside
strings. All of that is accepted. Other invalid JSON is not repaired: single quotes, NaN, comments,
truncated objects.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from math import isinf
from operator import itemgetter
from typing import Any, NamedTuple

from valor_cli.kernels.columns.surrogates import whole_characters

DEEPEST = 100
"""Arrays and objects inside each other that are read; what is outside of those is not."""
_LONGEST_NUMBER = 400
"""Characters; the interpreter reads no whole number of more than 4,300 digits."""

_STRING = r'"[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_SPACE = r"[ \t\n\r]*+"
_SCALAR = rf"(?P<string>{_STRING})|(?P<number>{_NUMBER})|(?P<name>true|false|null)"
_VALUE = re.compile(rf"{_SPACE}(?:{_SCALAR}|(?P<open>[\[{{]))")
_INSIDE = {
    "[": re.compile(rf"{_SPACE}(?:{_SCALAR}|(?P<open>[\[{{])|(?P<close>\]))"),
    "{": re.compile(rf"{_SPACE}(?:(?P<key>{_STRING}){_SPACE}:|(?P<close>}}))"),
}
"""What may follow an opening bracket, or a comma: commas in front of a closing one are forgiven."""
_BEHIND = {
    "[": re.compile(rf"{_SPACE}(?:(?P<comma>,)|(?P<close>\]))"),
    "{": re.compile(rf"{_SPACE}(?:(?P<comma>,)|(?P<close>}}))"),
}
_BRACKET = re.compile(r"[\[{]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NAMES = {"true": True, "false": False, "null": None}

_THOUGHT = re.compile(r"<(/?)think>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*+(?:(`{3,}+)([^`\n]*+)|(~{3,}+)([^\n]*+))$", re.MULTILINE)
_AROUND = " \t\n\r\ufeff"


class Span(NamedTuple):
    """A range of a text."""

    start: int
    end: int


class _Unread(ValueError):  # noqa: N818  # what it says of the text
    """The text here is not a readable value."""


def json_values(reply: str) -> list[Any]:
    """All JSON values of a reply, most likely answer first.

    The order is: the whole text; every array and object of the text, fenced or not, the one that
    ends last first, so that an outer one comes before those inside of it; what else stands alone
    in a code fence, the last first. Those inside of strings are text. Thoughts are no part of the
    reply.
    """
    text = reply_text(reply)
    found = _containers(text)
    by_end = sorted(found.values(), key=itemgetter(0), reverse=True)
    whole = _values_at(text, [Span(0, len(text))], found)
    alone = _values_at(text, list(reversed(fenced(text))), found)
    return [*whole, *(value for _, value in by_end), *alone]


def _values_at(text: str, places: list[Span], found: dict[int, tuple[int, Any]]) -> list[Any]:
    """The values that parts of a text are."""
    values = []
    for place in places:
        with suppress(_Unread):
            values.append(_value_at(text, _stripped(text, *place), found))
    return values


def reply_text(reply: str) -> str:
    """A reply without surrounding text and without thoughts.

    A thought is what stands between `<think>` and `</think>`, in front of a `</think>` that was
    never opened (some servers drop the opening), or behind a `<think>` at the beginning that is
    never closed. Tags inside of the strings of a JSON value are text. Half a surrogate pair, which
    could not be written to any file, becomes U+FFFD.
    """
    text = whole_characters(reply).strip(_AROUND)
    if _THOUGHT.search(text) is None:
        return text
    inside = deque(_outermost(_containers(text)))
    kept: list[str] = []
    at, thinking = 0, False
    for tag in _THOUGHT.finditer(text):
        while inside and inside[0].end <= tag.start():
            inside.popleft()
        if inside and inside[0].start < tag.start():
            continue
        if not tag[1]:
            if not thinking:
                kept.append(text[at : tag.start()])
                at, thinking = tag.start(), True
            continue
        if not thinking:
            kept.clear()
        at, thinking = tag.end(), False
    if not thinking or any(one.strip(_AROUND) for one in kept):
        kept.append(text[at:])
    return "".join(kept).strip(_AROUND)


def fenced(text: str) -> list[Span]:
    """Contents of Markdown code fences, in order; the last may be unclosed."""
    found: list[Span] = []
    opening, start = "", 0
    for line in _FENCE.finditer(text):
        mark = line[1] or line[3]
        if not opening:
            opening, start = mark, line.end() + 1
        elif mark.startswith(opening) and not (line[2] or line[4] or "").strip():
            found.append(Span(start, max(start, line.start())))
            opening = ""
    return [*found, Span(start, max(start, len(text)))] if opening else found


def objects(text: str) -> list[Span]:
    """The top-level JSON objects with at least one key, in order."""
    found = _containers(text)
    return _outermost({at: one for at, one in found.items() if isinstance(one[1], dict) and one[1]})


def _stripped(text: str, start: int, end: int) -> Span:
    """The part of a text without the white space at its ends."""
    part = text[start:end]
    start += len(part) - len(part.lstrip(_AROUND))
    return Span(start, start + len(part.strip(_AROUND)))


def _value_at(text: str, place: Span, found: dict[int, tuple[int, Any]]) -> Any:
    """The JSON value that a part of a text consists of."""
    end, value = found.get(place.start, (-1, None))
    if end == place.end:
        return value
    token = _VALUE.match(text, *place)
    if token is None or token.end() != place.end or token["open"]:
        raise _Unread
    return _scalar(token)


@dataclass(slots=True)
class _Open:
    """An array or object being read; the key belongs to the next value."""

    start: int
    bracket: str
    items: Any
    key: str = ""

    def put(self, value: Any) -> None:
        if self.bracket == "{":
            self.items[self.key] = value
        else:
            self.items.append(value)


def _containers(text: str) -> dict[int, tuple[int, Any]]:
    """Each array and object that closes: where it starts, to where it ends and what it is.

    A text is read from each bracket on that may begin a value. Whatever is open where a reading
    ends fails with it, and whatever has closed stays; none of those are begun again. So only
    brackets that looked like a part of a string are, and each character is read twice at most:
    once as a part of a string, and once not.
    """
    found: dict[int, tuple[int, Any]] = {}
    begun = bytearray(len(text))
    bracket = _BRACKET.search(text)
    while bracket is not None:
        start = bracket.start()
        if not begun[start]:
            with suppress(_Unread):
                _read(text, start, found, begun)
        bracket = _BRACKET.search(text, found[start][0] if start in found else start + 1)
    return found


def _read(text: str, start: int, found: dict[int, tuple[int, Any]], begun: bytearray) -> None:
    """Read from a bracket to the one that closes it, or to text that is not JSON."""
    # What stands more than `DEEPEST` levels outside of what is being read falls off.
    outer: deque[_Open] = deque(maxlen=DEEPEST)
    token = _VALUE.match(text, start)
    while token is not None:
        at, kind = token.end(), token.lastgroup
        if kind == "open":
            begun[at - 1] = True
            bracket = text[at - 1]
            outer.append(_Open(at - 1, bracket, {} if bracket == "{" else []))
            follows = _INSIDE[bracket]
        elif kind == "comma":
            follows = _INSIDE[outer[-1].bracket]
        elif kind == "key":
            outer[-1].key = _unescaped(token["key"])
            follows = _VALUE
        else:
            if kind == "close":
                one = outer.pop()
                value = one.items
                found[one.start] = at, value
            else:
                value = _scalar(token)
            if not outer:
                return
            outer[-1].put(value)
            follows = _BEHIND[outer[-1].bracket]
        token = follows.match(text, at)


def _scalar(token: re.Match[str]) -> Any:
    """The string, the number or the name that a token is."""
    kind = token.lastgroup
    if kind == "string":
        return _unescaped(token["string"])
    if kind == "name":
        return _NAMES[token["name"]]
    number = token["number"]
    if len(number) > _LONGEST_NUMBER:
        raise _Unread
    if number.lstrip("-").isdigit():
        return int(number)
    value = float(number)
    if isinf(value):
        raise _Unread
    return value


def _unescaped(string: str) -> str:
    """The value of a quoted string."""
    inner = string[1:-1]
    if "\\" not in inner:
        return inner
    return whole_characters(_ESCAPE.sub(_character, inner))


def _character(escape: re.Match[str]) -> str:
    if escape[1] is not None:
        return chr(int(escape[1], 16))
    return _ESCAPED.get(escape[2], escape[2])


def _outermost(found: dict[int, tuple[int, Any]]) -> list[Span]:
    """The values that are not nested in others, in order."""
    outermost: list[Span] = []
    for start in sorted(found):
        if not outermost or start >= outermost[-1].end:
            outermost.append(Span(start, found[start][0]))
    return outermost
