"""Convert Arrow columns to NumPy columns and lists of Python values.

Values are not parsed: a column's type says what it holds.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.batch import ColumnType, Kind
from valor_cli.data.formats.parquet.files import pa, pc

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DEEPEST: Final = 64


def kind_of(kind: Any) -> Kind:
    """The kind of values of an Arrow type."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return kind_of(kind.storage_type)
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    checks: tuple[tuple[Kind, Any], ...] = (
        ("text", _is_text),
        ("whole", types.is_integer),
        ("decimal", types.is_decimal),
        ("float", types.is_floating),
        ("truth", types.is_boolean),
        ("date", types.is_date),
        ("none", types.is_null),
        ("map", types.is_map),
        ("list", _is_list),
        ("struct", types.is_struct),
    )
    return next((name for name, holds in checks if holds(kind)), "other")


def type_of(kind: Any, depth: int = 0) -> ColumnType:
    """An Arrow type; one that is nested too deeply is of the kind "deep"."""
    written = str(kind).replace("\n", " ")
    if depth > _DEEPEST:
        return ColumnType("deep", written)
    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    found = kind_of(kind)
    fields: list[tuple[str, Any]] = []
    if found == "struct":
        fields = [(one.name, one.type) for one in kind]
    elif found == "map":
        fields = [("key", kind.key_type), ("value", kind.item_type)]
    elif found == "list":
        fields = [("", kind.value_type)]
    inner = tuple((name, type_of(one, depth + 1)) for name, one in fields)
    return ColumnType(found, written, inner)


def texts(array: Any) -> list[str]:
    """A column of single values as CSV has them; empty for null."""
    array = plain(array)
    if kind_of(array.type) == "float":
        values = array.to_pylist()
        return ["" if one is None else repr(one) for one in values]
    found: list[str] = array.cast(pa.large_string()).fill_null("").to_pylist()
    return found


def numbers(array: Any) -> tuple[Floats, Bools]:
    """A column of numbers.

    Returns:
        value: (n,) NaN for null.
        there: (n,) which are not null.
    """
    array = plain(array)
    there = array.is_valid().to_numpy(zero_copy_only=False)
    if kind_of(array.type) == "decimal":
        # Arrow's own cast need not give the nearest number.
        array = array.cast(pa.large_string())
    array = array.cast(pa.float64(), safe=False)
    value = array.fill_null(np.nan).to_numpy(zero_copy_only=False)
    return value, there


def lists(array: Any) -> tuple[Ints, Any]:
    """A column of lists or maps; map entries are structs of `key` and `value`.

    Returns:
        count: (n,) how many each holds; 0 for null.
        inside: What they hold, one after the other.
    """
    array = stored(array)
    kind = array.type
    if pa.types.is_map(kind):
        entry = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        array = array.cast(pa.large_list(entry))
    # What stands behind a null is no part of what `flatten` gives.
    length = pc.if_else(array.is_valid(), pc.list_value_length(array), 0).fill_null(0)
    return length.to_numpy(zero_copy_only=False).astype(np.int64), array.flatten()


def fields(array: Any) -> dict[str, Any]:
    """The fields of a struct column; null where the struct is."""
    array = stored(array)
    return dict(zip((one.name for one in array.type), array.flatten(), strict=True))


def stored(array: Any) -> Any:
    """The storage of an extension column."""
    return array.storage if isinstance(array.type, pa.BaseExtensionType) else array


def plain(array: Any) -> Any:
    """The column without dictionary encoding, with texts of the usual type."""
    array = stored(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if _is_text(array.type) and not pa.types.is_large_string(array.type):
        array = array.cast(pa.large_string())
    return array


def _is_text(kind: Any) -> bool:
    types = pa.types
    return any(
        holds(kind)
        for holds in (
            types.is_string,
            types.is_large_string,
            types.is_string_view,
        )
    )


def _is_list(kind: Any) -> bool:
    types = pa.types
    return any(
        holds(kind)
        for holds in (
            types.is_list,
            types.is_large_list,
            types.is_fixed_size_list,
            types.is_list_view,
            types.is_large_list_view,
        )
    )
