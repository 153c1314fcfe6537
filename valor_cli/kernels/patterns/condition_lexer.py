"""Split the text of a condition into tokens with positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

EXCERPT = 60
"""Maximum characters of a condition shown in an error."""

Kind: TypeAlias = Literal["string", "AND", "OR", "NOT", "REGEXP", "(", ")", "end"]

WORDS: tuple[Kind, ...] = ("AND", "OR", "NOT", "REGEXP")

_TOKEN = re.compile(
    r"""(?P<space>\s++) | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+") | (?P<bracket>[()])"""
    r""" | (?P<word>\w++) | (?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPED = re.compile(r'\\(["\\])')
_QUOTES = "'`´‘’“”„«»"
_SIGNS = {"&": "AND", "|": "OR", "!": "NOT", "~": "NOT", "+": "AND", ",": "AND"}


class ConditionError(ValueError):
    """A text that is not a valid condition.

    Attributes:
        message: What is wrong, without the place.
        position: The character it is wrong at, from 0.
        text: The whole condition.
    """

    def __init__(self, message: str, position: int, text: str) -> None:
        super().__init__(message, position, text)
        self.message = message
        self.position = position
        self.text = text

    def __str__(self) -> str:
        before, after = self._around()
        return (
            f"{self.message}, at character {self.position + 1}: {before.lstrip()}▸{after.rstrip()}"
        )

    def excerpt(self) -> str:
        """The faulty line with a caret under the place, on two lines."""
        before, after = self._around()
        return f"{before}{after}\n{' ' * len(before)}^"

    def _around(self) -> tuple[str, str]:
        """The text around the place on its line, about `EXCERPT` long."""
        start = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        first = max(start, min(self.position - EXCERPT // 2, end - EXCERPT))
        last = min(end, first + EXCERPT)
        before = ("…" if first > start else "") + self.text[first : self.position]
        after = self.text[self.position : last] + ("…" if last < end else "")
        # A tab is as wide as the terminal likes; a caret under it would point elsewhere.
        return _one_wide(before), _one_wide(after)


class Token(NamedTuple):
    """A token: `text` as written, from character `start`."""

    kind: Kind
    text: str
    start: int

    @property
    def content(self) -> str:
        r"""The value of a string: `\"` is a quote, `\\` a backslash, any other is itself."""
        return _ESCAPED.sub(r"\1", self.text[1:-1])

    def place(self, offset: int) -> int:
        """Position in the condition of the character at `offset` of a string's content."""
        at = self.start + 1 + offset
        for escape in _ESCAPED.finditer(self.text, 1, len(self.text) - 1):
            at += self.start + escape.start() < at
        return at


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a condition, followed by an "end" token.

    Words are operators in any case: `and` is `AND`.

    Raises:
        ConditionError: Something in it is no token.
    """
    for match in _TOKEN.finditer(text):
        piece, start = match.group(), match.start()
        if match.lastgroup == "string":
            yield Token("string", piece, start)
        elif match.lastgroup == "bracket":
            yield Token("(" if piece == "(" else ")", piece, start)
        elif match.lastgroup != "space":
            yield Token(_operator(piece, start, text), piece, start)
    yield Token("end", "", len(text))


def _operator(piece: str, start: int, text: str) -> Kind:
    for word in WORDS:
        if piece.upper() == word:
            return word
    raise ConditionError(_what_is_meant(piece, text[start + 1 :]), start, text)


def _what_is_meant(piece: str, rest: str) -> str:
    if piece == '"':
        hint = "; write a backslash before a closing quote as \\\\" if '\\"' in rest else ""
        return f"this string has no closing quote{hint}"
    if piece in _QUOTES:
        return 'put strings in straight double quotes, "…"'
    if piece in _SIGNS:
        return (
            f"unknown sign {piece}; the operators are AND, OR and NOT, here perhaps {_SIGNS[piece]}"
        )
    if piece.lower() in ("regex", "re", "regexpr"):
        return f'unknown word {piece}; a regular expression is regexp("…")'
    if not piece.isalnum():
        return f"unexpected {piece!a}"
    return f'unknown word {piece[:EXCERPT]}; put strings in double quotes, "{piece[:EXCERPT]}"'


def _one_wide(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)
