"""Join the objects of several inputs into one `ObjectFile`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.coco.images import LVIS_KEYS
from valor_cli.data.partition.shards import minority_parts
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile, id_column, text_column
from valor_cli.data.table import Columns, Table, places_in
from valor_cli.errors import DataError, Problem, printable
from valor_cli.kernels.geometry.shapes import joined

_FILL: Final[Mapping[str, Any]] = {
    "area": np.nan,
    "crowd": False,
    "difficult": False,
    "width": 0,
    "height": 0,
    "file_name": None,
    **dict.fromkeys(LVIS_KEYS, ()),
}
"""Default of a column of objects or images that an input does not have."""

_Name: TypeAlias = tuple[str, int]
"""A name, and how many categories before have the same."""


class Categories(NamedTuple):
    """The joined labels of several parts.

    Attributes:
        categories: Of all parts; None where no part names them.
        of_objects: (n,) category id of every object, part after part.
        renumbered: Of each part, its ids to those they became; None where ids are as they were.
    """

    categories: Table | None
    of_objects: NDArray[Any]
    renumbered: Sequence[Mapping[Id, int]] | None


def joined_objects(path: str, parts: Sequence[ObjectFile]) -> ObjectFile:
    """Join all parts.

    Labels are joined by name, as `joined_categories` says. Ids of objects that count from 1 in
    each part count on.

    Args:
        path: What the user wrote for all of them.
        parts: At least one, each of another file.

    Raises:
        DataError: An image or the id of an object is in two parts; parts differ in what they
            say or in the type of their ids; only some parts name their categories.
    """
    if len(parts) == 1:
        return parts[0]
    labels = joined_categories(path, parts)
    objects: Columns = {
        "image_id": same_type("image ids", [part.objects["image_id"] for part in parts], parts),
        "category_id": labels.of_objects,
        **_other_columns(parts),
    }
    images = _images(path, parts, labels.renumbered)
    names = list(dict.fromkeys(chain.from_iterable(part.metadata for part in parts)))
    image_names = {part.image_names for part in parts}
    rows, places = places_in([part.objects for part in parts])
    skipped = sum(part.objects.skipped for part in parts)
    return ObjectFile(
        path=path,
        objects=Table(path, objects, rows=rows, skipped=skipped, parts=places),
        shapes=joined([part.shapes for part in parts]),
        images=images,
        categories=labels.categories,
        metadata={
            name: list(chain.from_iterable(part.metadata[name] for part in parts)) for name in names
        },
        files=list(chain.from_iterable(part.files for part in parts)),
        coded=labels.renumbered is not None or any(part.coded for part in parts),
        image_names=image_names.pop() if len(image_names) == 1 else "text",
        warnings=list(dict.fromkeys(chain.from_iterable(part.warnings for part in parts))),
    )


def _other_columns(parts: Sequence[ObjectFile]) -> Columns:
    """The columns besides ids of images and categories."""
    names = dict.fromkeys(chain.from_iterable(part.objects.columns for part in parts))
    found: Columns = {}
    for name in names:
        if name in ("image_id", "category_id"):
            continue
        own = [part for part in parts if name in part.objects.columns or len(part.objects)]
        without = [part for part in own if name not in part.objects.columns]
        if without and name not in _FILL:
            there = next(part.path for part in own if name in part.objects.columns)
            one = "one" if name == "id" else "it"
            message = f"objects have no {name} here, and have {one} in {there}"
            raise DataError(Problem(without[0].path, message))
        columns = [_column(part.objects, name) for part in own]
        if len({column.shape[1:] for column in columns}) > 1:
            message = (
                f"the objects differ in the shape of their {name} from those of {parts[0].path}"
            )
            raise DataError(Problem(parts[-1].path, message))
        found[name] = _object_ids(columns, own) if name == "id" else np.concatenate(columns)
    return found


def _column(table: Table, name: str) -> NDArray[Any]:
    """A column, or its default where the input does not have it."""
    if name in table.columns:
        return table[name]
    default = _FILL[name]
    if isinstance(default, float | int):
        return np.full(len(table), default)
    return text_column([default] * len(table))


def _object_ids(columns: Sequence[NDArray[Any]], parts: Sequence[ObjectFile]) -> NDArray[Any]:
    if all(np.array_equal(column, np.arange(1, len(column) + 1)) for column in columns):
        return np.arange(1, sum(map(len, columns)) + 1)
    ids = same_type("ids of objects", columns, parts)
    _check_distinct("id", columns, parts)
    return ids


def _check_distinct(
    what: str, columns: Sequence[NDArray[Any]], parts: Sequence[ObjectFile]
) -> None:
    """Refuse ids that are in two parts.

    Raises:
        DataError: There are some; it names both files.
    """
    seen: dict[Any, str] = {}
    problems: list[Problem] = []
    for column, part in zip(columns, parts, strict=True):
        for one in column.tolist():
            if one in seen:
                shown = printable(repr(one)) if isinstance(one, str) else str(one)
                problems.append(
                    Problem(part.path, f"duplicate {what} {shown}, also in {seen[one]}")
                )
            seen.setdefault(one, part.path)
    if problems:
        raise DataError(problems)


def _images(
    path: str, parts: Sequence[ObjectFile], renumbered: Sequence[Mapping[Id, int]] | None
) -> Table | None:
    """The images of all parts; None where no part lists any."""
    if all(part.images is None for part in parts):
        return None
    listed = [part.images["id"] for part in parts if part.images is not None]
    _check_distinct("image", listed, [part for part in parts if part.images is not None])
    seen = set(chain.from_iterable(column.tolist() for column in listed))
    tables = [_unlisted(part, seen) if part.images is None else part.images for part in parts]
    columns: Columns = {"id": same_type("image ids", [table["id"] for table in tables], parts)}
    for name in dict.fromkeys(chain.from_iterable(table.columns for table in tables)):
        if name != "id":
            values = [_column(table, name) for table in tables]
            if name in LVIS_KEYS and renumbered is not None:
                values = [
                    text_column([[numbers[one] for one in each] for each in column])
                    for column, numbers in zip(values, renumbered, strict=True)
                ]
            columns[name] = np.concatenate(values)
    rows, places = places_in(tables)
    return Table(path, columns, rows=rows, parts=places)


def _unlisted(part: ObjectFile, seen: set[Any]) -> Table:
    """The images of the objects of a part that lists none, less those seen, to which they go."""
    ids = dict.fromkeys(part.objects["image_id"].tolist())
    new = [one for one in ids if one not in seen]
    seen.update(new)
    return Table(part.path, {"id": id_column(new)})


def joined_categories(path: str, parts: Sequence[ObjectFile]) -> Categories:
    """Join categories by name, whatever their ids.

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
    none = Table(path, {"id": np.zeros(0, np.int64), "name": text_column([])})
    tables = [none if part.categories is None else part.categories for part in parts]
    pairs = [list(zip(table["id"].tolist(), _names(table), strict=True)) for table in tables]
    first: dict[_Name, int] = {}
    for row, (_, name) in enumerate(chain.from_iterable(pairs)):
        first.setdefault(name, row)
    # No id has two names, no name two ids, and all ids are of one type.
    distinct = set(chain.from_iterable(pairs))
    known = {one for one, _ in distinct}
    agreed = len(distinct) == len(known) == len(first) and len(set(map(type, known))) <= 1
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


