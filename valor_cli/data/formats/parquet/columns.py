"""Say what the values of Arrow columns are: a column's type says it, and nothing is parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from valor_cli.data.batch import ColumnType, Kind
from valor_cli.data.formats.parquet.class_labels import ClassNames, inside
from valor_cli.data.formats.parquet.files import pa

_CHECKS: Final[Mapping[Kind, tuple[Any, ...]]] = {
    "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    "whole": (pa.types.is_integer,),
    "decimal": (pa.types.is_decimal,),
    "float": (pa.types.is_floating,),
    "truth": (pa.types.is_boolean,),
    "date": (pa.types.is_date,),
    "none": (pa.types.is_null,),
    "map": (pa.types.is_map,),
    "list": (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    ),
    "struct": (pa.types.is_struct,),
}

_DEEPEST: Final = 64


def kind_of(kind: Any) -> Kind:
    """The kind of values of an Arrow type."""
    kind = _value_type(kind)
    return next((name for name, some in _CHECKS.items() if any(is_(kind) for is_ in some)), "other")


def type_of(kind: Any, names: ClassNames = (), depth: int = 0) -> ColumnType:
    """An Arrow type; one that is nested too deeply is of the kind "deep".

    Args:
        kind: The type.
        names: Those of the classes that ids in it stand for.
        depth: How many types it is in.
    """
    if names and pa.types.is_integer(kind):
        kind = pa.dictionary(pa.int64(), pa.large_string())
    written = str(kind).replace("\n", " ")
    if depth > _DEEPEST:
        return ColumnType("deep", written)
    kind = _value_type(kind)
    found = kind_of(kind)
    fields: list[tuple[str, Any, ClassNames]] = []
    if found == "struct":
        fields = [(one.name, one.type, inside(names, one.name)) for one in kind]
    elif found == "map":
        fields = [("key", kind.key_type, ()), ("value", kind.item_type, ())]
    elif found == "list":
        fields = [("", kind.value_type, names)]
    inner = tuple((name, type_of(one, own, depth + 1)) for name, one, own in fields)
    return ColumnType(found, written, inner)


def _value_type(kind: Any) -> Any:
    """The type of the values of dictionaries and of extensions."""
    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    return kind
