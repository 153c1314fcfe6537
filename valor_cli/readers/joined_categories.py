"""The categories of several inputs of one side come in; those of all, by name, go out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem
from valor_cli.readers.object_rows import text_column
from valor_cli.readers.objects import ObjectFile
from valor_cli.readers.table import Columns, Table

Id: TypeAlias = int | str
_Name: TypeAlias = tuple[str, int]


class Categories(NamedTuple):
    """What the labels of several parts become.

    Attributes:
        categories: Of all parts; None where no part names them.
        of_objects: (n,) category id of every object, part after part.
        renumbered: Of each part, its ids to those they became; None where ids are as they were.
    """

    categories: Table | None
    of_objects: NDArray[Any]
    renumbered: Sequence[Mapping[Id, int]] | None


def joined_categories(path: str, parts: Sequence[ObjectFile]) -> Categories:
    """One category per name, whatever its ids in the parts.

    Ids stay as they are where all parts agree on them; else all are numbered anew from 0, by name,
    for the order of the parts must not matter. Two categories of one name in one part stay apart.

    Raises:
        DataError: Only some parts name categories.
    """
    ids = [part.objects["category_id"] for part in parts]
    named = [part.categories for part in parts if part.categories is not None]
    # An empty list of results names nothing, and has nothing to name.
    bare = [part for part in parts if part.categories is None and len(part.objects)]
    if not named:
        return Categories(None, same_type("category ids", ids, parts), None)
    if bare:
        there = next(part.path for part in parts if part.categories is not None)
        message = f"categories are not named here, and are in {there}"
        hint = "join COCO results lists with results lists alone, or give all of them names"
        raise DataError(Problem(bare[0].path, message), hint=hint)
    tables = [_none(path) if part.categories is None else part.categories for part in parts]
    pairs = [list(zip(table["id"].tolist(), _names(table), strict=True)) for table in tables]
    first: dict[_Name, int] = {}
    for row, (_, name) in enumerate(chain.from_iterable(pairs)):
        first.setdefault(name, row)
    agreed = _agree(pairs)
    if not agreed:
        first = dict(sorted(first.items()))
    columns = _columns(tables, np.array(list(first.values()), np.int64))
    if agreed:
        own = same_type("ids of categories", [table["id"] for table in tables], parts)
        columns["id"] = own[list(first.values())]
        return Categories(Table(path, columns), same_type("category ids", ids, parts), None)
    number = {name: at for at, name in enumerate(first)}
    new = [{one: number[name] for one, name in part} for part in pairs]
    of_objects = [
        np.array([numbers[one] for one in column.tolist()], np.int64)
        for numbers, column in zip(new, ids, strict=True)
    ]
    columns["id"] = np.arange(len(number))
    return Categories(Table(path, columns), np.concatenate(of_objects), new)


def _none(path: str) -> Table:
    return Table(path, {"id": np.zeros(0, np.int64), "name": text_column([])})


def _names(table: Table) -> list[_Name]:
    """Each name, and how many categories before it have the same."""
    seen: Counter[str] = Counter()
    names = []
    for name in table["name"].tolist():
        names.append((name, seen[name]))
        seen[name] += 1
    return names


def _agree(parts: Sequence[Sequence[tuple[Id, _Name]]]) -> bool:
    """Whether no id has two names, no name two ids, and all ids are of one type."""
    ids: dict[Id, _Name] = {}
    names: dict[_Name, Id] = {}
    for one, name in chain.from_iterable(parts):
        if ids.setdefault(one, name) != name or names.setdefault(name, one) != one:
            return False
    return len(set(map(type, ids))) <= 1


def _columns(tables: Sequence[Table], rows: NDArray[np.int64]) -> Columns:
    """The columns that all tables with categories have, less the ids: these rows of all."""
    filled = [table for table in tables if len(table)] or tables[:1]
    return {
        name: np.concatenate([table[name] for table in filled])[rows]
        for name in filled[0].columns
        if name != "id" and all(name in table.columns for table in filled)
    }


def same_type(
    what: str, columns: Sequence[NDArray[Any]], parts: Sequence[ObjectFile]
) -> NDArray[Any]:
    """Columns of one type, one after the other.

    Raises:
        DataError: They are of two types.
    """
    filled = [at for at, column in enumerate(columns) if len(column)]
    for at in filled:
        if columns[at].dtype != columns[filled[0]].dtype:
            kinds = [
                "numbers" if columns[one].dtype.kind == "i" else "text" for one in (at, filled[0])
            ]
            message = f"{what} are {kinds[0]} here and {kinds[1]} in {parts[filled[0]].path}"
            raise DataError(Problem(parts[at].path, message))
    # An input without objects has ids of no type.
    return np.concatenate([columns[at] for at in filled] or [columns[0]])
