"""Check ids, images and categories of parsed COCO JSON and report what is wrong with them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.data.formats.coco.tables import LVIS_KEYS
from valor_cli.data.shapes.objects.checks import main_kind, missing_keys, quoted, whole
from valor_cli.data.shapes.objects.object_file import Id, id_column, text_column
from valor_cli.data.table import Columns
from valor_cli.data.values import Problems, describe, identifier, stop_on, text
from valor_cli.kernels.geometry.rle import LARGEST_SIDE

_FREQUENCIES = ("r", "c", "f")


def has_keys(record: object, keys: Sequence[str], problems: Problems, row: int) -> bool:
    """Whether this is an object with these keys."""
    if not isinstance(record, dict):
        problems.add(row, "", f"expected an object, found {describe(record)}")
        return False
    missing = [key for key in keys if key not in record]
    if missing:
        problems.add(row, "", missing_keys(missing, record))
    return not missing


def kind_of(rows: Sequence[Any], key: str) -> type[int] | type[str]:
    """The most frequent type of a column's ids."""
    return main_kind(row.get(key) if isinstance(row, dict) else None for row in rows)


def distinct_id(
    value: object,
    kind: type[int] | type[str],
    seen: Mapping[Id, int],
    problems: Problems,
    row: int,
) -> Id | None:
    """An id that must be unique; `seen` holds the rows of earlier ids."""
    found = identifier(value, kind, problems, row, ".id")
    if found is not None and found in seen:
        where = f"{problems.list_name}[{seen[found]}]"
        problems.add(row, ".id", f"duplicate id {quoted(found)}, first at {where}")
        return None
    return found


def reference(
    record: Mapping[str, Any],
    key: str,
    kind: type[int] | type[str],
    known: Container[Id] | None,
    problems: Problems,
    row: int,
) -> Id | None:
    """The id of a known image or category; None for `known` accepts all."""
    found = identifier(record[key], kind, problems, row, f".{key}")
    if found is None or known is None or found in known:
        return found
    thing = "image" if key == "image_id" else "category"
    problems.add(row, f".{key}", f"no {thing} has the id {quoted(found)}")
    return None


def image_columns(rows: Sequence[Any], path: str) -> Columns:
    """Images with their known size and file.

    Raises:
        DataError: An image is wrong.
    """
    problems = Problems(path, "images")
    kind = kind_of(rows, "id")
    seen: dict[Id, int] = {}
    sides: dict[str, list[int]] = {"width": [], "height": []}
    names: list[str | None] = []
    for row, record in enumerate(rows):
        if not has_keys(record, ("id",), problems, row):
            continue
        found = distinct_id(record["id"], kind, seen, problems, row)
        if found is not None:
            seen[found] = row
        for key, column in sides.items():
            column.append(_side(record.get(key), key, problems, row))
        name = record.get("file_name")
        names.append(None if name is None else text(name, problems, row, ".file_name"))
    stop_on([problems])
    columns = {"id": id_column(list(seen))}
    for key, column in sides.items():
        if any(record.get(key) is not None for record in rows):
            columns[key] = np.array(column, dtype=np.int64)
    if any(name is not None for name in names):
        columns["file_name"] = np.array(names, dtype=object)
    return columns


def category_columns(rows: Sequence[Any], path: str) -> Columns:
    """Categories.

    Raises:
        DataError: A category is wrong.
    """
    problems = Problems(path, "categories")
    kind = kind_of(rows, "id")
    seen: dict[Id, int] = {}
    names: list[str | None] = []
    for row, record in enumerate(rows):
        if has_keys(record, ("id", "name"), problems, row):
            names.append(text(record["name"], problems, row, ".name"))
            found = distinct_id(record["id"], kind, seen, problems, row)
            if found is not None:
                seen[found] = row
    stop_on([problems])
    return {"id": id_column(list(seen)), "name": np.array(names, dtype=object)}


def federated_images(rows: Sequence[Mapping[str, Any]], categories: Columns, path: str) -> Columns:
    """The LVIS categories that are absent from an image, or not exhaustively annotated in it.

    Raises:
        DataError: The value is not a list of known ids.
    """
    problems = Problems(path, "images")
    known = categories["id"].tolist()
    columns: Columns = {}
    for name, key in LVIS_KEYS.items():
        if any(record.get(key) is not None for record in rows):
            lists = [
                _known_ids(record.get(key), known, f".{key}", problems, row)
                for row, record in enumerate(rows)
            ]
            columns[name] = text_column(lists)
    stop_on([problems])
    return columns


def federated_categories(rows: Sequence[Mapping[str, Any]], path: str) -> Columns:
    """The LVIS frequency of each category.

    Raises:
        DataError: A category says something else, or nothing.
    """
    problems = Problems(path, "categories")
    frequencies = [record.get("frequency") for record in rows]
    if all(frequency is None for frequency in frequencies):
        return {}
    for row, frequency in enumerate(frequencies):
        if frequency not in _FREQUENCIES:
            found = describe(frequency) if "frequency" in rows[row] else "nothing"
            problems.add(row, ".frequency", f'expected "r", "c" or "f", found {found}')
    stop_on([problems])
    return {"frequency": np.array(frequencies, dtype=object)}


def _side(value: object, key: str, problems: Problems, row: int) -> int:
    if value is None:
        return 0
    found = whole(value, 0, LARGEST_SIDE)
    if found is None:
        expected = f"a whole number of pixels from 0 to {LARGEST_SIDE:,}"
        problems.add(row, f".{key}", f"expected {expected}, found {describe(value)}")
        return 0
    return found


def _known_ids(
    value: object, known: Sequence[Id], key: str, problems: Problems, row: int
) -> list[Id]:
    if value is None:
        return []
    if not isinstance(value, list):
        problems.add(row, key, f"expected a list of category ids, found {describe(value)}")
        return []
    kind = str if known and isinstance(known[0], str) else int
    keys = set(known)
    ids: list[Id] = []
    for position, each in enumerate(value):
        place = f"{key}[{position}]"
        found = identifier(each, kind, problems, row, place)
        if found is not None and found not in keys:
            problems.add(row, place, f"no category has the id {quoted(found)}")
        elif found is not None:
            ids.append(found)
    return ids
