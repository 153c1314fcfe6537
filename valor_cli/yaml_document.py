"""YAML text in; a plain tree out, with the line and column of every key and value.

The scalars are those of YAML 1.2's core schema: `no`, `on` and dates stay text, `012` is twelve.
Tags are refused and never constructed. The nodes are built from libyaml's events and not with
`yaml.compose`: that recurses in C without a limit, and deeply nested text ends the process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from valor_cli.errors import ConfigError, Problem
from valor_cli.results import Scalar

TreePath: TypeAlias = tuple[str | int, ...]

LARGEST = 16 * 2**20
"""Bytes of a config; more is surely another file."""
MOST_VALUES = 100_000
"""Values after aliases are expanded, which bounds alias bombs."""
DEEPEST = 100
"""Levels of nesting, well inside Python's limit of recursion."""

_NULL = re.compile(r"null|Null|NULL|~|")
_BOOLEAN = re.compile(r"(true|True|TRUE)|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]{1,1000}")
_OCTAL = re.compile(r"0o[0-7]{1,1000}")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,800}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_INFINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_REFERENCE = re.compile(
    r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(:-(?P<default>[^}]*))?\}|\$\{"
)
_SEGMENT = re.compile(r'"([^"]*)"|([^."=]+)')


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A line and a column, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A YAML file as a tree of mappings, lists and scalars that knows where each part stands.

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
        """Where a value, or its key, begins; of an unknown path, its nearest ancestor's key."""
        known = path
        while known not in self.values:
            known = known[:-1]
        if (key or known != path) and known in self.keys:
            return self.keys[known]
        return self.values[known]

    def place(self, path: TreePath, *, key: bool = False, words: TreePath | None = None) -> str:
        """`file:line:column: dotted.path`, or `--set dotted.path`; `words` replaces the path."""
        at = self.position(path, key=key)
        return _place(str(self.path), at, path if words is None else words)


def quoted(text: str, longest: int = 60) -> str:
    """A user's text on one line, in quotes: cut when long, control characters escaped."""
    return f"'{_on_one_line(text, longest)}'"


def dotted(path: TreePath) -> str:
    """A path as messages have it, `metrics.1.iou_thresholds`."""
    return ".".join(_on_one_line(str(part), 60) for part in path)


def place_order(at: Position | None) -> tuple[bool, int, int]:
    """The key that sorts problems by their place in the file, those of overrides last."""
    return (True, 0, 0) if at is None else (False, at.line, at.column)


def scalar_of(text: str) -> Scalar:
    """What unquoted text stands for by YAML 1.2's core schema.

    Numbers of a thousand digits stay text: Python refuses to convert them, and so does every use.
    """
    if _NULL.fullmatch(text):
        return None
    if found := _BOOLEAN.fullmatch(text):
        return found[1] is not None
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    if found := _INFINITE.fullmatch(text):
        return float("nan") if found[3] else float(f"{found[1]}inf")
    if _FLOAT.fullmatch(text) and not text.lstrip("+-").isdigit():
        return float(text)
    return text


