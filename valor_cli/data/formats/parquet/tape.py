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

    def __init__(self) -> None:
        self.text: list[bytes] = []
        self.length = 0
        self.count = 0
        self.parts: list[list[NDArray[Any]]] = [[] for _ in range(6)]
        self.keys: dict[str, int] = {}
        self.duplicate: list[int] = []

    def add(self, array: Any, parent: Ints, key: int | Ints = -1) -> Ints:
        """Add the values of an array; their nodes.

        Args:
            array: A `pyarrow.Array`.
            parent: (n,) nodes that hold them; -1 for rows.
            key: The code of their key, or of the key of each.
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
                kinds[there] = _KINDS[kind]
            if kind in ("whole", "decimal"):
                number, _ = numbers(array)
        elif kind == "float":
            number, _ = numbers(array)
            kinds[there] = np.where(np.isfinite(number), NUMBER, INVALID)[there]
        elif kind in ("list", "map", "struct"):
            kinds[there] = LIST if kind == "list" else OBJECT
        node = self._put(kinds, start, end, number, parent, np.zeros(n, np.int64) + key)
        if kind == "list":
            count, inside = lists(array)
            self.add(inside, np.repeat(node, count))
        elif kind == "map":
            count, inside = lists(array)
            self._entries(fields(inside), np.repeat(node, count))
        elif kind == "struct":
            for name, held in fields(array).items():
                said = held.is_valid().to_numpy(zero_copy_only=False) & there
                code = self.keys.setdefault(name, len(self.keys))
                self.add(held.filter(pa.array(said)), node[said], code)
        return node

    def _entries(self, entry: Mapping[str, Any], owner: Ints) -> None:
        """Pairs as values under keys; an object with a duplicate key is marked."""
        coded = plain(entry["key"]).dictionary_encode()
        codes = [self.keys.setdefault(name, len(self.keys)) for name in texts(coded.dictionary)]
        keys = np.array([*codes, -1], np.int64)[coded.indices.to_numpy(zero_copy_only=False)]
        order = np.lexsort((keys, owner))
        again = (np.diff(owner[order]) == 0) & (np.diff(keys[order]) == 0)
        for node in np.unique(owner[order][1:][again]).tolist():
            self.duplicate.append(node)
        self.add(entry["value"], owner, keys)

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


def tape_of_arrow(arrays: Sequence[Any]) -> list[Column]:
    """Arrow arrays of equal length as columns of one tape, with values as JSON has them.

    Maps are objects; the fields of a struct that are null are left out.
    """
    nodes = _Nodes()
    rows = [nodes.add(array, np.full(len(array), -1)) for array in arrays]
    tape = nodes.tape()
    return [Column(tape, row) for row in rows]
