"""Declare the columns of a shape of input, and find them in a file by name, alias or path."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any, Final, TypeAlias

from msgspec import Struct

from valor_cli.data.json_records import scalar_text
from valor_cli.data.tape import LIST, Column, nth

Path: TypeAlias = tuple[str | int, ...]
"""Keys of objects and positions in lists that lead to a value."""

_STEP: Final = re.compile(r"([^.]*?)((?:\[\d+\])*)(?:\.|$)")
_DROPPED: Final = str.maketrans("", "", "_- ")


class Field(Struct, frozen=True):
    """A column of a shape.

    Attributes:
        name: Its standard name.
        type: What it holds, as the shape has it.
        aliases: Other names, in the order of looking. Case, spaces, hyphens and underscores make no
            difference: `actualOutput` is `actual_output`. One that begins with two underscores
            keeps these.
        single: Whether a file with several of these names is ambiguous.
        description: What it says of a row, for the docs and for editors.
    """

    name: str
    type: str = "text"
    aliases: tuple[str, ...] = ()
    single: bool = False
    description: str = ""


class Schema:
    """The fields of a shape.

    Attributes:
        fields: All of them.
        names: Their standard names.
        aliases: Standard name to other names.
    """

    def __init__(self, *fields: Field) -> None:
        self.fields = fields
        self.names = tuple(field.name for field in fields)
        self.aliases: Mapping[str, tuple[str, ...]] = {one.name: one.aliases for one in fields}
        self._plain = {
            field.name: [(one, plain_name(one)) for one in (field.name, *field.aliases)]
            for field in fields
        }

    def of(self, *types: str) -> tuple[str, ...]:
        """The names of the fields of some types."""
        return tuple(field.name for field in self.fields if field.type in types)

    def mapping(self) -> dict[str, Any]:
        """The JSON Schema of a mapping from these fields to the names of a file."""
        described = {
            field.name: {"type": "string", "description": field.description}
            for field in self.fields
        }
        return {"properties": described, "propertyNames": {"enum": list(self.names)}}

    def known(self, names: Collection[str]) -> set[str]:
        """The names that a field may have."""
        return {str(way[0]) for ways in self.candidates(names, {}).values() for way in ways}

    def candidates(
        self, names: Collection[str], columns: Mapping[str, str]
    ) -> dict[str, list[Path]]:
        """The ways to each field, in the order of looking: the first that a row has is read.

        Args:
            names: All keys, in order of appearance.
            columns: Standard name to the file's own name or path, in place of the known ones.
        """
        taken = {key for name in columns.values() for key in (name, path_of(name)[0])}
        plain: dict[str, list[str]] = {}
        for name in names:
            if name not in taken:
                plain.setdefault(plain_name(name), []).append(name)
        found: dict[str, list[Path]] = {}
        for field in self.fields:
            if field.name in columns:
                found[field.name] = _mapped(columns[field.name], names)
                continue
            known: dict[str, None] = {}
            for alias, alike in self._plain[field.name]:
                if alike in plain:
                    known |= dict.fromkeys(
                        one
                        for one in sorted(plain[alike], key=lambda one: one != alias)
                        if one.startswith("__") or not alias.startswith("__")
                    )
            found[field.name] = [(name,) for name in known]
        return found

    def layout(self, names: Collection[str], columns: Mapping[str, str]) -> dict[str, Path]:
        """The way to each field that a row with some keys has."""
        candidates = self.candidates(names, columns)
        return {field: ways[0] for field, ways in candidates.items() if ways}

    def ambiguous(self, names: Collection[str], columns: Mapping[str, str]) -> dict[str, list[str]]:
        """Single fields with several candidates, in the order of looking.

        A column of the standard name itself, or one that is mapped, leaves no doubt.
        """
        firsts = {plain_name(name): name for name in reversed(list(names))}
        found = {}
        for field in self.fields:
            if field.single and field.name not in columns and plain_name(field.name) not in firsts:
                ways = self.candidates(firsts.values(), {})[field.name]
                if len(ways) > 1:
                    found[field.name] = [str(way[0]) for way in ways]
        return found


def path_of(name: str) -> Path:
    """The way that a name says: `a.b[0].c`."""
    path: list[str | int] = []
    for key, positions in _STEP.findall(name):
        path += [key] * bool(key) + [int(one) for one in re.findall(r"\d+", positions)]
    return tuple(path) if path and isinstance(path[0], str) else (name,)


def mapped_columns(columns: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The columns that must be there for mapped ones, each with its purpose.

    Args:
        columns: Standard name to the file's own name or path.
        names: The columns of the file.
    """
    return {
        name if name in names else str(path_of(name)[0]): f"for {standard}"
        for standard, name in columns.items()
    }


def dotted(path: Path) -> str:
    """A path as it is written."""
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)[1:]


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """The value at a path in a record, or in any value of JSON; None if absent."""
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and key < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def cell_of(record: Mapping[str, Any], path: Path) -> str:
    """The value at a path as the text of a cell; empty for none, and for a list or an object."""
    value = value_at(record, path) if path else None
    text = "" if value is None else scalar_text(value)
    return repr(float(value)) if text is None and isinstance(value, float) else text or ""


def first_at(columns: Callable[[str], Column], ways: Sequence[Path]) -> Column:
    """The first value of each row on some ways, at least one."""
    return reduce(Column.or_else, [column_at(columns(str(key)), path) for key, *path in ways])


def column_at(column: Column, path: Sequence[str | int]) -> Column:
    """The values at a path inside of objects and lists; absent where there are none."""
    for key in path:
        if isinstance(key, str):
            column = column.field(key)
        else:
            lists = column.where(column.is_of(LIST))
            column = nth(*lists.items(), key)
    return column


def _mapped(name: str, names: Collection[str]) -> list[Path]:
    path = path_of(name)
    nested = len(path) > 1 and path[0] in names
    return [(name,)] * (name in names) + [path] * nested


def plain_name(name: str) -> str:
    """A name without case, spaces, hyphens and underscores."""
    return name.translate(_DROPPED).casefold()
