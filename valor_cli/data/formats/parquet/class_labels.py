"""Class ids as names: the package `datasets` keeps the names of a `ClassLabel` in the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from valor_cli.extras import extra

pa = extra("pyarrow", "parquet", "reading Parquet")

ClassNames: TypeAlias = "Sequence[str] | Mapping[str, ClassNames]"
"""The names of the classes of a column, or of fields in it; ids count from 0. That a column holds
lists is left out: its type says so."""

_KEY: Final = b"huggingface"
_DEEPEST: Final = 64


def class_names(schema: Any) -> Mapping[str, ClassNames]:
    """The class names of the columns of a `pyarrow.Schema` that have some.

    Source: `datasets.Features.arrow_schema`, which writes them as JSON under "huggingface".
    """
    try:
        said = msgspec.json.decode((schema.metadata or {}).get(_KEY, b"{}"))
        found = _names_in(said["info"]["features"])
    except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError):
        return {}
    return found if isinstance(found, Mapping) else {}


def inside(names: ClassNames, field: str) -> ClassNames:
    """The class names of a field of a struct."""
    return names.get(field, {}) if isinstance(names, Mapping) else {}


def named_type(kind: Any, names: ClassNames) -> Any:
    """An Arrow type, with texts in the place of class ids."""
    if names and (pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)):
        field = kind.value_field.with_type(named_type(kind.value_type, names))
        return pa.list_(field, getattr(kind, "list_size", -1))
    if names and pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(named_type(kind.value_type, names)))
    if names and pa.types.is_struct(kind):
        return pa.struct(
            [one.with_type(named_type(one.type, inside(names, one.name))) for one in kind]
        )
    return pa.dictionary(pa.int64(), pa.large_string()) if _are_ids(kind, names) else kind


def named(array: Any, names: ClassNames) -> Any:
    """An Arrow array of class ids as texts, null for -1; any other array as it is.

    Raises:
        ArrowInvalid: An id is that of no class.
    """
    if not _are_ids(array.type, names):
        return array
    value = array.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    wrong = value[(value < -1) | (value >= len(names))]
    if len(wrong):
        raise pa.ArrowInvalid(f"no class has the id {wrong[0]}: the schema names {len(names):,}")
    indices = pa.array(value, mask=value < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.large_string()))


def _are_ids(kind: Any, names: ClassNames) -> bool:
    return bool(names) and not isinstance(names, Mapping) and bool(pa.types.is_integer(kind))


def _names_in(feature: Any, depth: int = 0) -> ClassNames:
    """The class names of a feature as `datasets` writes it; empty where it has none."""
    if depth > _DEEPEST:
        return {}
    if isinstance(feature, list) and len(feature) == 1:
        return _names_in(feature[0], depth + 1)
    if not isinstance(feature, dict):
        return {}
    kind = feature.get("_type")
    if kind == "ClassLabel":
        names = feature.get("names")
        is_read = isinstance(names, list) and all(isinstance(one, str) for one in names)
        return names if is_read and names else {}
    if isinstance(kind, str):
        return _names_in(feature.get("feature"), depth + 1)
    inner = {name: _names_in(one, depth + 1) for name, one in feature.items()}
    return {name: one for name, one in inner.items() if one}
