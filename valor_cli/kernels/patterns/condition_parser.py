"""Read the text of a condition: its tokens, their syntax tree, and what it says of a text.

Nodes are operands, and groups of which all or any must hold. Evaluation says whether the condition
holds, which operands decide it, and which parts fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from valor_cli.kernels.patterns.regex import (
    Patience,
    Pattern,
    PatternError,
    PatternTimeout,
    parse_pattern,
)

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


@dataclass(frozen=True, slots=True)
class Operand:
    """A string or a pattern that a condition looks for.

    Attributes:
        sought: What to look for.
        wanted: Whether it is to be there; not under a NOT.
        written: As written in the condition, from character `start`.
    """

    sought: str | Pattern
    wanted: bool
    written: str
    start: int

    def places(self, text: str, patience: Patience) -> Iterator[tuple[int, int]]:
        """(start, end) of each match, in order.

        Raises:
            PatternTimeout: That takes too long.
        """
        if isinstance(self.sought, Pattern):
            try:
                yield from patience.matches(self.sought, text)
            except PatternTimeout as why:
                raise PatternTimeout(f"the {self} at character {self.start + 1} {why}") from None
            return
        at = text.find(self.sought)
        while at >= 0:
            yield at, at + len(self.sought)
            at = text.find(self.sought, at + len(self.sought))

    def __str__(self) -> str:
        long = len(self.written) > EXCERPT
        return f"{self.written[: EXCERPT - 1]}…" if long else self.written


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes joined by AND or OR."""

    every: bool
    nodes: tuple[Node, ...]


Node: TypeAlias = Operand | Group
"""A condition whose NOTs have been moved down to the operands."""

Found: TypeAlias = Callable[[Operand], bool | None]
"""Whether an operand is in the text; None if the search took too long."""


def value(node: Node, found: Found) -> bool | None:
    """Value of a node in Kleene's three-valued logic (None: unknown)."""
    if isinstance(node, Operand):
        there = found(node)
        return None if there is None else there is node.wanted
    unknown = False
    for one in node.nodes:
        holds = value(one, found)
        if holds is (not node.every):
            return holds
        unknown |= holds is None
    return None if unknown else node.every


def operands(node: Node) -> Iterator[Operand]:
    """All operands of a node, in order."""
    if isinstance(node, Operand):
        yield node
    else:
        for one in node.nodes:
            yield from operands(one)


def faults(node: Node, found: Found) -> Iterator[str]:
    """Messages about each part that makes a node false."""
    if isinstance(node, Operand):
        yield f"missing {node}" if node.wanted else f"forbidden {node} is there"
    elif node.every:
        for one in node.nodes:
            if value(one, found) is False:
                yield from faults(one, found)
    elif all(isinstance(one, Operand) and one.wanted for one in node.nodes):
        yield f"missing {' or '.join(map(str, node.nodes))}"
    else:
        message = [" and ".join(faults(one, found)) for one in node.nodes]
        yield f"one of these must change: {'; '.join(message)}"


DEEPEST = 100
"""Maximum nesting of brackets in a condition."""


class ConditionParser:
    """Reads tokens from left to right, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._next = next(self._tokens)
        self._depth = 0

    def root(self) -> Node:
        """The whole condition.

        Raises:
            ConditionError: The text is none.
        """
        if self._at("end"):
            raise self._error("this condition is empty")
        node = self._any_of(wanted=True)
        if self._at(")"):
            raise self._error("this closing bracket has no opening bracket")
        if not self._at("end"):
            raise self._error(f"expected AND, OR or the end, found {_spoken(self._next)}")
        return node

    def _any_of(self, *, wanted: bool) -> Node:
        return self._joined("OR", self._all_of, wanted=wanted)

    def _all_of(self, *, wanted: bool) -> Node:
        return self._joined("AND", self._negation, wanted=wanted)

    def _joined(self, operator: Kind, part: Callable[..., Node], *, wanted: bool) -> Node:
        nodes = [part(wanted=wanted)]
        while self._at(operator):
            self._take()
            nodes.append(part(wanted=wanted))
        # NOT (a OR b) is NOT a AND NOT b.
        return nodes[0] if len(nodes) == 1 else Group((operator == "AND") is wanted, tuple(nodes))

    def _negation(self, *, wanted: bool) -> Node:
        while self._at("NOT"):
            self._take()
            wanted = not wanted
        return self._operand(wanted=wanted)

    def _operand(self, *, wanted: bool) -> Node:
        token = self._next
        if token.kind == "string":
            return Operand(self._content(self._take()), wanted, token.text, token.start)
        if token.kind == "REGEXP":
            return self._regexp(wanted=wanted)
        if token.kind == "(":
            return self._bracket(wanted=wanted)
        raise self._error(
            f'expected a string "…", regexp("…"), NOT or a bracket, found {_spoken(token)}'
        )

    def _bracket(self, *, wanted: bool) -> Node:
        opening = self._take()
        self._depth += 1
        if self._depth > DEEPEST:
            raise ConditionError(
                f"more than {DEEPEST} brackets inside each other", opening.start, self._text
            )
        node = self._any_of(wanted=wanted)
        if self._at("end"):
            raise ConditionError("this bracket is never closed", opening.start, self._text)
        if not self._at(")"):
            raise self._error(f"expected AND, OR or ), found {_spoken(self._next)}")
        self._take()
        self._depth -= 1
        return node

    def _regexp(self, *, wanted: bool) -> Node:
        start = self._take().start
        form: tuple[Kind, ...] = ("(", "string", ")")
        for kind in form:
            if not self._at(kind):
                raise self._error(f'expected regexp("…"), found {_spoken(self._next)}')
            token = self._take()
            if kind == "string":
                string = token
        written = self._text[start : token.start + 1]
        try:
            pattern = parse_pattern(self._content(string))
        except PatternError as error:
            place = string.start if error.position is None else string.place(error.position)
            message = f"not a regular expression: {error.message}"
            raise ConditionError(message, place, self._text) from None
        return Operand(pattern, wanted, written, start)

    def _content(self, string: Token) -> str:
        if not string.content:
            raise ConditionError(
                "an empty string, which every text contains", string.start, self._text
            )
        return string.content

    def _at(self, kind: Kind) -> bool:
        return self._next.kind == kind

    def _take(self) -> Token:
        token = self._next
        self._next = next(self._tokens, token)
        return token

    def _error(self, message: str) -> ConditionError:
        return ConditionError(message, self._next.start, self._text)


def _spoken(token: Token) -> str:
    if token.kind == "end":
        return "the end"
    return token.text if len(token.text) <= EXCERPT else f"{token.text[: EXCERPT - 1]}…"