def read_document(
    path: Path, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> YamlDocument:
    """Read a YAML file, apply overrides, then expand `${NAME}` in its text values.

    Args:
        path: The file. Messages show it as given.
        overrides: `path=value` each; later ones win.
        environment: What `${NAME}` stands for.

    Raises:
        ConfigError: With every problem found, in the order of the file.
    """
    content = _content(path)
    draft = _Draft(str(path))
    text = _text(draft, content)
    draft.grow(_root(draft, text), ())
    for override in overrides:
        _Override(draft, override).apply()
    _expand(draft, environment or {})
    if draft.problems:
        raise draft.failure()
    return YamlDocument(
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        tree=draft.tree,
        values=draft.values,
        keys=draft.keys,
        expanded=draft.expanded,
        secrets=draft.secrets,
    )


@dataclass(frozen=True, slots=True)
class _Scalar:
    at: Position
    text: str
    plain: bool


@dataclass(frozen=True, slots=True)
class _List:
    at: Position
    items: list[_Node]
    flow: bool


@dataclass(frozen=True, slots=True)
class _Mapping:
    """`pairs` hold the key's position and the value; merge keys are already merged."""

    at: Position
    pairs: dict[str, tuple[Position, _Node]]
    flow: bool


_Node: TypeAlias = _Scalar | _List | _Mapping
_LEAVES = (yaml.ScalarEvent, yaml.AliasEvent)
_Report: TypeAlias = Callable[[Position, TreePath, str], None]


class _Stop(Exception):  # noqa: N818 - not an error: the problem is already noted
    """Nothing more can be read from this text."""


@dataclass(slots=True)
class _Draft:
    """A document in the making, and the problems found so far.

    `pending` holds the text values with `${`; True for those that stood unquoted.
    """

    name: str
    tree: Any = None
    values: dict[TreePath, Position | None] = field(default_factory=dict)
    keys: dict[TreePath, Position | None] = field(default_factory=dict)
    pending: dict[TreePath, bool] = field(default_factory=dict)
    expanded: dict[TreePath, str] = field(default_factory=dict)
    secrets: dict[TreePath, tuple[str, ...]] = field(default_factory=dict)
    problems: list[tuple[Position | None, Problem]] = field(default_factory=list)

    def note(self, at: Position | None, path: TreePath, message: str) -> None:
        """Keep a problem at a place of the file, or of an override when `at` is None."""
        self.problems.append((at, Problem(_place(self.name, at, path), message)))

    def failure(self) -> ConfigError:
        """All problems as one error, in the order of the file, overrides last."""
        ordered = sorted(self.problems, key=lambda found: place_order(found[0]))
        return ConfigError(tuple(dict.fromkeys(problem for _, problem in ordered)))

    def grow(self, node: _Node, path: TreePath, *, override: bool = False) -> None:
        """Put a node's tree at a path, replacing what stands there."""
        for known in (self.values, self.keys):
            for old in [old for old in known if old[: len(path)] == path and old != path]:
                del known[old]
        for old in [old for old in self.pending if old[: len(path)] == path]:
            del self.pending[old]
        value = self._value(node, path, override)
        if not path:
            self.tree = value
            return
        _at(self.tree, path[:-1])[path[-1]] = value
        if override and isinstance(path[-1], str):
            self.keys[path] = None

    def _value(self, node: _Node, path: TreePath, override: bool) -> Any:
        self.values[path] = None if override else node.at
        if len(path) > DEEPEST or len(self.values) > MOST_VALUES:
            limit = "100 levels deep" if len(path) > DEEPEST else f"{MOST_VALUES:,} values"
            self.note(self.values[path], path[:1], f"more than {limit}, aliases included")
            raise self.failure()
        if isinstance(node, _List):
            return [self._value(item, (*path, i), override) for i, item in enumerate(node.items)]
        if isinstance(node, _Mapping):
            for key, (at, _) in node.pairs.items():
                self.keys[(*path, key)] = None if override else at
            return {
                key: self._value(value, (*path, key), override)
                for key, (_, value) in node.pairs.items()
            }
        if "${" in node.text:
            self.pending[path] = node.plain
            return node.text
        return scalar_of(node.text) if node.plain else node.text


class _Composer:
    """Builds the nodes of one YAML text; what is wrong is reported, and the rest still built."""

    def __init__(self, text: str, report: _Report) -> None:
        self._text = text
        self._report = report
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, _Node | None] = {}
        self._size = 0

    def root(self) -> _Node | None:
        """The text's one document; None when it holds none.

        Raises:
            _Stop: When the text cannot be read; the problem is reported.
        """
        if bad := _UNPRINTABLE.search(self._text):
            message = f"the character U+{ord(bad[0]):04X} cannot stand in YAML"
            raise self._stop(_position_in(self._text[: bad.start()]), message)
        try:
            return self._document()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = Position(1, 1) if mark is None else Position(mark.line + 1, mark.column + 1)
            raise self._stop(at, _syntax_message(error, at, self._text)) from None
        except yaml.YAMLError:
            raise self._stop(Position(1, 1), "not valid YAML") from None

    def _stop(self, at: Position, message: str) -> _Stop:
        self._report(at, (), message)
        return _Stop()

    def _document(self) -> _Node | None:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        root = self._node(next(self._events), ())
        next(self._events)
        if not isinstance(after := next(self._events), yaml.StreamEndEvent):
            message = "a second YAML document begins here; a config is one document"
            raise self._stop(_position(after), message)
        return root

    def _node(self, event: Any, path: TreePath) -> _Node:
        at = _position(event)
        self._count(1, at)
        if len(path) > DEEPEST:
            raise self._stop(at, f"nested more than {DEEPEST} levels deep")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), at, path)
        if event.anchor:
            self._anchors[event.anchor] = None
        node: _Node
        if isinstance(event, yaml.ScalarEvent):
            text = self._tagged(event, "str", path)
            node = _Scalar(at, event.value, plain=event.implicit[0] and not text)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._list(event, at, path)
        else:
            node = self._mapping(event, at, path)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _count(self, more: int, at: Position) -> None:
        self._size += more
        if self._size > MOST_VALUES:
            raise self._stop(at, f"more than {MOST_VALUES:,} values, aliases included")

    def _tagged(self, event: Any, kind: str, path: TreePath) -> bool:
        """Whether a node bears the tag of its own kind; every other tag is refused."""
        if event.tag is None or event.tag == f"tag:yaml.org,2002:{kind}":
            return event.tag is not None
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")
        self._report(
            _position(event), path, f"the tag {quoted(tag)} is not accepted; write the value alone"
        )
        return False

    def _alias(self, anchor: str, at: Position, path: TreePath) -> _Node:
        if node := self._anchors.get(anchor):
            return replace(node, at=at)
        if anchor in self._anchors:
            message = f"the alias {quoted('*' + anchor)} stands inside the value it repeats"
        else:
            message = (
                f"there is no anchor {quoted('&' + anchor)} above; "
                "text that begins with '*' needs quotes"
            )
        self._report(at, path, message)
        return _Scalar(at, "", plain=True)

    def _list(self, event: Any, at: Position, path: TreePath) -> _List:
        self._tagged(event, "seq", path)
        items: list[_Node] = []
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(item, (*path, len(items))))
        return _List(at, items, bool(event.flow_style))

    def _mapping(self, event: Any, at: Position, path: TreePath) -> _Mapping:
        self._tagged(event, "map", path)
        own: dict[str, tuple[Position, _Node]] = {}
        merges: list[_Node] = []
        while not isinstance(part := next(self._events), yaml.MappingEndEvent):
            # The path of a key that is itself a list or mapping grows, to bound its depth.
            name = self._node(part, path if isinstance(part, _LEAVES) else (*path, "?"))
            merging = isinstance(name, _Scalar) and name.plain and name.text == "<<"
            key = self._key(name, path)
            value = self._node(next(self._events), path if key is None else (*path, key))
            if merging:
                merges.append(value)
            if key is not None and key in own:
                lines = f"lines {own[key][0].line} and {name.at.line}"
                self._report(name.at, (*path, key), f"the key stands twice, on {lines}")
            elif key is not None:
                own[key] = name.at, value
        if merges:
            own.pop("<<")
        return _Mapping(at, {**self._merged(merges, path), **own}, bool(event.flow_style))

    def _key(self, node: _Node, path: TreePath) -> str | None:
        if not isinstance(node, _Scalar):
            kind = "a list" if isinstance(node, _List) else "a mapping"
            self._report(node.at, path, f"a key must be text, found {kind}")
        elif node.plain and not node.text:
            self._report(node.at, path, "a key is missing before ':'")
        elif node.plain and not isinstance(scalar_of(node.text), str):
            text = quoted(node.text)
            self._report(node.at, path, f"a key must be text; write {text} in quotes")
        else:
            return node.text
        return None

    def _merged(self, merges: Sequence[_Node], path: TreePath) -> dict[str, tuple[Position, _Node]]:
        """The pairs that merge keys (`<<`) bring; of two sources the first one wins."""
        pairs: dict[str, tuple[Position, _Node]] = {}
        for merge in merges:
            for source in reversed(merge.items if isinstance(merge, _List) else [merge]):
                if isinstance(source, _Mapping):
                    self._count(len(source.pairs), source.at)
                    pairs.update(source.pairs)
                else:
                    message = "expected a mapping to merge, or a list of mappings"
                    self._report(source.at, (*path, "<<"), message)
        return pairs


