"""Parse YAML text into nodes with positions, aliases resolved.

Tags are rejected and never constructed. Nodes are built from libyaml's events and not with
`yaml.compose`, which recurses in C without a limit: deeply nested text would crash the process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import yaml
from msgspec import Struct
from msgspec.structs import replace

from valor_cli.config.problems import LINE_BREAK, Position, TreePath, quoted
from valor_cli.config.scalars import scalar_of
from valor_cli.results import Scalar

MOST_VALUES = 100_000
"""Values after aliases are expanded, which bounds alias bombs."""
DEEPEST = 100
"""Levels of nesting, well inside Python's limit of recursion."""
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

_WHOLE = re.compile("0|[1-9][0-9]*")
"""Keys kept as their digits, quoted or not: labels and pixel values."""


class ScalarNode(Struct, frozen=True):
    """Text; `plain` if it was written without quotes and tag."""

    at: Position | None
    text: str
    plain: bool

    @property
    def value(self) -> Scalar:
        """The value that the text represents."""
        return scalar_of(self.text) if self.plain else self.text


class ListNode(Struct, frozen=True):
    """A list; `flow` if in brackets."""

    at: Position | None
    items: Sequence[Node]
    flow: bool


class MappingNode(Struct, frozen=True):
    """`pairs` hold the key's position and the value; merge keys are already resolved."""

    at: Position | None
    pairs: Pairs
    flow: bool


Node: TypeAlias = ScalarNode | ListNode | MappingNode
"""Where `at` is None the node is an override's, and so is all in it."""
Pairs: TypeAlias = dict[str, tuple[Position | None, Node]]
Report: TypeAlias = Callable[[Position | None, TreePath, str], None]
_LEAVES = (yaml.ScalarEvent, yaml.AliasEvent)
_TAGS = {
    yaml.ScalarEvent: "!!str",
    yaml.SequenceStartEvent: "!!seq",
    yaml.MappingStartEvent: "!!map",
}


class Unreadable(Exception):  # noqa: N818 - not an error: the problem is already reported
    """The text cannot be parsed any further."""


def compose(text: str, report: Report) -> Node | None:
    """The document of a text; None if empty. Problems are reported, the rest is built.

    Raises:
        Unreadable: Nothing can be built; the problem is reported.
    """
    composer = _Composer(text, report)
    if bad := UNPRINTABLE.search(text):
        message = f"the character U+{ord(bad[0]):04X} is not allowed in YAML"
        raise composer.stop(Position.after(text[: bad.start()]), message)
    try:
        return composer.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = Position(1, 1) if mark is None else _position(mark)
        raise composer.stop(at, _syntax_message(error, at, text)) from None
    except yaml.YAMLError:
        raise composer.stop(Position(1, 1), "not valid YAML") from None


