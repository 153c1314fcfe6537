"""Values of rows as columns, whatever format they come from.

A tape is a list of nodes, one for each value, with where its text is (as in simdjson). A column is
one node for each row. The compiled kernel makes tapes of JSON lines and of CSV cells; `tape_of`
makes one of Python values, and is what both are compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.json_records import DuplicateKey, Number, object_of
from valor_cli.data.values import is_text
from valor_cli.kernels import engine
from valor_cli.kernels.columns.spans import Spans, Text, Vocabulary, decimals, padded

T = TypeVar("T", bound=tuple[Any, ...])

ABSENT: Final = 0
NULL: Final = 1
FALSE: Final = 2
TRUE: Final = 3
NUMBER: Final = 4
TEXT: Final = 5
LIST: Final = 6
OBJECT: Final = 7
DUPLICATE: Final = 8
"""An object with a duplicate key."""
INVALID: Final = 9
"""A text that holds half a character; NaN and infinities."""

SCALARS: Final = (FALSE, TRUE, NUMBER, TEXT)
NOTHING: Final = (ABSENT, NULL)

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Nodes = NDArray[np.int64]

NO_SPANS: Final[Spans] = np.zeros(0, np.int32)

MOST: Final = 1 << 29
"""Bytes of a block that the kernel reads: positions are 32-bit numbers."""

_FEW: Final = 64
"""So many keys are sooner compared one by one than sorted."""


class Tape:
    """Values as nodes. The last node is what an absent value is: of kind `ABSENT`, and empty.

    Attributes:
        text: UTF-8; what spans point into.
        kind: (m + 1,) uint8.
        start, end: (m + 1,) where the decoded text of each is; empty for lists, objects and null.
        number: (m + 1,) the number of each, NaN for others; None where cells are read on demand.
        parent: (m + 1,) the list or object that holds each; -1 for the value of a row.
        key: (m + 1,) the code of its key in an object; -1 for others.
        keys: The codes of keys, by name.
        key_start, key_end: (keys,) where the text of each is.
    """

    __slots__ = (
        "_by_key",
        "end",
        "key",
        "key_end",
        "key_start",
        "keys",
        "kind",
        "number",
        "parent",
        "start",
        "text",
    )

    def __init__(
        self,
        text: Text,
        kind: NDArray[np.uint8],
        start: Spans,
        end: Spans,
        number: Floats | None,
        parent: Spans = NO_SPANS,
        key: Spans = NO_SPANS,
        keys: Mapping[str, int] = MappingProxyType({}),
        key_start: Spans = NO_SPANS,
        key_end: Spans = NO_SPANS,
    ) -> None:
        self.text = text
        self.kind = kind
        self.start = start
        self.end = end
        self.number = number
        self.parent = parent
        self.key = key
        self.keys = keys
        self.key_start = key_start
        self.key_end = key_end
        self._by_key: tuple[Nodes, Nodes] | None = None

    def under(self, code: int) -> Nodes:
        """The values under a key."""
        if self._by_key is None:
            order = np.argsort(self.key, kind="stable")
            self._by_key = order, np.searchsorted(self.key[order], np.arange(len(self.keys) + 1))
        order, begin = self._by_key
        return order[begin[code] : begin[code + 1]]


class Column:
    """One value for each row."""

    __slots__ = ("_children", "_row", "node", "tape")

    def __init__(self, tape: Tape, node: Nodes) -> None:
        """Initialise with (n,) nodes of a tape, -1 for rows without."""
        self.tape = tape
        self.node = node
        self._children: tuple[Nodes, Nodes] | None = None
        self._row: Spans | None = None

    def __len__(self) -> int:
        return len(self.node)

    @property
    def kind(self) -> NDArray[np.uint8]:
        """(n,) the kind of each value."""
        return self.tape.kind[self.node]

    @property
    def is_cells(self) -> bool:
        """Whether the values are cells of a table: texts, or null where they are empty."""
        return self.tape.number is None

    @property
    def length(self) -> Ints:
        """(n,) bytes of each text."""
        return (self.tape.end[self.node] - self.tape.start[self.node]).astype(np.int64)

    def is_of(self, *kinds: int) -> Bools:
        """(n,) which values are of one of some kinds."""
        wanted = np.zeros(INVALID + 1, np.bool_)
        wanted[list(kinds)] = True
        return wanted[self.kind]

    def take(self, rows: NDArray[Any]) -> Column:
        """Select rows by positions or a mask."""
        return Column(self.tape, self.node[rows])

    def where(self, rows: Bools) -> Column:
        """This column, absent in other rows."""
        return Column(self.tape, np.where(rows, self.node, -1))

    def blank(self) -> Bools:
        """(n,) which values are none, or texts of nothing but white space."""
        blank = self.is_of(*NOTHING)
        left = np.flatnonzero(self.is_of(TEXT))
        blank[left] = [not text.strip() for text in self.take(left).texts()]
        return blank

    def or_else(self, other: Column) -> Column:
        """This column, and another where it is absent."""
        return Column(self.tape, np.where(self.node < 0, other.node, self.node))

    def numbers(self) -> tuple[Floats, Bools]:
        """(n,) the numbers, NaN for others, and which are finite."""
        if self.tape.number is None:
            return decimals(self.tape.text, *self.spans())
        number = self.tape.number[self.node]
        return number, np.isfinite(number)

    def spans(self) -> tuple[Spans, Spans]:
        """(n,) where the text of each is."""
        return self.tape.start[self.node], self.tape.end[self.node]

    def codes(self, vocabulary: Vocabulary) -> Ints:
        """(n,) codes of texts, numbers and truth values as written; -1 for what is empty."""
        start, end = self.spans()
        there = end > start
        if there.all():
            return vocabulary.codes(self.tape.text, start, end)
        codes = np.full(len(self.node), -1, np.int64)
        codes[there] = vocabulary.codes(self.tape.text, start[there], end[there])
        return codes

    def ids(self) -> NDArray[Any]:
        """(n,) texts in UTF-8, as `S`, or as bytes objects where a few are long."""
        return padded(self.tape.text, *self.spans())

    def texts(self) -> list[str]:
        """The texts, numbers and truth values as written; empty for others."""
        text = self.tape.text
        spans = zip(*(side.tolist() for side in self.spans()), strict=True)
        found = [text[start:end].decode() for start, end in spans]
        if (unwritten := self.is_of(NUMBER) & (self.length == 0)).any():
            numbers = self.numbers()[0].tolist()
            for at in np.flatnonzero(unwritten).tolist():
                found[at] = repr(numbers[at])
        return found

    def scalars(self) -> NDArray[np.object_]:
        """(n,) single values as Python has them; None for null, for none, and for an empty cell."""
        column = np.full(len(self.node), None, object)
        kind = self.kind
        for one in np.flatnonzero(np.bincount(kind)).tolist():
            rows = np.flatnonzero(kind == one)
            if one in (TRUE, FALSE):
                column[rows] = one == TRUE
            elif one == TEXT:
                column[rows] = self.take(rows).texts()
            elif one == NUMBER:
                own = self.take(rows)
                values = zip(own.texts(), own.numbers()[0].tolist(), strict=True)
                column[rows] = [Number(text).plain if text else value for text, value in values]
        return column

    def values(self) -> list[Any]:
        """(n,) what `json_records.parsed` gives; NaN and infinities as such, None for none."""
        counts, items = self.items()
        inside = items.values() if len(items) else []
        names = [*self.tape.keys, ""]
        keys = [names[code] for code in self.tape.key[items.node].tolist()]
        number = None if self.tape.number is None else self.tape.number[self.node].tolist()
        found: list[Any] = []
        begin = 0
        for at, (kind, text, count) in enumerate(
            zip(self.kind.tolist(), self.texts(), counts.tolist(), strict=True)
        ):
            end = begin + count
            if kind in (OBJECT, DUPLICATE):
                members = zip(keys[begin:end], inside[begin:end], strict=True)
                found.append(object_of(list(members)))
            elif kind == LIST:
                found.append(inside[begin:end])
            elif kind == NUMBER:
                found.append(Number(text))
            elif kind == INVALID:
                found.append(math.nan if number is None else number[at])
            else:
                found.append({TRUE: True, FALSE: False, TEXT: text}.get(kind))
            begin = end
        return found

    def holding(self, byte: int) -> Bools:
        """(n,) which texts hold a byte."""
        text = np.frombuffer(self.tape.text, np.uint8)
        places = np.flatnonzero(text == byte)
        if not len(places):
            return np.zeros(len(self.node), np.bool_)
        first, behind = (np.searchsorted(places, at) for at in self.spans())
        return np.asarray(behind > first)

    def field(self, *names: str) -> Column:
        """The value under the first of some keys that an object has."""
        nodes = np.full(len(self.node), -1, np.int64)
        for name in reversed(names):
            code = self.tape.keys.get(name)
            if code is not None:
                self._find(code, nodes)
        return Column(self.tape, nodes)

    def _find(self, code: int, nodes: Nodes) -> None:
        """Set the nodes of the values under a key."""
        tape = self.tape
        if engine.compiled is not None and len(tape.keys) <= _FEW:
            engine.compiled.held(tape.key, tape.parent, self._rows(), nodes, code)
            return
        held = tape.under(code)
        owner = self._rows()[tape.parent[held]]
        nodes[owner[owner >= 0]] = held[owner >= 0]

    def other_keys(self, known: Collection[str]) -> Bools:
        """(n,) which objects have a key that is not among some."""
        children, owner = self._inside()
        other = np.array([name not in known for name in self.tape.keys], np.bool_)
        found = np.zeros(len(self.node), np.bool_)
        found[owner[other[self.tape.key[children]]]] = True
        return found

    def items(self) -> tuple[Ints, Column]:
        """How many values each list or object holds, (n,), and all these, row after row."""
        children, owner = self._inside()
        return np.bincount(owner, minlength=len(self.node)), Column(self.tape, children)

    def holds(self, *kinds: int) -> Bools:
        """(n,) which values are, or hold at any depth, a value of one of some kinds."""
        nodes: NDArray[Any] = np.flatnonzero(np.isin(self.tape.kind[:-1], kinds))
        found = np.zeros(len(self.node), np.bool_)
        while len(nodes):
            owner = self._rows()[nodes]
            found[owner[owner >= 0]] = True
            nodes = self.tape.parent[nodes[owner < 0]]
            nodes = nodes[nodes >= 0]
        return found

    def key_spans(self) -> tuple[Spans, Spans]:
        """(n,) where the text of the key of each value in an object is."""
        key = self.tape.key[self.node]
        return self.tape.key_start[key], self.tape.key_end[key]

    def keys(self) -> list[str]:
        """All keys of the objects, in the order of their first appearance."""
        return list(self.first_keys())

    def first_keys(self) -> dict[str, int]:
        """All keys of the objects with the first row of each, in that order."""
        children, owner = self._inside()
        used, first = np.unique(self.tape.key[children], return_index=True)
        names = list(self.tape.keys)
        return {
            names[code]: int(owner[at])
            for at, code in sorted(zip(first.tolist(), used.tolist(), strict=True))
            if code >= 0
        }

    def _rows(self) -> Spans:
        """(m + 1,) by node, the row whose value it is; -1 for none."""
        if self._row is None:
            self._row = np.full(len(self.tape.kind), -1, np.int32)
            self._row[self.node] = np.arange(len(self.node), dtype=np.int32)
            # The last node is what rows without a value have; it holds nothing.
            self._row[-1] = -1
        return self._row

    def _inside(self) -> tuple[Nodes, Nodes]:
        """The values in lists and objects, row after row, and the row of each."""
        if self._children is None:
            self._children = _inside(self.tape.parent[:-1], self._rows())
        return self._children


def _inside(parent: Spans, rows: Spans) -> tuple[Nodes, Nodes]:
    """The nodes whose parent is the value of a row, row after row, and the row of each."""
    if engine.compiled is not None:
        children, owner = np.empty(len(parent), np.int64), np.empty(len(parent), np.int64)
        count = engine.compiled.inside(parent, rows, children, owner)
        if count >= 0:
            return children[:count], owner[:count]
    of = rows[parent]
    children = np.flatnonzero(of >= 0)
    owner = of[children].astype(np.int64)
    order = np.argsort(owner, kind="stable")
    return children[order], owner[order]


def taken(columns: T, chosen: Bools | Ints) -> T:
    """The same rows of each of some columns and arrays, which are fields of a named tuple."""
    picked = [one.take(chosen) if isinstance(one, Column) else one[chosen] for one in columns]
    make: Callable[..., T] = type(columns)
    return make(*picked)


def nth(count: Ints, items: Column, position: int) -> Column:
    """The value at a position of each list.

    Args:
        count: (n,) values of each list.
        items: All of them, as from `Column.items`.
        position: From 0.
    """
    nodes = np.full(len(count), -1, np.int64)
    begin = np.cumsum(count) - count
    long = count > position
    nodes[long] = items.node[begin[long] + position]
    return Column(items.tape, nodes)


class JsonLines(Struct, frozen=True):
    """Lines of JSON.

    Attributes:
        values: (k,) the value of each line that is read.
        line: (k,) the number of each, from 0.
        begin, end: (k,) where its bytes are.
        left: Number and bytes of lines that Python must read: they are unusual, or wrong.
        count: How many lines there are, blank ones included.
    """

    values: Column
    line: Ints
    begin: Spans
    end: Spans
    left: Sequence[tuple[int, bytes]]
    count: int

    def content(self, block: bytes, row: int) -> bytes:
        """The bytes of a line."""
        return block[self.begin[row] : self.end[row]]


def json_tape(block: bytes) -> JsonLines:
    """The values of whole lines; blank ones are none."""
    if engine.compiled is None or len(block) >= MOST:
        every = block.removesuffix(b"\n").split(b"\n")
        left = [(number, line) for number, line in enumerate(every) if line.strip()]
        none = np.zeros(0, np.int32)
        return JsonLines(tape_of([]), np.zeros(0, np.int64), none, none, left, len(every))
    text = bytearray(block)
    nodes, lines, names = len(block) // 2 + 2, len(block) // 2 + 2, len(block) // 4 + 2
    kind, number = np.empty(nodes, np.uint8), np.empty(nodes)
    start, end, parent, key = (np.empty(nodes, np.int32) for _ in range(4))
    line, begin, stop, root = (np.empty(lines, np.int32) for _ in range(4))
    key_spans = (np.empty(names, np.int32), np.empty(names, np.int32))
    count, rows, keys, total = engine.compiled.json_tape(
        text, kind, start, end, parent, key, number, line, begin, stop, root, *key_spans
    )
    kind[count], number[count] = ABSENT, np.nan
    start[count] = end[count] = 0
    parent[count] = key[count] = -1
    known = zip(key_spans[0][:keys].tolist(), key_spans[1][:keys].tolist(), strict=True)
    kept = slice(count + 1)
    tape = Tape(
        text,
        kind[kept],
        start[kept],
        end[kept],
        number[kept],
        parent[kept],
        key[kept],
        {text[at:to].decode(): code for code, (at, to) in enumerate(known)},
        *(side[:keys] for side in key_spans),
    )
    root, line = root[:rows], line[:rows]
    read = root >= 0
    left = [(int(line[at]), block[begin[at] : stop[at]]) for at in np.flatnonzero(~read).tolist()]
    values = Column(tape, root[read].astype(np.int64))
    return JsonLines(
        values, line[read].astype(np.int64), begin[:rows][read], stop[:rows][read], left, total
    )


class _Nodes:
    """Nodes that are added one by one."""

    def __init__(self) -> None:
        self.text: list[bytes] = []
        self.columns: list[float] = []
        self.keys: dict[str, int] = {}

    def add(self, value: Any, parent: int, key: int) -> int:
        """Add a value with all that it holds; its node."""
        node = len(self.text)
        kind, text, number = _node(value)
        self.text.append(text)
        self.columns += (kind, number, parent, key)
        if kind in (OBJECT, DUPLICATE):
            for name, one in value.items():
                code = self.keys.get(name)
                if code is None:
                    # A key that holds half a character is none.
                    known = name if is_text(name) else ""
                    code = self.keys.setdefault(known, len(self.keys))
                self.add(one, node, code)
        elif kind == LIST:
            for one in value:
                self.add(one, node, -1)
        return node


def tape_of(values: Sequence[Any]) -> Column:
    """Python values, as of `json_records.parsed` or of a program, as a column.

    Raises:
        RecursionError: One is nested too deeply.
        OverflowError: There are 2 GiB of texts.
    """
    nodes = _Nodes()
    roots = [nodes.add(value, -1, -1) for value in values]
    end = np.cumsum([*map(len, nodes.text), 0])
    if end[-1] >= 1 << 31:
        raise OverflowError("a tape holds less than 2 GiB of texts")
    start = np.append(0, end[:-1])
    # What is absent has no text.
    start[-1] = end[-1] = 0
    nodes.columns += (ABSENT, math.nan, -1, -1)
    kind, number, parent, key = np.array(nodes.columns, np.float64).reshape(-1, 4).T
    tape = tape_of_nodes(nodes.text, nodes.keys, kind, start, end, number.copy(), parent, key)
    return Column(tape, np.array(roots, np.int64))


def tape_of_nodes(
    text: Sequence[bytes],
    keys: Mapping[str, int],
    kind: NDArray[Any],
    start: NDArray[Any],
    end: NDArray[Any],
    number: Floats,
    parent: NDArray[Any],
    key: NDArray[Any],
) -> Tape:
    """A tape of nodes, the last of which is absent.

    Args:
        text: What spans point into, in pieces.
        keys: Their codes in their order, by name.
        kind, start, end, number, parent, key: As in `Tape`.
    """
    names = [name.encode() for name in keys]
    ends = sum(map(len, text)) + np.cumsum([0, *map(len, names)])
    return Tape(
        b"".join([*text, *names]),
        kind.astype(np.uint8, copy=False),
        start.astype(np.int32, copy=False),
        end.astype(np.int32, copy=False),
        number,
        parent.astype(np.int32, copy=False),
        key.astype(np.int32, copy=False),
        keys,
        ends[:-1].astype(np.int32),
        ends[1:].astype(np.int32),
    )


def tape_of_some(values: Sequence[Any]) -> tuple[Column, Bools]:
    """Python values as a column, and which are nested too deeply; these are null in it."""
    deep = np.zeros(len(values), np.bool_)
    try:
        return tape_of(values), deep
    except RecursionError:
        pass
    kept = list(values)
    for at, value in enumerate(values):
        try:
            tape_of([value])
        except RecursionError:
            kept[at], deep[at] = None, True
    return tape_of(kept), deep


def _node(value: Any) -> tuple[int, bytes, float]:
    """The kind, text and number of a value."""
    if isinstance(value, str):
        try:
            return TEXT, value.encode(), math.nan
        except UnicodeEncodeError:
            return INVALID, b"", math.nan
    if value is None:
        return NULL, b"", math.nan
    if isinstance(value, bool):
        return (TRUE, b"true", math.nan) if value else (FALSE, b"false", math.nan)
    if isinstance(value, Number):
        return NUMBER, value.text.encode(), float(value)
    if isinstance(value, float | int):
        if isinstance(value, float) and not math.isfinite(value):
            return INVALID, b"", math.nan
        return NUMBER, repr(value).encode(), float(value)
    if isinstance(value, dict):
        return DUPLICATE if isinstance(value, DuplicateKey) else OBJECT, b"", math.nan
    if isinstance(value, list | tuple):
        return LIST, b"", math.nan
    return INVALID, b"", math.nan
