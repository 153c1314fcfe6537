"""Declare the columns of a shape of input, and find them in a file by name, alias or path."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct

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
    """

    name: str
    type: str = "text"
    aliases: tuple[str, ...] = ()
    single: bool = False


class Layout(NamedTuple):
    """The meaning of a row's keys.

    Attributes:
        keys: The key of each field, in their order; None where there is none.
        paths: For those that are nested, by standard name, the way to them.
        names: The standard names of the fields.
    """

    keys: tuple[str | None, ...]
    paths: Mapping[str, Path]
    names: tuple[str, ...]

    def has(self, standard: str) -> bool:
        """Whether a field is present."""
        return standard in self.paths or self.keys[self.names.index(standard)] is not None

    def name_of(self, standard: str) -> str:
        """The file's name of a field, for messages."""
        if standard in self.paths:
            return dotted(self.paths[standard])
        return self.keys[self.names.index(standard)] or standard


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

    def candidates(
        self, names: Collection[str], columns: Mapping[str, str]
    ) -> dict[str, list[str | Path]]:
        """The keys, or the path, at which each field may be: the first that a row has holds.

        Args:
            names: All keys, in order of appearance.
            columns: Standard name to the file's own name or path.
        """
        taken = {key for name in columns.values() for key in (name, path_of(name)[0])}
        plain: dict[str, list[str]] = {}
        for name in names:
            if name not in taken:
                plain.setdefault(plain_name(name), []).append(name)
        found: dict[str, list[str | Path]] = {}
        for field in self.fields:
            if field.name in columns:
                found[field.name] = list(_mapped(columns[field.name], names))
                continue
            known: dict[str | Path, None] = {}
            for alias in (field.name, *field.aliases):
                alike = plain.get(plain_name(alias), ())
                if alias in alike:
                    known[alias] = None
                if alias.startswith("__"):
                    alike = [name for name in alike if name.startswith("__")]
                known |= dict.fromkeys(alike)
            found[field.name] = list(known)
        return found

    def layout(self, names: Sequence[str], columns: Mapping[str, str]) -> Layout:
        """The key of each field: the mapped one, its own name, or the first alias."""
        found = self.candidates(names, columns)
        first = {name: next(iter(found[name]), None) for name in self.names}
        return Layout(
            tuple(one if isinstance(one, str) else None for one in first.values()),
            {name: one for name, one in first.items() if isinstance(one, tuple)},
            self.names,
        )

    def known(self, names: Collection[str], columns: Mapping[str, str]) -> int:
        """Number of fields among names."""
        return sum(map(bool, self.candidates(names, columns).values()))

    def ambiguous(
        self, names: Collection[str], columns: Mapping[str, str]
    ) -> dict[str, list[str | Path]]:
        """Single fields with several candidates, in the order of looking.

        A column of the standard name itself, or one that is mapped, leaves no doubt.
        """
        firsts = list({plain_name(name): name for name in reversed(list(names))}.values())
        spelled = {plain_name(name) for name in names}
        return {
            field.name: several
            for field in self.fields
            if field.single and field.name not in columns and plain_name(field.name) not in spelled
            if len(several := self.candidates(firsts, {})[field.name]) > 1
        }


def path_of(name: str) -> Path:
    """The way that a name says: `a.b[0].c`."""
    path: list[str | int] = []
    for key, positions in _STEP.findall(name):
        path += [key] * bool(key) + [int(one) for one in re.findall(r"\d+", positions)]
    return tuple(path) if path and isinstance(path[0], str) else (name,)


def dotted(path: Path) -> str:
    """A path as it is written."""
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)[1:]


def value_at(record: Mapping[str, Any], path: Path) -> Any:
    """The value at a path; None if absent."""
    value: Any = record
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and key < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def column_at(column: Column, path: Path) -> Column:
    """The values at a path inside of objects and lists; absent where there are none."""
    for key in path:
        if isinstance(key, str):
            column = column.field(key)
        else:
            lists = column.where(column.is_of(LIST))
            column = nth(*lists.items(), key)
    return column


def _mapped(name: str, names: Collection[str]) -> Iterator[str | Path]:
    if name in names:
        yield name
    path = path_of(name)
    if len(path) > 1 and path[0] in names:
        yield path


def plain_name(name: str) -> str:
    """A name without case, spaces, hyphens and underscores."""
    return name.translate(_DROPPED).casefold()
