"""Read Arrow columns as a tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.parquet.columns import (
    fields,
    kind_of,
    lists,
    numbers,
    plain,
    stored,
    texts,
)
from valor_cli.data.formats.parquet.files import pa
from valor_cli.data.tape import (
    ABSENT,
    DUPLICATE,
    FALSE,
    INVALID,
    LIST,
    NULL,
    NUMBER,
    OBJECT,
    TEXT,
    TRUE,
    Column,
    Ints,
    Tape,
)
from valor_cli.kernels.columns.spans import Spans

_KINDS: Final = {"text": TEXT, "date": TEXT, "whole": NUMBER, "decimal": NUMBER}


class _Nodes:
    """Nodes of arrays, one array after the other."""

    def __init__(self, *, json: bool) -> None:
        """Initialise with what maps are: objects as in JSON, or lists of pairs.

        As in JSON, an empty text is one; otherwise it is an empty cell.
        """
        self.json = json
        self.text: list[bytes] = []
        self.length = 0
        self.count = 0
        self.parts: list[list[NDArray[Any]]] = [[] for _ in range(6)]
        self.keys: dict[str, int] = {}
        self.duplicate: list[int] = []

    def add(
        self,
        array: Any,
        parent: Ints,
        key: int | Ints = -1,
        only: Mapping[str, str] | None = None,
    ) -> Ints:
        """Add the values of an array; their nodes.

        Args:
            array: A `pyarrow.Array`.
            parent: (n,) nodes that hold them; -1 for rows.
            key: The code of their key, or of the key of each.
            only: The fields of structs in lists to read, and their keys.
        """
        array = stored(array)
        n, kind = len(array), kind_of(array.type)
        there = array.is_valid().to_numpy(zero_copy_only=False)
        kinds, number = np.full(n, NULL, np.uint8), np.full(n, np.nan)
        start, end = np.zeros(n, np.int32), np.zeros(n, np.int32)
        if kind in _KINDS or kind == "truth":
            start, end = self._spans(array)
            if kind == "truth":
                kinds[there] = np.where(plain(array).fill_null(False), TRUE, FALSE)[there]
            else:
                kinds[there & ((end > start) | self.json)] = _KINDS[kind]
            if kind in ("whole", "decimal"):
                number, _ = numbers(array)
        elif kind == "float":
            number, _ = numbers(array)
            kinds[there] = np.where(np.isfinite(number), NUMBER, INVALID)[there]
        elif kind in ("list", "map", "struct"):
            objects = kind == "struct" or (kind == "map" and self.json)
            kinds[there] = OBJECT if objects else LIST
        node = self._put(kinds, start, end, number, parent, np.zeros(n, np.int64) + key)
        if kind in ("list", "map"):
            count, inside = lists(array)
            owner = np.repeat(node, count)
            if kind == "map" and self.json:
                self._entries(fields(inside), owner)
            elif kind == "map":
                entry = fields(inside)
                owner = self._lists(owner)
                # Pairs, so that a duplicate key is seen.
                self._pairs(entry["key"], entry["value"], owner)
            else:
                self.add(inside, owner, only=only)
        elif kind == "struct":
            for name, held in fields(array).items():
                if only is not None and name not in only:
                    continue
                said = held.is_valid().to_numpy(zero_copy_only=False) & there
                name = name if only is None else only[name]
                code = self.keys.setdefault(name, len(self.keys))
                self.add(held.filter(pa.array(said)), node[said], code)
        return node

    def _lists(self, parent: Ints) -> Ints:
        n = len(parent)
        none = np.zeros(n, np.int32)
        kind = np.full(n, LIST, np.uint8)
        return self._put(kind, none, none, np.full(n, np.nan), parent, np.full(n, -1))

    def _pairs(self, first: Any, second: Any, parent: Ints) -> None:
        """Two arrays as pairs: a list has its values in the order of their nodes."""
        self.add(first, parent)
        self.add(second, parent)

    def _entries(self, entry: Mapping[str, Any], owner: Ints) -> None:
        """Pairs as values under keys; an object with a duplicate key is marked."""
        names = texts(entry["key"])
        keys = np.array([self.keys.setdefault(name, len(self.keys)) for name in names], np.int64)
        order = np.lexsort((keys, owner))
        again = (np.diff(owner[order]) == 0) & (np.diff(keys[order]) == 0)
        for node in np.unique(owner[order][1:][again]).tolist():
            self.duplicate.append(node)
        said = entry["value"].is_valid().to_numpy(zero_copy_only=False)
        self.add(entry["value"].filter(pa.array(said)), owner[said], keys[said])

    def _put(self, *columns: NDArray[Any]) -> Ints:
        node = np.arange(self.count, self.count + len(columns[0]))
        self.count += len(node)
        for part, column in zip(self.parts, columns, strict=True):
            part.append(column)
        return node

    def _spans(self, array: Any) -> tuple[Spans, Spans]:
        """Where the texts of an array are; those of equal codes are one."""
        code = None
        if pa.types.is_dictionary(array.type):
            code = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
            there = array.is_valid().to_numpy(zero_copy_only=False)
            array = array.dictionary
        texts = plain(array).cast(pa.large_string()).fill_null("")
        _, offsets, content = texts.buffers()
        ends = np.frombuffer(offsets, np.int64, len(texts) + 1, 8 * texts.offset)
        base = self.length - int(ends[0])
        held = b"" if content is None else content[int(ends[0]) : int(ends[-1])].to_pybytes()
        self.text.append(held)
        self.length += len(held)
        start, end = ((base + side).astype(np.int32) for side in (ends[:-1], ends[1:]))
        if code is None:
            return start, end
        if not len(start):
            none = np.zeros(len(code), np.int32)
            return none, none
        return start[code], np.where(there, end[code], start[code]).astype(np.int32)

    def tape(self) -> Tape:
        """All nodes."""
        none: tuple[Any, ...] = (ABSENT, 0, 0, np.nan, -1, -1)
        types = (np.uint8, np.int32, np.int32, np.float64, np.int32, np.int32)
        kind, start, end, number, parent, key = (
            np.concatenate([*part, [last]]).astype(type_, copy=False)
            for part, last, type_ in zip(self.parts, none, types, strict=True)
        )
        kind[self.duplicate] = DUPLICATE
        names = [name.encode() for name in self.keys]
        ends = (self.length + np.cumsum([0, *map(len, names)])).astype(np.int32)
        text = b"".join([*self.text, *names])
        return Tape(text, kind, start, end, number, parent, key, self.keys, ends[:-1], ends[1:])


def tape_of_arrow(arrays: Sequence[Any], only: Mapping[str, str] | None = None) -> list[Column]:
    """Arrow arrays of equal length as columns of one tape.

    The fields of a struct that are null are left out; a map is a list of pairs.

    Args:
        arrays: The arrays.
        only: Of structs in lists, the fields to read, and what they are called.
    """
    return _columns(_Nodes(json=False), arrays, only)


def tape_of_json(arrays: Sequence[Any]) -> list[Column]:
    """Arrow arrays of equal length as JSON has them: maps are objects, empty texts are texts."""
    return _columns(_Nodes(json=True), arrays)


def _columns(
    nodes: _Nodes, arrays: Sequence[Any], only: Mapping[str, str] | None = None
) -> list[Column]:
    rows = [nodes.add(array, np.full(len(array), -1), only=only) for array in arrays]
    tape = nodes.tape()
    return [Column(tape, row) for row in rows]
