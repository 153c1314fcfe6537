"""The objects of several inputs of one side come in; one `ObjectFile` goes out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import DataError, Problem, printable
from valor_cli.kernels.shapes import joined
from valor_cli.readers.object_rows import text_column
from valor_cli.readers.objects import ObjectFile
from valor_cli.readers.table import Columns, Table

_FILL: dict[str, Any] = {"area": np.nan, "crowd": False}
"""What an object has in a column that its input does not have."""

_IMAGE_FILL: dict[str, Any] = {"width": 0, "height": 0, "file_name": None}


def joined_objects(path: str, parts: Sequence[ObjectFile]) -> ObjectFile:
    """All parts as one input.

    Categories are joined by name: they keep their ids as far as no id has two names. Ids of
    objects that count from 1 in each part count on.

    Args:
        path: What the user wrote for all of them.
        parts: At least one, each of another file.

    Raises:
        DataError: An image or the id of an object stands in two parts; parts differ in what they
            say or in the type of their ids; ids of the categories of COCO files differ.
    """
    if len(parts) == 1:
        return parts[0]
    categories, category_ids = _categories(path, parts)
    objects: Columns = {
        "image_id": _same_type("image ids", [part.objects["image_id"] for part in parts], parts),
        "category_id": category_ids,
        **_other_columns(parts),
    }
    images = _images(path, parts)
    names = list(dict.fromkeys(chain.from_iterable(part.metadata for part in parts)))
    skipped = sum(part.objects.skipped for part in parts)
    return ObjectFile(
        path=path,
        objects=Table(path, objects, skipped=skipped),
        shapes=joined([part.shapes for part in parts]),
        images=images,
        categories=categories,
        metadata={
            name: list(chain.from_iterable(part.metadata[name] for part in parts)) for name in names
        },
        files=list(chain.from_iterable(part.files for part in parts)),
        coded=any(part.coded for part in parts),
        typed_ids=all(part.typed_ids for part in parts),
        warnings=list(dict.fromkeys(chain.from_iterable(part.warnings for part in parts))),
    )


def _same_type(
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


def _other_columns(parts: Sequence[ObjectFile]) -> Columns:
    """The columns besides ids of images and categories."""
    names = dict.fromkeys(chain.from_iterable(part.objects.columns for part in parts))
    found: Columns = {}
    for name in names:
        if name in ("image_id", "category_id"):
            continue
        with_it = [part for part in parts if name in part.objects.columns or not len(part.objects)]
        without = [part for part in parts if name not in part.objects.columns and len(part.objects)]
        if name == "id":
            found[name] = _object_ids(with_it, without)
        elif without and name not in _FILL:
            message = f"objects have no {name} here, and have it in {with_it[0].path}"
            raise DataError(Problem(without[0].path, message))
        else:
            found[name] = _filled(name, parts)
    return found


def _filled(name: str, parts: Sequence[ObjectFile]) -> NDArray[Any]:
    columns = []
    for part in parts:
        if name in part.objects.columns:
            columns.append(part.objects[name])
        elif len(part.objects):
            columns.append(np.full(len(part.objects), _FILL[name]))
    shapes = {column.shape[1:] for column in columns}
    if len(shapes) > 1:
        message = f"the objects differ in the shape of their {name} from those of {parts[0].path}"
        raise DataError(Problem(parts[-1].path, message))
    return np.concatenate(columns)


def _object_ids(parts: Sequence[ObjectFile], without: Sequence[ObjectFile]) -> NDArray[Any]:
    if without:
        message = f"objects have no id here, and have one in {parts[0].path}"
        raise DataError(Problem(without[0].path, message))
    columns = [part.objects.columns.get("id", np.zeros(0, np.int64)) for part in parts]
    if all(np.array_equal(column, np.arange(1, len(column) + 1)) for column in columns):
        return np.arange(1, sum(map(len, columns)) + 1)
    ids = _same_type("ids of objects", columns, parts)
    _check_distinct("the id", columns, parts)
    return ids


def _check_distinct(
    what: str, columns: Sequence[NDArray[Any]], parts: Sequence[ObjectFile]
) -> None:
    """Refuse ids that stand in two parts.

    Raises:
        DataError: There are some; it names both files.
    """
    seen: dict[Any, str] = {}
    problems: list[Problem] = []
    for column, part in zip(columns, parts, strict=True):
        for one in column.tolist():
            if one in seen:
                shown = printable(repr(one)) if isinstance(one, str) else str(one)
                problems.append(Problem(part.path, f"{what} {shown} stands in {seen[one]} too"))
            seen.setdefault(one, part.path)
    if problems:
        raise DataError(problems)


def _images(path: str, parts: Sequence[ObjectFile]) -> Table | None:
    """The images of all parts; None where no part lists any."""
    if all(part.images is None for part in parts):
        return None
    tables = [part.images for part in parts if part.images is not None]
    if len(tables) < len(parts):
        here = next(part for part in parts if part.images is None)
        there = next(part for part in parts if part.images is not None)
        message = f"the images are not listed here, and are in {there.path}"
        raise DataError(Problem(here.path, message))
    ids = [table["id"] for table in tables]
    columns: Columns = {"id": _same_type("image ids", ids, parts)}
    _check_distinct("the image", ids, parts)
    for name in dict.fromkeys(chain.from_iterable(table.columns for table in tables)):
        if name != "id":
            values = [_image_column(table, name) for table in tables]
            columns[name] = np.concatenate(values)
    return Table(path, columns)


def _image_column(table: Table, name: str) -> NDArray[Any]:
    if name in table.columns:
        return table[name]
    if name in ("width", "height"):
        return np.zeros(len(table), np.int64)
    # Lists of category ids (LVIS) are empty where a part says nothing of them.
    return text_column([None if name == "file_name" else [] for _ in range(len(table))])


def _categories(path: str, parts: Sequence[ObjectFile]) -> tuple[Table | None, NDArray[Any]]:
    """Categories of all parts, and the category id of every object.

    Raises:
        DataError: Only some parts name categories; COCO files use one id for two names.
    """
    ids = [part.objects["category_id"] for part in parts]
    tables = [part.categories for part in parts if part.categories is not None]
    if not tables:
        return None, _same_type("category ids", ids, parts)
    if len(tables) < len(parts):
        here = next(part for part in parts if part.categories is None)
        there = next(part for part in parts if part.categories is not None)
        message = f"categories are not named here, and are in {there.path}"
        raise DataError(Problem(here.path, message))
    names: dict[Any, str] = {}
    clashes: list[Problem] = []
    for part, table in zip(parts, tables, strict=True):
        for one, name in zip(table["id"].tolist(), table["name"].tolist(), strict=True):
            if names.setdefault(one, name) != name:
                message = (
                    f"id {one} is '{printable(name)}' here and '{printable(names[one])}' before"
                )
                clashes.append(Problem(f"{part.path}: categories", message))
    if not clashes:
        every = _same_type("category ids", [table["id"] for table in tables], parts)
        first = np.unique(every.astype(str), return_index=True)[1]
        first.sort()
        return _first_rows(path, tables, every, first), _same_type("category ids", ids, parts)
    if not all(part.coded for part in parts):
        raise DataError(clashes, hint="Give all files the same categories.")
    return _recoded(path, tables, ids)


def _first_rows(
    path: str, tables: Sequence[Table], ids: NDArray[Any], first: NDArray[np.int64]
) -> Table:
    columns: Columns = {"id": ids[first]}
    for name in tables[0].columns:
        if name != "id" and all(name in table.columns for table in tables):
            columns[name] = np.concatenate([table[name] for table in tables])[first]
    return Table(path, columns)


def _recoded(
    path: str, tables: Sequence[Table], ids: Sequence[NDArray[Any]]
) -> tuple[Table, NDArray[np.int64]]:
    """New codes by name; those of each part count from 0 in the order of its table."""
    codes: dict[str, int] = {}
    found: list[NDArray[np.int64]] = []
    for table, column in zip(tables, ids, strict=True):
        new = [codes.setdefault(name, len(codes)) for name in table["name"].tolist()]
        found.append(np.array(new, np.int64)[column])
    named = {"id": np.arange(len(codes)), "name": text_column(list(codes))}
    return Table(path, named), np.concatenate(found)
