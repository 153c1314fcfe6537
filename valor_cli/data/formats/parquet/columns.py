"""Convert Arrow columns to NumPy columns and lists of Python values.

Values are not parsed: a column's type says what it holds.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.parquet.files import pa, pc

Kind: TypeAlias = Literal[
    "text", "whole", "decimal", "float", "truth", "date", "none", "list", "struct", "map", "other"
]
"""What the values of a column are; those of a column of nulls alone are none."""

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NUMBERS: Final = frozenset({"whole", "decimal", "float", "none"})
NAMES: Final = frozenset({"text", "whole", "decimal", "truth", "none"})
"""What may be the name of a class. No numbers with a point: 17 and 17.0 would be two."""
IDS: Final = NAMES - {"truth"}
SCALARS: Final = NAMES | {"float", "date"}

LONGEST_ID: Final = 64
"""Bytes. Ids are kept at the width of the longest, so that a few long ones would cost much."""

_UNEVEN: Final = 4
"""So many times the room that they need is what ids of several lengths may take."""


class Named(NamedTuple):
    """A dictionary-encoded text column.

    Attributes:
        place: (n,) position in `names`; -1 for none: null, or an empty text.
        names: Not empty, UTF-8; one may stand here twice, or be nobody's.
    """

    place: Ints
    names: list[bytes]


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


def named(array: Any) -> Named:
    """A column of one of the kinds `NAMES`."""
    array = stored(array)
    if pa.types.is_null(array.type):
        return Named(np.full(len(array), -1), [])
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    index: Ints = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    names = [one.encode() for one in texts(array.dictionary)]
    if not all(names):
        # The last place is for what index -1 finds.
        kept = np.array([*(len(one) > 0 for one in names), False])
        index = np.where(kept[index], np.cumsum(kept)[index] - 1, -1)
        names = [one for one in names if one]
    return Named(index, names)


def texts(array: Any) -> list[str]:
    """A `SCALARS` column as CSV text; empty for null."""
    array = plain(array)
    if kind_of(array.type) == "float":
        values = array.to_pylist()
        return ["" if one is None else repr(one) for one in values]
    found: list[str] = array.cast(pa.large_string()).fill_null("").to_pylist()
    return found


def scalars(array: Any) -> list[Any]:
    """A `SCALARS` column as metadata values; None for null or empty text."""
    array = plain(array)
    kind = kind_of(array.type)
    if kind in ("text", "date"):
        return [one or None for one in texts(array)]
    if kind == "decimal":
        number = float if array.type.scale > 0 else int
        return [None if one is None else number(one) for one in array.to_pylist()]
    found: list[Any] = array.to_pylist()
    return found


def numbers(array: Any) -> tuple[Floats, Bools]:
    """A column of one of the kinds `NUMBERS`.

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


def ids(array: Any) -> tuple[NDArray[Any], Bools]:
    """A column of one of the kinds `IDS`.

    Returns:
        ids: (n,) UTF-8 as `S`, or objects that hold bytes.
        sound: (n,) which are neither null nor empty, and hold no NUL character.
    """
    array = plain(array).cast(pa.large_string()).fill_null("")
    _, offsets, content = array.buffers()
    ends = np.frombuffer(offsets, np.int64, len(array) + 1, 8 * array.offset)
    held = np.frombuffer(b"" if content is None else content, np.uint8)[ends[0] : ends[-1]]
    length = np.diff(ends)
    sound = length > 0
    if not held.all():
        at = np.searchsorted(ends - ends[0], np.flatnonzero(held == 0), side="right") - 1
        sound[at] = False
    longest = int(length.max(initial=1))
    if longest > LONGEST_ID and longest * len(length) > _UNEVEN * int(length.sum()):
        column = np.empty(len(array), object)
        column[:] = array.cast(pa.large_binary()).to_pylist()
        return column, sound
    laid_out = np.zeros((len(array), longest), np.uint8)
    laid_out[np.arange(longest) < length[:, None]] = held
    return laid_out.view(f"S{longest}")[:, 0], sound


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
