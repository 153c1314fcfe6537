"""The text of a condition in; whether texts fulfil it, and where they do or do not, out.

    ("Rio" OR "rio") AND regexp("15,?969 [Mm]il") AND NOT "Real"

Operands are strings, found anywhere in a text with their case, and `regexp("…")`, found as Python's
`re.search` finds them. NOT binds before AND, AND before OR. In both kinds of operand `\\"` is a
quote and `\\\\` a backslash; any other backslash stands for itself, so that `regexp("\\d{3}")` and
`regexp("\\\\d{3}")` are one. Words are read in any case.

The language is that of the Text Matching Evaluator of H2O Sonar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias

from valor_cli.kernels.condition_lexer import EXCERPT, ConditionError, Kind, Token, tokens
from valor_cli.kernels.patterns import (
    Patience,
    Pattern,
    PatternError,
    PatternTimeout,
    parse_pattern,
)
from valor_cli.kernels.spans import Span

__all__ = ["Condition", "ConditionError", "Judgement", "parse_condition"]

DEEPEST = 100
"""Brackets that may stand open at one place of a condition."""

MOST_SPANS = 5
"""Places of one operand in one text that are told, the first ones."""

FOUND = "found"
FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Operand:
    """A string or a pattern that a condition looks for.

    Attributes:
        sought: What to look for.
        wanted: Whether it is to be there; not under a NOT.
        written: As it stands in the condition, from character `start`.
    """

    sought: str | Pattern
    wanted: bool
    written: str
    start: int

    def places(self, text: str, patience: Patience) -> Iterator[tuple[int, int]]:
        """(start, end) of what is found, in order.

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
    """Nodes of which all must hold, or any."""

    every: bool
    nodes: tuple[Node, ...]


Node: TypeAlias = Operand | Group
"""A condition whose NOTs have been moved down to the operands."""


class Judgement(NamedTuple):
    """What a condition says of a text.

    Attributes:
        holds: Whether the text fulfils it.
        spans: Where its operands were found: "found" where they are wanted, else "forbidden".
        faults: Why it does not hold, in words: `missing "15,969"`, `forbidden "Real" is there`.
    """

    holds: bool
    spans: tuple[Span, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """What a text must have, and must not have; equal where it is written alike."""

    text: str
    _root: Node = field(compare=False, repr=False)

    def holds(self, text: str, patience: Patience | None = None) -> bool:
        """Whether a text fulfils the condition.

        Args:
            text: To look at.
            patience: What was learnt of slow patterns, shared by the texts of a run.

        Raises:
            PatternTimeout: A pattern takes too long, and the rest does not decide.
        """
        watch = patience or Patience()
        stopped: list[PatternTimeout] = []

        def found(operand: Operand) -> bool | None:
            try:
                return next(operand.places(text, watch), None) is not None
            except PatternTimeout as why:
                stopped.append(why)
                return None

        return _decided(self._root, found, stopped)

    def judged(self, text: str, patience: Patience | None = None) -> Judgement:
        """Whether a text fulfils the condition, where what was found stands, and what is wrong.

        Args and errors are those of `holds`, and so is its answer.
        """
        watch = patience or Patience()
        stopped: list[PatternTimeout] = []
        spans: list[Span] = []
        seen: dict[int, bool | None] = {}
        for operand in _operands(self._root):
            kind = FOUND if operand.wanted else FORBIDDEN
            seen[operand.start] = False
            try:
                for start, end in islice(operand.places(text, watch), MOST_SPANS):
                    seen[operand.start] = True
                    if end > start:
                        spans.append(Span(start, end, kind))
            except PatternTimeout as why:
                # One place is enough to know that there is one.
                if not seen[operand.start]:
                    seen[operand.start] = None
                    stopped.append(why)

        def found(operand: Operand) -> bool | None:
            return seen[operand.start]

        holds = _decided(self._root, found, stopped)
        faults = () if holds else tuple(_faults(self._root, found))
        return Judgement(holds, tuple(sorted(spans)), faults)

    def spans(self, text: str) -> list[Span]:
        """As in `Judgement`; `PatternTimeout` as in `holds`."""
        return list(self.judged(text).spans)

    def absent(self, text: str) -> str | None:
        """Why the condition does not hold, in words; None: it does. `PatternTimeout` as there."""
        return "; ".join(self.judged(text).faults) or None


Found: TypeAlias = Callable[[Operand], bool | None]
"""Whether an operand is in the text; None: that took too long to find out."""


def _decided(root: Node, found: Found, stopped: Sequence[PatternTimeout]) -> bool:
    """The value of a condition; where it hangs on what was stopped, the first of those is raised.

    Unknown is as in Kleene's logic, so the answer does not depend on the order of operands.
    """
    value = _value(root, found)
    if value is None:
        raise stopped[0]
    return value


def _value(node: Node, found: Found) -> bool | None:
    if isinstance(node, Operand):
        there = found(node)
        return None if there is None else there is node.wanted
    unknown = False
    for one in node.nodes:
        value = _value(one, found)
        if value is (not node.every):
            return value
        unknown |= value is None
    return None if unknown else node.every


def _operands(node: Node) -> Iterator[Operand]:
    if isinstance(node, Operand):
        yield node
    else:
        for one in node.nodes:
            yield from _operands(one)


def _faults(node: Node, found: Found) -> Iterator[str]:
    """What is wrong with each part that makes a node false."""
    if isinstance(node, Operand):
        yield f"missing {node}" if node.wanted else f"forbidden {node} is there"
    elif node.every:
        for one in node.nodes:
            if _value(one, found) is False:
                yield from _faults(one, found)
    elif all(isinstance(one, Operand) and one.wanted for one in node.nodes):
        yield f"missing {' or '.join(map(str, node.nodes))}"
    else:
        told = [" and ".join(_faults(one, found)) for one in node.nodes]
        yield f"none of these is otherwise: {'; '.join(told)}"


@lru_cache(maxsize=8192)
def parse_condition(text: str) -> Condition:
    """The condition that a text is.

    Raises:
        ConditionError: It is none; with the place, that of a regular expression's own error too.
    """
    return Condition(text, _Parser(text).root())


class _Parser:
    """Reads tokens from left to right, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._next = next(self._tokens)
        self._depth = 0

    def root(self) -> Node:
        if self._at("end"):
            raise self._error("this condition is empty")
        node = self._any_of(wanted=True)
        if self._at(")"):
            raise self._error("this bracket closes nothing")
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