class _Override:
    """One `path=value` to put into a draft."""

    def __init__(self, draft: _Draft, text: str) -> None:
        self._draft = draft
        self._text = text

    def apply(self) -> None:
        """Put the value at its path, or note why it cannot be."""
        split = None if _UNPRINTABLE.search(self._text) else self._split()
        if split is None:
            message = (
                f"{quoted(self._text)} is not path=value; write for example interval.seed=1, "
                "and quotes around a key with dots"
            )
            self._draft.problems.append((None, Problem("--set", message)))
            return
        segments, value = split
        place = tuple(segment for segment, _ in segments)
        before = len(self._draft.problems)
        node = self._node(value, place)
        if node is not None and len(self._draft.problems) == before:
            path = self._walk(segments)
            if path is not None:
                self._draft.grow(node, path, override=True)

    def _split(self) -> tuple[list[tuple[str, bool]], str] | None:
        """The path's segments, each with whether it was quoted, and the text of the value."""
        segments: list[tuple[str, bool]] = []
        start = 0
        while found := _SEGMENT.match(self._text, start):
            segments.append((found[2] or found[1], found[2] is None))
            start = found.end() + 1
            after = self._text[found.end() : start]
            if after == "=":
                return segments, self._text[start:]
            if after != ".":
                return None
        return None

    def _node(self, value: str, place: TreePath) -> _Node | None:
        def report(at: Position, path: TreePath, message: str) -> None:
            self._draft.note(None, (*place, *path), message)

        # Alone it would be a list of one empty item; here it means stdin or stdout.
        if value.strip() == "-":
            return _Scalar(Position(1, 1), "-", plain=False)
        try:
            node = _Composer(value, report).root() or _Scalar(Position(1, 1), "", plain=True)
        except _Stop:
            return None
        if isinstance(node, _List | _Mapping) and not node.flow:
            message = "expected one value, a list in [ ] or a mapping in { }; quote other text"
            self._draft.note(None, place, message)
            return None
        return node

    def _walk(self, segments: Sequence[tuple[str, bool]]) -> TreePath | None:
        """The path in the tree, with the mappings on the way made where they are missing."""
        draft = self._draft
        path: TreePath = ()
        node = draft.tree
        for index, (segment, in_quotes) in enumerate(segments):
            key = self._step(node, path, segment, in_quotes)
            if key is None:
                return None
            path = (*path, key)
            if index == len(segments) - 1:
                break
            below = node.get(key) if isinstance(node, dict) else node[int(key)]
            if below is None:
                draft.grow(_Mapping(Position(1, 1), {}, flow=True), path, override=True)
            node = _at(draft.tree, path)
        return path

    def _step(self, node: Any, path: TreePath, segment: str, in_quotes: bool) -> str | int | None:
        if isinstance(node, dict):
            return segment
        if not isinstance(node, list):
            message = f"cannot be set, because {dotted(path)} is a single value"
        elif in_quotes or not re.fullmatch("[0-9]{1,6}", segment):
            message = f"{dotted(path)} is a list; name its items by number, from 0"
        elif int(segment) >= len(node):
            message = f"{dotted(path)} has no item {int(segment)}; it has {len(node)}, from 0"
        else:
            return int(segment)
        self._draft.note(None, (*path, segment), message)
        return None


