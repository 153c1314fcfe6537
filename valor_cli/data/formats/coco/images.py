"""Check ids, images, their metadata and categories, and report what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any, Final, TypeAlias

import numpy as np

from valor_cli.data.shapes.objects.checks import Size, main_kind, missing_keys, quoted, whole
from valor_cli.data.shapes.objects.object_file import Id, id_column, text_column
from valor_cli.data.table import Columns, Problems, stop_on
from valor_cli.data.values import describe, identifier, is_text, text
from valor_cli.errors import DataError, Problem, did_you_mean, printable
from valor_cli.kernels.geometry.rle import LARGEST_SIDE

LVIS_KEYS: Final = {
    "negative": "neg_category_ids",
    "not_exhaustive": "not_exhaustive_category_ids",
}
"""LVIS's keys of an image, by the column they become."""

FREQUENCIES: Final = ("r", "c", "f")
"""Of a category: rare, common or frequent."""

_INNER: Final = "metadata"
_LISTED_NAMES: Final = 30

IdKind: TypeAlias = type[int] | type[str]
_Check: TypeAlias = Callable[[object, Problems, int, str], Any]
"""Of a value: where to note what is wrong, its row and its key."""


def has_keys(record: object, keys: Sequence[str], problems: Problems, row: int) -> bool:
    """Whether this is an object with these keys."""
    if not isinstance(record, dict):
        problems.add(row, "", f"expected an object, found {describe(record)}")
        return False
    missing = [key for key in keys if key not in record]
    if missing:
        problems.add(row, "", missing_keys(missing, record))
    return not missing


def kind_of(rows: Sequence[Any], key: str) -> IdKind:
    """The most frequent type of a column's ids."""
    return main_kind(row.get(key) if isinstance(row, dict) else None for row in rows)


def distinct_id(
    kind: IdKind, seen: dict[Id, int], value: object, problems: Problems, row: int, key: str
) -> Id | None:
    """An id that must be unique; `seen` holds the rows of earlier ids, and gets this one."""
    found = identifier(value, kind, problems, row, key)
    if found is not None and seen.setdefault(found, row) != row:
        where = problems.row(seen[found])
        problems.add(row, key, f"duplicate id {quoted(found)}, first at {where}")
        return None
    return found


def reference(
    value: object,
    kind: IdKind,
    known: Container[Id] | None,
    problems: Problems,
    row: int,
    key: str,
) -> Id | None:
    """The id of a known image or category; None for `known` accepts all."""
    found = identifier(value, kind, problems, row, key)
    if found is None or known is None or found in known:
        return found
    thing = "image" if key == "image_id" else "category"
    problems.add(row, key, f"no {thing} has the id {quoted(found)}")
    return None


def image_columns(rows: Sequence[Any], path: str) -> Columns:
    """Images with their known size and file.

    Raises:
        DataError: An image is wrong.
    """
    new_id = partial(distinct_id, kind_of(rows, "id"), {})
    checks: dict[str, _Check] = {"id": new_id, "width": _side, "height": _side, "file_name": text}
    problems = Problems(path, "images[{row}]")
    found = _checked(rows, problems, checks, ("id",))
    stop_on([problems])
    columns: Columns = {"id": id_column(found["id"])}
    for key in ("width", "height"):
        if any(side is not None for side in found[key]):
            columns[key] = np.array([side or 0 for side in found[key]], np.int64)
    if any(name is not None for name in found["file_name"]):
        columns["file_name"] = text_column(found["file_name"])
    return columns


def sizes_of(images: Columns) -> dict[Id, Size]:
    """The size of each image; sides that are not known are 0."""
    unknown = np.zeros(len(images["id"]), np.int64)
    sides = (images.get(side, unknown).tolist() for side in ("height", "width"))
    return dict(zip(images["id"].tolist(), map(Size, *sides), strict=True))


def category_columns(rows: Sequence[Any], path: str) -> Columns:
    """Categories.

    Raises:
        DataError: A category is wrong.
    """
    new_id = partial(distinct_id, kind_of(rows, "id"), {})
    checks: dict[str, _Check] = {"name": text, "id": new_id}
    problems = Problems(path, "categories[{row}]")
    found = _checked(rows, problems, checks, ("id", "name"))
    stop_on([problems])
    return {"id": id_column(found["id"]), "name": text_column(found["name"])}


def category_lists(rows: Sequence[Mapping[str, Any]], categories: Columns, path: str) -> Columns:
    """The LVIS categories that are absent from an image, or not exhaustively annotated in it.

    Raises:
        DataError: The value is not a list of known ids.
    """
    ids = categories["id"].tolist()
    check = partial(_known_ids, main_kind(ids), set(ids))
    problems = Problems(path, "images[{row}]")
    columns: Columns = {}
    for name, key in LVIS_KEYS.items():
        lists = _checked(rows, problems, {key: check})[key]
        if any(one is not None for one in lists):
            columns[name] = text_column([one or [] for one in lists])
    stop_on([problems])
    return columns


