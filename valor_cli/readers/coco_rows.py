"""Parsed COCO objects come in, one by one; columns go out, with a noted problem per fault."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.errors import printable
from valor_cli.readers.checks import (
    Problems,
    box,
    describe,
    identifier,
    number,
    stop_on,
    text,
)
from valor_cli.readers.coco_tables import Id, id_column
from valor_cli.readers.table import Columns

_DETECTION_KEYS = ("image_id", "category_id", "bbox", "score")
_ANNOTATION_KEYS = ("image_id", "category_id", "bbox")
_LISTED_KEYS = 12
_SHOWN = 40


def missing_keys(keys: Sequence[str], record: Mapping[str, Any]) -> str:
    """Say which keys are missing and which are there."""
    names = " and ".join(f'"{key}"' for key in keys)
    verb = "is" if len(keys) == 1 else "are"
    there = ", ".join(printable(key[:_SHOWN]) for key in list(record)[:_LISTED_KEYS])
    return f"{names} {verb} missing (there is: {there or 'nothing'})"


def _has_keys(record: object, keys: Sequence[str], problems: Problems, row: int) -> bool:
    if not isinstance(record, dict):
        problems.add(row, "", f"expected an object, found {describe(record)}")
        return False
    missing = [key for key in keys if key not in record]
    if missing:
        problems.add(row, "", missing_keys(missing, record))
    return not missing


def _kind(rows: Sequence[Any], key: str) -> type[int] | type[str]:
    """The kind most ids of a column have."""
    strings = numbers = 0
    for row in rows:
        value = row.get(key) if isinstance(row, dict) else None
        strings += isinstance(value, str)
        numbers += isinstance(value, (int, float))
    return str if strings > numbers else int


def _key(
    value: object,
    kind: type[int] | type[str],
    seen: Mapping[Id, int],
    problems: Problems,
    row: int,
) -> Id | None:
    """An id that may stand once only; `seen` holds the rows of those before."""
    found = identifier(value, kind, problems, row, ".id")
    if found is not None and found in seen:
        where = f"{problems.list_name}[{seen[found]}]"
        problems.add(row, ".id", f"the id {_quoted(found)} stands at {where} already")
        return None
    return found


def _quoted(found: Id) -> str:
    return describe(found).removeprefix("the string ")


def image_columns(rows: Sequence[Any], path: str) -> Columns:
    problems = Problems(path, "images")
    kind = _kind(rows, "id")
    seen: dict[Id, int] = {}
    for row, record in enumerate(rows):
        if _has_keys(record, ("id",), problems, row):
            found = _key(record["id"], kind, seen, problems, row)
            if found is not None:
                seen[found] = row
    stop_on([problems])
    return {"id": id_column(list(seen))}


def category_columns(rows: Sequence[Any], path: str) -> Columns:
    problems = Problems(path, "categories")
    kind = _kind(rows, "id")
    seen: dict[Id, int] = {}
    names: list[str | None] = []
    for row, record in enumerate(rows):
        if _has_keys(record, ("id", "name"), problems, row):
            names.append(text(record["name"], problems, row, ".name"))
            found = _key(record["id"], kind, seen, problems, row)
            if found is not None:
                seen[found] = row
    stop_on([problems])
    return {"id": id_column(list(seen)), "name": np.array(names, dtype=object)}


def _reference(
    record: Mapping[str, Any],
    key: str,
    kind: type[int] | type[str],
    known: Container[Id] | None,
    problems: Problems,
    row: int,
) -> Id | None:
    """The id of an image or a category, which must be known; None for `known` knows all."""
    found = identifier(record[key], kind, problems, row, f".{key}")
    if found is None or known is None or found in known:
        return found
    thing = "image" if key == "image_id" else "category"
    problems.add(row, f".{key}", f"no {thing} has the id {_quoted(found)}")
    return None


def detection_columns(
    rows: Sequence[Any], categories: Container[Id] | None, problems: Problems
) -> tuple[Columns, list[int]]:
    """Columns of the rows without a problem, and where these rows stand."""
    image_kind, category_kind = _kind(rows, "image_id"), _kind(rows, "category_id")
    kept: list[int] = []
    values = []
    for row, record in enumerate(rows):
        before = problems.total
        if not _has_keys(record, _DETECTION_KEYS, problems, row):
            continue
        value = (
            _reference(record, "image_id", image_kind, None, problems, row),
            _reference(record, "category_id", category_kind, categories, problems, row),
            box(record["bbox"], problems, row, ".bbox"),
            number(record["score"], problems, row, ".score"),
        )
        if problems.total == before:
            kept.append(row)
            values.append(value)
    image_ids, category_ids, boxes, scores = zip(*values, strict=True) if values else ((),) * 4
    columns = {
        "image_id": id_column(image_ids),
        "category_id": id_column(category_ids),
        "box": np.array(boxes, dtype=np.float64).reshape(-1, 4),
        "score": np.array(scores, dtype=np.float64),
    }
    return columns, kept


def annotation_columns(
    rows: Sequence[Any], images: Columns, categories: Columns, problems: Problems
) -> tuple[Columns, list[int]]:
    """Columns of the rows without a problem, and where these rows stand."""
    image_ids, category_ids = set(images["id"].tolist()), set(categories["id"].tolist())
    with_id = any(isinstance(row, dict) and "id" in row for row in rows)
    keys = (*_ANNOTATION_KEYS, "id") if with_id else _ANNOTATION_KEYS
    kinds = {key: _kind(rows, key) for key in ("id", "image_id", "category_id")}
    seen: dict[Id, int] = {}
    values = []
    for row, record in enumerate(rows):
        before = problems.total
        if not _has_keys(record, keys, problems, row):
            continue
        found = _key(record["id"], kinds["id"], seen, problems, row) if with_id else row + 1
        sides = box(record["bbox"], problems, row, ".bbox")
        value = (
            _reference(record, "image_id", kinds["image_id"], image_ids, problems, row),
            _reference(record, "category_id", kinds["category_id"], category_ids, problems, row),
            sides,
            _area(record, sides, problems, row),
            _crowd(record, problems, row),
        )
        if problems.total == before and found is not None:
            seen[found] = row
            values.append(value)
    references, labels, boxes, areas, crowd = zip(*values, strict=True) if values else ((),) * 5
    columns = {
        "id": id_column(list(seen)),
        "image_id": id_column(references),
        "category_id": id_column(labels),
        "box": np.array(boxes, dtype=np.float64).reshape(-1, 4),
        "area": np.array(areas, dtype=np.float64),
        "crowd": np.array(crowd, dtype=np.bool_),
    }
    return columns, list(seen.values())


def _area(
    record: Mapping[str, Any], sides: Sequence[float] | None, problems: Problems, row: int
) -> float | None:
    if "area" not in record:
        return None if sides is None else sides[2] * sides[3]
    area = number(record["area"], problems, row, ".area")
    if area is not None and area < 0:
        found = describe(record["area"])
        problems.add(row, ".area", f"expected an area of 0 or more, found {found}")
    return area


def _crowd(record: Mapping[str, Any], problems: Problems, row: int) -> bool:
    crowd = record.get("iscrowd", False)
    if type(crowd) in (int, bool) and crowd in (0, 1):
        return bool(crowd)
    problems.add(row, ".iscrowd", f"expected 0, 1, true or false, found {describe(crowd)}")
    return False
