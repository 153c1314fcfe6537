r"""Conditions on the strings and patterns in a text.

    ("Rio" OR "rio") AND regexp("15,?969 [Mm]il") AND NOT "Real"

Operands are case-sensitive strings, matched anywhere in a text, and `regexp("…")`, matched as by
Python's `re.search`. NOT binds before AND, AND before OR. In both kinds of operand `\"` is a quote
and `\\` a backslash; any other backslash stands for itself, so that `regexp("\d{3}")` and
`regexp("\\d{3}")` are the same. Keywords are case-insensitive.

The language is that of the Text Matching Evaluator of H2O Sonar.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from valor_cli.kernels.patterns.condition_parser import (
    ConditionError,
    ConditionParser,
    Node,
    Operand,
    faults,
    operands,
    value,
)
from valor_cli.kernels.patterns.regex import Patience, PatternTimeout
from valor_cli.kernels.secrets.spans import Span

__all__ = ["Condition", "ConditionError", "ConditionResult", "parse_condition"]

MOST_SPANS = 5
"""Maximum number of places reported per operand and text."""

FOUND = "found"
FORBIDDEN = "forbidden"


class ConditionResult(NamedTuple):
    """The result of a condition on a text.

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
    """A condition on texts; equal if written identically."""

    text: str
    _root: Node = field(compare=False, repr=False)

    def judged(self, text: str, patience: Patience | None = None) -> ConditionResult:
        """Evaluate the condition on a text, with matches and faults.

        Unknown is as in Kleene's logic, so the answer does not depend on the order of operands.

        Args:
            text: To look at.
            patience: What was learnt of slow patterns, shared by the texts of a run.

        Raises:
            PatternTimeout: A pattern takes too long, and the rest does not decide.
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

        holds = value(self._root, found)
        if holds is None:
            raise stopped[0]
        wrong = () if holds else tuple(faults(self._root, found))
        return ConditionResult(holds, tuple(sorted(spans)), wrong)


@lru_cache(maxsize=8192)
def parse_condition(text: str) -> Condition:
    """Parse a condition.

    Raises:
        ConditionError: It is none; with the place, that of a regular expression's own error too.
    """
    return Condition(text, ConditionParser(text).root())