def frequencies(rows: Sequence[Mapping[str, Any]], path: str) -> Columns:
    """The LVIS frequency of each category.

    Raises:
        DataError: A category says something else, or nothing.
    """
    found = category_values(rows, path, "frequency", FREQUENCIES, '"r", "c" or "f"')
    return {"frequency": text_column(found)} if found else {}


def category_values(
    rows: Sequence[Mapping[str, Any]], path: str, key: str, allowed: Sequence[object], expected: str
) -> list[Any]:
    """What each category says under a key that all have or none; empty for none.

    Raises:
        DataError: A category says what is not allowed, or nothing.
    """
    problems = Problems(path, "categories[{row}]")
    found = [record.get(key) for record in rows]
    if all(value is None for value in found):
        return []
    for row, value in enumerate(found):
        if value not in allowed or isinstance(value, float):
            said = describe(value) if key in rows[row] else "nothing"
            problems.add(row, key, f"expected {expected}, found {said}")
    stop_on([problems])
    return found


def metadata_of(
    images: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    path: str,
    lines: Sequence[int] | None = None,
    others: Iterable[str] = (),
    place: str = "images[{row}]",
) -> dict[str, list[Any]]:
    """Metadata by name, aligned with the images.

    A name is looked for in the image's "metadata" object, then in the image itself.

    Args:
        images: As in the file.
        names: What to look for.
        path: The file, for messages.
        lines: Position of each image; None where they are the list "images".
        others: Names that images have besides.
        place: How an image is named in the file, as in `Table`.

    Raises:
        DataError: No image has one of the names, or a value is not a single JSON value.
    """
    pairs = [(_inner(image), image) for image in images] if names else []
    found = {
        name: [inner[name] if name in inner else image.get(name) for inner, image in pairs]
        for name in names
    }
    unknown = [
        name for name in names if not any(name in inner or name in image for inner, image in pairs)
    ]
    if unknown:
        there = {
            *others,
            *chain.from_iterable({*image} - {_INNER} | {*inner} for inner, image in pairs),
        }
        seen = sorted(map(printable, there))
        listed = ", ".join(seen[:_LISTED_NAMES]) + (", …" if len(seen) > _LISTED_NAMES else "")
        problems = [
            Problem(
                f"{path}: images" if lines is None else path,
                f"no image has the metadata '{name}'{did_you_mean(name, seen)}; there is: {listed}",
            )
            for name in unknown
        ]
        raise DataError(problems)
    _check_values(found, Problems(path, place), lines)
    return found


def _checked(
    rows: Sequence[Any],
    problems: Problems,
    checks: Mapping[str, _Check],
    required: Sequence[str] = (),
) -> dict[str, list[Any]]:
    """The checked values of records by key; None where one that is not required says nothing."""
    found: dict[str, list[Any]] = {key: [] for key in checks}
    for row, record in enumerate(rows):
        if has_keys(record, required, problems, row):
            for key, check in checks.items():
                value = record.get(key)
                given = value is not None or key in required
                found[key].append(check(value, problems, row, key) if given else None)
    return found


def _side(value: object, problems: Problems, row: int, key: str) -> int | None:
    found = whole(value, 0, LARGEST_SIDE)
    if found is None:
        expected = f"a whole number of pixels from 0 to {LARGEST_SIDE:,}"
        problems.add(row, key, f"expected {expected}, found {describe(value)}")
    return found


def _known_ids(
    kind: IdKind, known: Container[Id], value: object, problems: Problems, row: int, key: str
) -> list[Id | None]:
    if isinstance(value, list):
        places = ((one, f"{key}[{at}]") for at, one in enumerate(value))
        return [reference(one, kind, known, problems, row, place) for one, place in places]
    problems.add(row, key, f"expected a list of category ids, found {describe(value)}")
    return []


def _check_values(
    metadata: Mapping[str, list[Any]], problems: Problems, lines: Sequence[int] | None
) -> None:
    """Only single values can be compared, counted and shown.

    Raises:
        DataError: A value is a list or an object, or no JSON (NaN, a lone surrogate), which the
            lenient parser lets in.
    """
    for name, values in metadata.items():
        for row, value in enumerate(values):
            if isinstance(value, list | dict):
                expected = "a single value"
            elif not _is_json(value):
                expected = "a JSON value"
            else:
                continue
            at = row if lines is None else lines[row]
            problems.add(at, name, f"expected {expected}, found {describe(value)}")
    stop_on([problems])


def _is_json(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return not isinstance(value, str) or is_text(value)


def _inner(image: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = image.get(_INNER)
    return inner if isinstance(inner, dict) else {}
