"""The text of a condition in; whether texts fulfil it, and where they do or do not, out.

    ("Rio" OR "rio") AND regexp("15,?969 [Mm]il") AND NOT "Real"

Operands are strings, found anywhere in a text with their case, and `regexp("…")`, found as Python's
`re.search` finds them. NOT binds before AND, AND before OR. In both kinds of operand `\\"` is a
quote and `\\\\` a backslash; any other backslash stands for itself, so that `regexp("\\d{3}")` and
`regexp("\\\\d{3}")` are one. Words are read in any case.

The language is that of the Text Matching Evaluator of H2O Sonar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from valor_cli.kernels.condition_lexer import ConditionError
from valor_cli.kernels.condition_nodes import Found, Node, Operand, faults, operands, value
from valor_cli.kernels.condition_parser import ConditionParser
from valor_cli.kernels.patterns import Patience, PatternTimeout
from valor_cli.kernels.spans import Span

__all__ = ["Condition", "ConditionError", "Judgement", "parse_condition"]

MOST_SPANS = 5
"""Places of one operand in one text that are told, the first ones."""

FOUND = "found"
FORBIDDEN = "forbidden"


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
        for operand in operands(self._root):
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
        wrong = () if holds else tuple(faults(self._root, found))
        return Judgement(holds, tuple(sorted(spans)), wrong)

    def spans(self, text: str) -> list[Span]:
        """As in `Judgement`; `PatternTimeout` as in `holds`."""
        return list(self.judged(text).spans)

    def absent(self, text: str) -> str | None:
        """Why the condition does not hold, in words; None: it does. `PatternTimeout` as there."""
        return "; ".join(self.judged(text).faults) or None


def _decided(root: Node, found: Found, stopped: Sequence[PatternTimeout]) -> bool:
    """The value of a condition; where it hangs on what was stopped, the first of those is raised.

    Unknown is as in Kleene's logic, so the answer does not depend on the order of operands.
    """
    holds = value(root, found)
    if holds is None:
        raise stopped[0]
    return holds


@lru_cache(maxsize=8192)
def parse_condition(text: str) -> Condition:
    """The condition that a text is.

    Raises:
        ConditionError: It is none; with the place, that of a regular expression's own error too.
    """
    return Condition(text, ConditionParser(text).root())
