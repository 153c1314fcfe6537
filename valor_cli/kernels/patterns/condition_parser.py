"""Parse the tokens of a condition into a syntax tree."""

from __future__ import annotations

from collections.abc import Callable

from valor_cli.kernels.patterns.condition_lexer import EXCERPT, ConditionError, Kind, Token, tokens
from valor_cli.kernels.patterns.condition_nodes import Group, Node, Operand
from valor_cli.kernels.patterns.regex import PatternError, parse_pattern

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
