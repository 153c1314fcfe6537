"""Detections and their ground truth come in; the same detections under its ids go out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.readers.objects import ObjectFile
from valor_cli.readers.table import InvalidRows, Table
from valor_cli.writers.scene import Id, Images, images_of, numbers_of

_HINT = "Check that both files belong together, or leave these out with --on-invalid skip."


def under_ids_of(objects: ObjectFile, truth: ObjectFile, invalid: InvalidRows) -> ObjectFile:
    """The same objects with the images, the categories and the ids of a ground truth.

    Categories meet by name, or by id where the objects have no names; images by id, or by file
    name where ids are of different types.

    Args:
        objects: What to rename.
        truth: The ground truth, with named categories.
        invalid: "skip" leaves out objects of unknown images or categories and counts them.

    Raises:
        DataError: The ground truth has no names, or does not know an image or a category.
    """
    if truth.categories is None:
        message = "a ground truth with named categories is needed, this is a COCO results list"
        raise DataError(Problem(truth.path, message))
    image = _image_numbers(objects, truth)
    category = _category_numbers(objects, truth.categories)
    known = (image >= 0) & (category >= 0)
    if invalid == "error" and not known.all():
        raise _unknown(objects, truth.path, image, category)
    columns = dict(objects.objects.columns)
    columns["image_id"] = _ids(images_of(truth).ids, image[known])
    columns["category_id"] = _ids(truth.categories["id"].tolist(), category[known])
    for name, column in objects.objects.columns.items():
        if name not in ("image_id", "category_id"):
            columns[name] = column[known]
    table = replace(objects.objects, columns=columns)
    warnings = list(objects.warnings)
    if unknown := int((~known).sum()):
        warnings.append(f"left out, as {truth.path} knows no such image or category: {unknown:,}")
        rows = np.arange(len(known)) if table.rows is None else table.rows
        table = replace(table, rows=rows[known], skipped=table.skipped + unknown)
    return replace(
        objects,
        objects=table,
        shapes=objects.shapes.take(known),
        images=truth.images,
        categories=truth.categories,
        metadata=truth.metadata,
        typed_ids=truth.typed_ids,
        warnings=warnings,
    )


def _image_numbers(objects: ObjectFile, truth: ObjectFile) -> NDArray[np.int64]:
    """(n,) the position of each object's image in the ground truth; -1 where it has none.

    The rule of evaluations: ids of one type are compared as they are; where a side has no types,
    or they differ, also as they are written, then as the name of a file, with or without its
    extension.
    """
    images = images_of(truth)
    column = objects.objects["image_id"]
    number = numbers_of(column, images.ids)
    alike = (column.dtype.kind == "i") == all(isinstance(each, int) for each in images.ids)
    if (number >= 0).all() or (objects.typed_ids and truth.typed_ids and alike):
        return number
    names = _image_names(images)
    for row in np.flatnonzero(number < 0).tolist():
        name = str(column[row])
        number[row] = names.get(name, names.get(_stem(name), -1))
    return number


def _image_names(images: Images) -> dict[str, int]:
    """What each image may be called by; an id goes before a name, and names of two before none."""
    names: dict[str, int] = {}
    for claims in (
        list(map(str, images.ids)),
        [name and os.path.basename(name) for name in images.file_names],
        [name and _stem(name) for name in images.file_names],
    ):
        count = Counter(claims)
        for at, claim in enumerate(claims):
            if claim is not None and count[claim] == 1:
                names.setdefault(claim, at)
    return names


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0]


def _category_numbers(objects: ObjectFile, categories: Table) -> NDArray[np.int64]:
    """(n,) the position of each object's category: by id and name, else by name; -1 for none."""
    column = objects.objects["category_id"]
    ids = categories["id"].tolist()
    if objects.categories is None:
        return numbers_of(column, ids)
    names: dict[str, int] = {}
    pairs: dict[tuple[Id, str], int] = {}
    for at, (number, name) in enumerate(zip(ids, categories["name"].tolist(), strict=True)):
        names.setdefault(name, at)
        pairs[number, name] = at
    own = objects.categories
    found = {
        pair[0]: pairs.get(pair, names.get(pair[1], -1))
        for pair in zip(own["id"].tolist(), own["name"].tolist(), strict=True)
    }
    return np.fromiter((found[each] for each in column.tolist()), np.int64, len(column))


def _ids(ids: Sequence[Id], number: NDArray[np.int64]) -> NDArray[np.generic]:
    text = bool(ids) and isinstance(ids[0], str)
    column: NDArray[np.generic] = np.array(ids, dtype=object if text else np.int64)[number]
    return column


def _unknown(
    objects: ObjectFile, truth: str, image: NDArray[np.int64], category: NDArray[np.int64]
) -> DataError:
    """The error that names what the ground truth does not know."""
    table = objects.objects
    problems = []
    for row in np.flatnonzero((image < 0) | (category < 0))[:LISTED].tolist():
        if image[row] < 0:
            what = f"no image {table['image_id'].tolist()[row]!r}"
        else:
            what = f"no category {_shown_category(objects, table['category_id'].tolist()[row])}"
        problems.append(Problem(table.place_of(row), f"{what} in {truth}"))
    total = int(((image < 0) | (category < 0)).sum())
    return DataError(problems, total=total, hint=_HINT)


def _shown_category(objects: ObjectFile, number: Id) -> str:
    if objects.categories is None:
        return repr(number)
    names = dict(
        zip(objects.categories["id"].tolist(), objects.categories["name"].tolist(), strict=True)
    )
    return repr(names[number])