def _names(table: Table) -> list[_Name]:
    """Each name, and how many categories before it have the same."""
    seen: Counter[str] = Counter()
    names = []
    for name in table["name"].tolist():
        names.append((name, seen[name]))
        seen[name] += 1
    return names


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
    """Concatenate columns, converted to one type.

    Raises:
        DataError: They are of two types.
    """
    # An input without objects has ids of no type.
    filled = [at for at, column in enumerate(columns) if len(column)] or [0]
    usual = columns[filled[0]]
    for at in filled:
        if columns[at].dtype != usual.dtype:
            kinds = f"{what} are {_type_of(columns[at])} here and {_type_of(usual)}"
            message = f"{kinds} in {parts[filled[0]].path}"
            raise DataError(Problem(parts[at].path, message))
    return np.concatenate([columns[at] for at in filled])


def _type_of(ids: NDArray[Any]) -> str:
    return "numbers" if ids.dtype.kind == "i" else "text"


def incompatible_objects(parts: Sequence[ObjectFile]) -> dict[int, DataError]:
    """Parts whose id types differ from those of most, or that lack names alone.

    A part without objects is like any other.
    """
    filled = [at for at, part in enumerate(parts) if len(part.objects)]
    if not filled:
        return {}
    kinds = [_kinds(parts[at]) for at in filled]

    def error(at: int, usual: int) -> DataError:
        pairs = zip(kinds[at], kinds[usual], strict=False)
        (here, _), (_, there) = next(pair for pair in pairs if pair[0] != pair[1])
        place = parts[filled[usual]].path
        return DataError(Problem(parts[filled[at]].path, f"{here} and {there} in {place}"))

    return {filled[at]: problem for at, problem in minority_parts(kinds, error).items()}


def _kinds(part: ObjectFile) -> Sequence[tuple[str, str]]:
    """What is said of a part beside others, and of these beside it."""
    image, category = (_type_of(part.objects[name]) for name in ("image_id", "category_id"))
    of_image = f"image ids are {image} here", image
    if part.categories is not None:
        return of_image, ("categories are named here,", "are")
    unnamed = "categories are not named here,", "are not"
    return of_image, unnamed, (f"category ids are {category} here", category)