def _expand(draft: _Draft, environment: Mapping[str, str]) -> None:
    """Replace `${NAME}` after parsing, so that no value of the environment can be YAML."""
    for path, plain in draft.pending.items():
        parent = _at(draft.tree, path[:-1])
        written: str = parent[path[-1]]
        parts, used, start = [], [], 0
        for found in _REFERENCE.finditer(written):
            value, secret, complaint = _reference(found, environment)
            parts += [written[start : found.start()], value]
            start = found.end()
            used += [value] if secret else []
            if complaint:
                draft.note(draft.values[path], path, complaint)
        text = "".join(parts) + written[start:]
        if any("\ud800" <= character <= "\udfff" for character in text):
            message = f"what {quoted(written)} stands for is not valid UTF-8"
            draft.note(draft.values[path], path, message)
        whole = _REFERENCE.fullmatch(written)
        parent[path[-1]] = scalar_of(text) if plain and whole and whole["name"] else text
        if used:
            draft.expanded[path] = written
            draft.secrets[path] = tuple(used)


def _reference(found: re.Match[str], environment: Mapping[str, str]) -> tuple[str, bool, str]:
    """What one `${…}` stands for, whether that comes from the environment, what is wrong."""
    name, default = found["name"], found["default"]
    if found[0] == "$${":
        return "${", False, ""
    if name is None:
        return "", False, "'${' needs a name and '}' after it; '$${' stands for '${'"
    # As in a shell, an empty variable counts as unset where there is a default.
    if environment.get(name) or (name in environment and default is None):
        return environment[name], True, ""
    if default is None:
        name = _on_one_line(name, 60)
        return "", False, f"{name} is not set in the environment; ${{{name}:-…}} gives a default"
    return default, False, ""


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
        message = f"holds more than {LARGEST // 2**20} MiB; is this the config?"
    raise ConfigError(Problem(_on_one_line(str(path), 1000), message))


