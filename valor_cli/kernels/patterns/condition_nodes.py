"""Syntax tree of a condition, and its evaluation on a text.

Nodes are operands, and groups of which all or any must hold. Evaluation says whether the condition
holds, which operands decide it, and which parts fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from valor_cli.kernels.patterns.condition_lexer import EXCERPT
from valor_cli.kernels.patterns.regex import Patience, Pattern, PatternTimeout


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
