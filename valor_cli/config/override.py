"""Apply a `--set path=value` override to the nodes of a config."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from valor_cli.config.nodes import (
    DEEPEST,
    UNPRINTABLE,
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    Unreadable,
    compose,
)
from valor_cli.config.problems import Problems, TreePath, dotted, quoted

_SEGMENT = re.compile(r'"([^"]*)"|([^."=]+)')
_NOTHING = ScalarNode(None, "", plain=True)
_Segments: TypeAlias = Sequence[tuple[str, bool]]
"""The parts of a path, each with whether it was quoted."""


def overridden(root: Node, override: str, problems: Problems) -> Node:
    """The root with the override applied; unchanged, with a problem, if it cannot be.

    Mappings on the way are made where they are missing. Nothing of the old root is changed, for
    aliases share its nodes.
    """
    split = None if UNPRINTABLE.search(override) else _split(override)
    if split is None:
        message = (
            f"{quoted(override)} is not path=value; write for example interval.seed=1, "
            "and quotes around a key with dots"
        )
        problems.note(None, (), message)
        return root
    segments, text = split
    value = _value(text, tuple(segment for segment, _ in segments), problems)
    placed = None if value is None else _placed(root, (), segments, value, problems)
    return placed or root


def _split(override: str) -> tuple[_Segments, str] | None:
    """The segments of the path, and the text of the value."""
    segments: list[tuple[str, bool]] = []
    start = 0
    while len(segments) < DEEPEST and (found := _SEGMENT.match(override, start)):
        segments.append((found[2] or found[1], found[2] is None))
        start = found.end() + 1
        after = override[found.end() : start]
        if after == "=":
            return segments, override[start:]
        if after != ".":
            return None
    return None


def _value(text: str, path: TreePath, problems: Problems) -> Node | None:
    # Alone it would be a list of one empty item; here it means stdin or stdout.
    if text.strip() == "-":
        return ScalarNode(None, "-", plain=False)
    before = len(problems)
    try:
        node = compose(text, lambda _, inside, message: problems.note(None, path + inside, message))
    except Unreadable:
        return None
    node = _NOTHING if node is None else replace(node, at=None)
    if isinstance(node, ListNode | MappingNode) and not node.flow:
        message = "expected one value, a list in [ ] or a mapping in { }; quote other text"
        problems.note(None, path, message)
    return node if len(problems) == before else None


def _placed(
    node: Node, path: TreePath, segments: _Segments, value: Node, problems: Problems
) -> Node | None:
    """The node at a path with the value where the segments lead; None where they lead nowhere."""
    if not segments:
        return value
    segment, in_quotes = segments[0]
    inside = (*path, segment)
    if isinstance(node, ScalarNode) and node.value is None:
        node = MappingNode(None, {}, flow=True)
    if isinstance(node, MappingNode):
        at, old = node.pairs.get(segment, (None, _NOTHING))
        child = _placed(old, inside, segments[1:], value, problems)
        if child is None:
            return None
        pair = (None if child.at is None else at), child
        return replace(node, pairs={**node.pairs, segment: pair})
    if isinstance(node, ScalarNode):
        wrong = f"cannot be set, because {dotted(path)} is a single value"
    elif in_quotes or not re.fullmatch("[0-9]{1,6}", segment):
        wrong = f"{dotted(path)} is a list; name its items by number, from 0"
    elif int(segment) >= len(node.items):
        wrong = f"{dotted(path)} has no item {int(segment)}; it has {len(node.items)}, from 0"
    else:
        items, number = list(node.items), int(segment)
        child = _placed(items[number], (*path, number), segments[1:], value, problems)
        if child is None:
            return None
        items[number] = child
        return replace(node, items=items)
    problems.note(None, inside, wrong)
    return None
