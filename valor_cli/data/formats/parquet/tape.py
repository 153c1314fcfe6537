"""Read Arrow columns as a tape; their types say what they hold, and nothing is parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.batch import ColumnType, Kind
from valor_cli.data.formats.parquet.class_labels import ClassNames, inside, named
from valor_cli.data.formats.parquet.files import pa, pc
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
    Bools,
    Column,
    Ints,
    Tape,
    tape_of_nodes,
)
from valor_cli.kernels.columns.spans import Spans

_TYPES = pa.types
_KINDS: Final[Mapping[Kind, tuple[int, Sequence[Any]]]] = {
    "text": (TEXT, [_TYPES.is_string, _TYPES.is_large_string, _TYPES.is_string_view]),
    "date": (TEXT, [_TYPES.is_date]),
    "whole": (NUMBER, [_TYPES.is_integer]),
    "decimal": (NUMBER, [_TYPES.is_decimal]),
    "truth": (FALSE, [_TYPES.is_boolean]),
    "float": (NUMBER, [_TYPES.is_floating]),
    "none": (NULL, [_TYPES.is_null]),
    "map": (OBJECT, [_TYPES.is_map]),
    "list": (
        LIST,
        [_TYPES.is_list, _TYPES.is_large_list, _TYPES.is_fixed_size_list]
        + [_TYPES.is_list_view, _TYPES.is_large_list_view],
    ),
    "struct": (OBJECT, [_TYPES.is_struct]),
}
"""The nodes of values by their kinds, and the Arrow types of these."""

_WRITTEN: Final = ("text", "date", "whole", "decimal", "truth")
"""Kinds whose text is part of the tape; that of a float is made of its number."""

_DEEPEST: Final = 64


def type_of(kind: Any, depth: int = 0) -> ColumnType:
    """An Arrow type; one that is nested too deeply is of the kind "deep"."""
    written = str(kind).replace("\n", " ")
    if depth > _DEEPEST:
        return ColumnType("deep", written)
    kind = _value_type(kind)
    found = _kind_of(kind)
    fields: list[tuple[str, Any]] = []
    if found == "struct":
        fields = [(one.name, one.type) for one in kind]
    elif found == "map":
        fields = [("key", kind.key_type), ("value", kind.item_type)]
    elif found == "list":
        fields = [("", kind.value_type)]
    inner = tuple((name, type_of(one, depth + 1)) for name, one in fields)
    return ColumnType(found, written, inner)


def _value_type(kind: Any) -> Any:
    """The type of the values of dictionaries and of extensions."""
    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    return kind


def _kind_of(kind: Any) -> Kind:
    """The kind of values of an Arrow type."""
    kind = _value_type(kind)
    return next(
        (name for name, (_, some) in _KINDS.items() if any(is_(kind) for is_ in some)), "other"
    )


class _Nodes:
    """Nodes of arrays, one array after the other."""

    def __init__(self) -> None:
        self.text: list[bytes] = []
        self.length = 0
        self.count = 0
        self.parts: list[tuple[NDArray[Any], ...]] = []
        self.keys: dict[str, int] = {}
        self.duplicate: list[int] = []

    def add(self, array: Any, names: ClassNames, parent: Ints, key: int | Ints = -1) -> Ints:
        """Add the values of an array; their nodes.

        Args:
            array: A `pyarrow.Array`.
            names: Those of the classes that ids in it stand for.
            parent: (n,) nodes that hold them; -1 for rows.
            key: The code of their key, or of the key of each.

        Raises:
            ArrowInvalid: An id is that of no class.
        """
        array = named(array, names)
        n, kind = len(array), _kind_of(array.type)
        array = _stored(array)
        if kind != "text":
            array = _decoded(array)
        there = _is_there(array)
        number = _numbers(array) if kind in ("whole", "decimal", "float") else np.full(n, np.nan)
        own, _ = _KINDS.get(kind, (NULL, ()))
        kinds = np.where(there, np.uint8(own), np.uint8(NULL))
        if kind == "truth":
            kinds[array.fill_null(False).to_numpy(zero_copy_only=False)] = TRUE
        elif kind == "float":
            kinds[there & ~np.isfinite(number)] = INVALID
        start = end = np.zeros(n, np.int32)
        if kind in _WRITTEN:
            start, end = self._spans(array)
        node = np.arange(self.count, self.count + n)
        self.count += n
        self.parts.append((kinds, start, end, number, parent, np.zeros(n, np.int64) + key))
        if kind in ("list", "map"):
            self._add_items(array, names, node)
        elif kind == "struct":
            for field, held in zip(array.type, array.flatten(), strict=True):
                said = _is_there(held)
                code = self.keys.setdefault(field.name, len(self.keys))
                within = inside(names, field.name)
                self.add(held.filter(pa.array(said)), within, node[said], code)
        return node

    def _add_items(self, array: Any, names: ClassNames, node: Ints) -> None:
        """Add what lists hold, or maps; an object with a duplicate key is marked."""
        kind = array.type
        is_map = pa.types.is_map(kind)
        if is_map:
            entry = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
            array = array.cast(pa.large_list(entry))
        # What stands behind a null is no part of what `flatten` gives.
        length = pc.if_else(array.is_valid(), pc.list_value_length(array), 0).fill_null(0)
        owner = np.repeat(node, length.to_numpy(zero_copy_only=False))
        items = array.flatten()
        if not is_map:
            self.add(items, names, owner)
            return
        key, value = items.flatten()
        coded = _decoded(_stored(key)).dictionary_encode()
        codes = [self.keys.setdefault(name, len(self.keys)) for name in _names(coded.dictionary)]
        keys = np.array(codes, np.int64)[coded.indices.to_numpy(zero_copy_only=False)]
        order = np.lexsort((keys, owner))
        again = (np.diff(owner[order]) == 0) & (np.diff(keys[order]) == 0)
        self.duplicate += np.unique(owner[order][1:][again]).tolist()
        self.add(value, (), owner, keys)

    def _spans(self, array: Any) -> tuple[Spans, Spans]:
        """Where the texts of an array are; those of equal codes are one."""
        is_coded = pa.types.is_dictionary(array.type)
        texts = array.dictionary if is_coded else array
        texts = texts.cast(pa.large_string()).fill_null("")
        _, offsets, content = texts.buffers()
        ends = np.frombuffer(offsets, np.int64, len(texts) + 1, 8 * texts.offset)
        base = self.length - int(ends[0])
        held = b"" if content is None else content[int(ends[0]) : int(ends[-1])].to_pybytes()
        self.text.append(held)
        self.length += len(held)
        start, end = ((base + side).astype(np.int32) for side in (ends[:-1], ends[1:]))
        if not is_coded:
            return start, end
        # A null has a code of its own, of an empty text.
        code = array.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
        return np.append(start, np.int32(0))[code], np.append(end, np.int32(0))[code]

    def tape(self) -> Tape:
        """All nodes."""
        none: tuple[Any, ...] = (ABSENT, 0, 0, np.nan, -1, -1)
        kind, *others = (
            np.concatenate([*part, [last]]) for *part, last in zip(*self.parts, none, strict=True)
        )
        kind[self.duplicate] = DUPLICATE
        return tape_of_nodes(self.text, self.keys, kind, *others)


def _stored(array: Any) -> Any:
    """The storage of an extension array."""
    return array.storage if isinstance(array.type, pa.BaseExtensionType) else array


def _decoded(array: Any) -> Any:
    """The values of a dictionary array."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _is_there(array: Any) -> Bools:
    """(n,) which values are not null."""
    there: Bools = array.is_valid().to_numpy(zero_copy_only=False)
    return there


def _numbers(array: Any) -> NDArray[np.float64]:
    """(n,) the numbers, NaN for null."""
    if _kind_of(array.type) == "decimal":
        # Arrow's own cast need not give the nearest number.
        array = array.cast(pa.large_string())
    number: NDArray[np.float64] = (
        array.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(zero_copy_only=False)
    )
    return number


def _names(keys: Any) -> Sequence[str]:
    """The keys of maps as texts."""
    if _kind_of(keys.type) == "float":
        return [repr(one) for one in keys.to_pylist()]
    names: list[str] = keys.cast(pa.large_string()).to_pylist()
    return names


def tape_of_arrow(arrays: Sequence[Any], names: Sequence[ClassNames]) -> list[Column]:
    """Arrow arrays of equal length as columns of one tape, with values as JSON has them.

    Maps are objects; the fields of a struct that are null are left out, and class ids are names.

    Raises:
        ArrowInvalid: An id is that of no class.
    """
    nodes = _Nodes()
    rows = [
        nodes.add(array, own, np.full(len(array), -1))
        for array, own in zip(arrays, names, strict=True)
    ]
    tape = nodes.tape()
    return [Column(tape, row) for row in rows]