def _text(draft: _Draft, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from after a byte order mark.
        content = content.removeprefix(b"\xef\xbb\xbf")
        at = _position_in(content[: error.start].decode())
        draft.note(at, (), f"the byte 0x{content[error.start]:02x} is not UTF-8 text")
        raise draft.failure() from None


def _root(draft: _Draft, text: str) -> _Mapping:
    """The file's top-level mapping, with whatever is wrong inside it noted in the draft."""
    try:
        root = _Composer(text, draft.note).root()
    except _Stop:
        raise draft.failure() from None
    if isinstance(root, _Mapping):
        return root
    if root is None or (isinstance(root, _Scalar) and root.plain and not root.text):
        message = "is empty; a config has at least 'task:' and 'data:'"
        draft.problems.append((None, Problem(_on_one_line(draft.name, 1000), message)))
    else:
        kind = "a list" if isinstance(root, _List) else f"the text {quoted(root.text)}"
        draft.note(root.at, (), f"expected a mapping such as 'task: …', found {kind}")
    raise draft.failure()


def _at(tree: Any, path: TreePath) -> Any:
    for part in path:
        tree = tree[part]
    return tree


def _place(name: str, at: Position | None, path: TreePath) -> str:
    if at is None:
        return f"--set {dotted(path)}"
    words = f": {dotted(path)}" if path else ""
    return f"{_on_one_line(name, 1000)}:{at.line}:{at.column}{words}"


def _on_one_line(text: str, longest: int) -> str:
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in cut
    )


def _position(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


def _position_in(before: str) -> Position:
    """Where the character after this text stands."""
    lines = _BREAK.split(before)
    return Position(len(lines), len(lines[-1]) + 1)


def _syntax_message(error: yaml.MarkedYAMLError, at: Position, text: str) -> str:
    """The words of libyaml, with the usual cause where it is known."""
    message = f"not valid YAML: {error.problem or error.context}"
    if error.context and error.problem:
        message += f", {error.context}"
    lines = _BREAK.split(text)
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