class _Composer:
    def __init__(self, text: str, report: Report) -> None:
        self._report = report
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, Node | None] = {}
        self._size = 0

    def stop(self, at: Position | None, message: str) -> Unreadable:
        self._report(at, (), message)
        return Unreadable()

    def document(self) -> Node | None:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        root = self._node(next(self._events), ())
        next(self._events)
        if not isinstance(after := next(self._events), yaml.StreamEndEvent):
            message = "a second YAML document begins here; a config is one document"
            raise self.stop(_position(after.start_mark), message)
        return root

    def _node(self, event: Any, path: TreePath) -> Node:
        at = _position(event.start_mark)
        self._count(1, at)
        if len(path) > DEEPEST:
            raise self.stop(at, f"nested more than {DEEPEST} levels deep")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), at, path)
        if event.anchor:
            self._anchors[event.anchor] = None
        tag = event.tag and event.tag.replace("tag:yaml.org,2002:", "!!")
        if tag and tag != _TAGS[type(event)]:
            message = f"the tag {quoted(tag)} is not accepted; write the value alone"
            self._report(at, path, message)
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = ScalarNode(at, event.value, plain=event.implicit[0] and tag != "!!str")
        elif isinstance(event, yaml.SequenceStartEvent):
            node = ListNode(at, self._items(path), bool(event.flow_style))
        else:
            node = MappingNode(at, self._pairs(path), bool(event.flow_style))
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _count(self, more: int, at: Position | None) -> None:
        self._size += more
        if self._size > MOST_VALUES:
            raise self.stop(at, f"more than {MOST_VALUES:,} values, aliases included")

    def _alias(self, anchor: str, at: Position, path: TreePath) -> Node:
        if node := self._anchors.get(anchor):
            return replace(node, at=at)
        if anchor in self._anchors:
            message = f"the alias {quoted('*' + anchor)} is inside the value it refers to"
        else:
            message = (
                f"there is no anchor {quoted('&' + anchor)} above; "
                "text that begins with '*' needs quotes"
            )
        self._report(at, path, message)
        return ScalarNode(at, "", plain=True)

    def _items(self, path: TreePath) -> list[Node]:
        items: list[Node] = []
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(item, (*path, len(items))))
        return items

    def _pairs(self, path: TreePath) -> Pairs:
        own: Pairs = {}
        lines: dict[str, int] = {}
        merges: list[Node] = []
        while not isinstance(part := next(self._events), yaml.MappingEndEvent):
            at = _position(part.start_mark)
            # The path of a key that is itself a list or mapping grows, to bound its depth.
            name = self._node(part, path if isinstance(part, _LEAVES) else (*path, "?"))
            key = self._key(name, path)
            value = self._node(next(self._events), path if key is None else (*path, key))
            if key == "<<" and isinstance(name, ScalarNode) and name.plain:
                merges.append(value)
            if key in lines:
                message = f"duplicate key, on lines {lines[key]} and {at.line}"
                self._report(at, (*path, key), message)
            elif key is not None:
                lines[key] = at.line
                own[key] = at, value
        if merges:
            own.pop("<<")
        return self._merged(merges, (*path, "<<")) | own

    def _key(self, node: Node, path: TreePath) -> str | None:
        if not isinstance(node, ScalarNode):
            kind = "a list" if isinstance(node, ListNode) else "a mapping"
            self._report(node.at, path, f"a key must be text, found {kind}")
        elif node.plain and not node.text:
            self._report(node.at, path, "a key is missing before ':'")
        elif not isinstance(node.value, str) and not _WHOLE.fullmatch(node.text):
            text = quoted(node.text)
            self._report(node.at, path, f"a key must be text; write {text} in quotes")
        else:
            return node.text
        return None

    def _merged(self, merges: Sequence[Node], path: TreePath) -> Pairs:
        """The pairs that merge keys (`<<`) bring; of two sources the first one wins."""
        pairs: Pairs = {}
        for merge in merges:
            for source in reversed(merge.items if isinstance(merge, ListNode) else [merge]):
                if isinstance(source, MappingNode):
                    self._count(len(source.pairs), source.at)
                    pairs |= source.pairs
                else:
                    message = "expected a mapping to merge, or a list of mappings"
                    self._report(source.at, path, message)
        return pairs


def _position(mark: yaml.Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _syntax_message(error: yaml.MarkedYAMLError, at: Position, text: str) -> str:
    """The words of libyaml, with the usual cause where it is known."""
    message = f"not valid YAML: {error.problem or error.context}"
    if error.context and error.problem:
        message += f", {error.context}"
    lines = LINE_BREAK.split(text)
    begun = error.context_mark
    if begun is not None and begun.line + 1 != min(at.line, len(lines)):
        message += f" that begins on line {begun.line + 1}"
    line = lines[at.line - 1] if at.line <= len(lines) else ""
    character = line[at.column - 1 : at.column]
    if "cannot start any token" in message and character == "\t":
        message += "; indent with spaces, not tabs"
    elif "cannot start any token" in message:
        message += f"; text that begins with {quoted(character)} needs quotes"
    elif message.endswith("scanning an alias"):
        message += "; text that begins with '*' needs quotes"
    elif "block sequence entries are not allowed" in message:
        message += "; a list begins on a line of its own, and '-' as text needs quotes"
    elif "${" in line and "flow" in message:
        message += "; inside [ ] and { } write '${NAME}' in quotes"
    return message
