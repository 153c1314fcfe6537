"""Read a YAML file into a tree of values that know their positions."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from valor_cli.config.nodes import (
    DEEPEST,
    MOST_VALUES,
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    Unreadable,
    compose,
)
from valor_cli.config.override import overridden
from valor_cli.config.problems import (
    NOWHERE,
    Position,
    Problems,
    TreePath,
    on_one_line,
    place,
    quoted,
)
from valor_cli.config.scalars import expanded
from valor_cli.errors import ConfigError, Problem

LARGEST = 16 * 2**20
"""Bytes of a config; more is surely another file."""

UNNAMED = Path("config")
"""What messages and results call a config that was given as a mapping."""


class YamlDocument(Struct, frozen=True):
    """A YAML file as a tree of mappings, lists and scalars.

    Attributes:
        sha256: Of the file's bytes.
        values: Where each value begins; None for what an override (`--set`) put there.
        keys: Where the key of each value in a mapping begins.
        expanded: For text with values of the environment, how the file has it.
        secrets: Those values, which no message may show.
    """

    path: Path
    sha256: str
    tree: dict[str, Any]
    values: Mapping[TreePath, Position | None]
    keys: Mapping[TreePath, Position | None]
    expanded: Mapping[TreePath, str]
    secrets: Mapping[TreePath, tuple[str, ...]]

    def position(self, path: TreePath, *, key: bool = False) -> Position | None:
        """Position of a value or its key; for an unknown path, that of its nearest ancestor."""
        known = path
        while known not in self.values:
            known = known[:-1]
        if (key or known != path) and known in self.keys:
            return self.keys[known]
        return self.values[known]

    def place(self, path: TreePath, *, words: TreePath | None = None) -> str:
        """`file:line:column: dotted.path`, or `--set dotted.path`; `words` replaces the path."""
        at = self.position(path)
        return place(str(self.path), at, path if words is None else words)


def read_document(
    path: Path, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> YamlDocument:
    """Read a YAML file, apply the overrides in order, and expand `${NAME}`.

    Raises:
        ConfigError: With every problem found, in the order of the file.
    """
    return _document(path, _content(path), overrides, environment)


def read_mapping(
    config: Mapping[str, Any],
    overrides: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> YamlDocument:
    """Read a config given as a mapping; relative paths refer to the current folder.

    Raises:
        ConfigError: With every problem found.
    """
    try:
        # JSON is YAML in which every text is in quotes, so that none is taken for a number.
        text = json.dumps(config, default=_plain, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"cannot be written as YAML ({error})"
        raise ConfigError(Problem(str(UNNAMED), message)) from None
    content = text.encode("utf-8", "surrogatepass")
    return _document(UNNAMED, content, overrides, environment, placed=False)


def _plain(value: Any) -> Any:
    """What json does not know: paths, mappings, NumPy's numbers and arrays."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it holds a {type(value).__name__}")


def _document(
    path: Path,
    content: bytes,
    overrides: Sequence[str],
    environment: Mapping[str, str] | None,
    *,
    placed: bool = True,
) -> YamlDocument:
    """What a file holds; `placed` says whether a reader could look up lines of it.

    Raises:
        ConfigError: With every problem found, in the order of the file.
    """
    problems = Problems(str(path))
    root: Node = _root(path, _text(content, problems), problems)
    for override in overrides:
        root = overridden(root, override, problems)
    growth = _Growth(environment or {}, problems, placed)
    tree = growth.value(root, ())
    if problems:
        raise problems.error()
    sha256 = hashlib.sha256(content).hexdigest()
    known = growth.values, growth.keys, growth.expanded, growth.secrets
    return YamlDocument(path, sha256, tree, *known)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        message = "no such file"
    except IsADirectoryError:
        message = "is a folder; name the YAML file in it"
    except (OSError, ValueError) as error:
        message = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    else:
        if len(content) <= LARGEST:
            return content
        message = f"is larger than {LARGEST // 2**20} MiB; is this the config?"
    raise ConfigError(Problem(on_one_line(str(path), 1000), message))


def _text(content: bytes, problems: Problems) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from after a byte order mark.
        content = content.removeprefix(b"\xef\xbb\xbf")
        at = Position.after(content[: error.start].decode())
        problems.note(at, (), f"the byte 0x{content[error.start]:02x} is not UTF-8 text")
        raise problems.error() from None


def _root(path: Path, text: str, problems: Problems) -> MappingNode:
    """The file's top-level mapping, with whatever is wrong inside it noted."""
    try:
        root = compose(text, problems.note)
    except Unreadable:
        raise problems.error() from None
    if isinstance(root, MappingNode):
        return root
    if root is None or (isinstance(root, ScalarNode) and root.plain and not root.text):
        empty = Problem(
            on_one_line(str(path), 1000), "is empty; a config has at least 'task:' and 'data:'"
        )
        raise ConfigError((*problems.error().problems, empty))
    kind = "a list" if isinstance(root, ListNode) else f"the text {quoted(root.text)}"
    problems.note(root.at, (), f"expected a mapping such as 'task: …', found {kind}")
    raise problems.error()


@dataclass(slots=True)
class _Growth:
    """Nodes to values, keeping what is to be known of each path; `${NAME}` is expanded."""

    environment: Mapping[str, str]
    problems: Problems
    placed: bool
    values: dict[TreePath, Position | None] = field(default_factory=dict)
    keys: dict[TreePath, Position | None] = field(default_factory=dict)
    expanded: dict[TreePath, str] = field(default_factory=dict)
    secrets: dict[TreePath, tuple[str, ...]] = field(default_factory=dict)

    def value(self, node: Node, path: TreePath, *, in_file: bool = True) -> Any:
        """The node of the value."""
        in_file = in_file and node.at is not None
        at = self.values[path] = self._at(node.at) if in_file else None
        if len(path) > DEEPEST or len(self.values) > MOST_VALUES:
            limit = f"{DEEPEST} levels deep" if len(path) > DEEPEST else f"{MOST_VALUES:,} values"
            self.problems.note(at, path[:1], f"more than {limit}, aliases included")
            raise self.problems.error()
        if isinstance(node, ListNode):
            return [
                self.value(item, (*path, index), in_file=in_file)
                for index, item in enumerate(node.items)
            ]
        if isinstance(node, MappingNode):
            self.keys |= {
                (*path, key): self._at(key_at) if in_file else None
                for key, (key_at, _) in node.pairs.items()
            }
            return {
                key: self.value(below, (*path, key), in_file=in_file)
                for key, (_, below) in node.pairs.items()
            }
        if "${" not in node.text:
            return node.value
        complain = partial(self.problems.note, at, path)
        value, secrets = expanded(node.text, self.environment, complain, plain=node.plain)
        if secrets:
            self.expanded[path], self.secrets[path] = node.text, secrets
        return value

    def _at(self, at: Position | None) -> Position | None:
        return at if self.placed else NOWHERE
