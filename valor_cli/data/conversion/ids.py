"""Rewrite detections to use the image, category and annotation ids of the ground truth."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.known_images import Joined, KnownImages, join_images
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile
from valor_cli.data.shapes.objects.scene import image_table, numbers_of
from valor_cli.data.table import InvalidRows, Table
from valor_cli.errors import LISTED, DataError, Problem

_HINT = "Check that both files belong together, or leave these out with --on-invalid skip."


def under_ids_of(objects: ObjectFile, truth: ObjectFile, invalid: InvalidRows) -> ObjectFile:
    """The objects with the images, categories and ids of a ground truth.

    Categories meet by name, or by id where the objects have no names; images by the rule of
    evaluations.

    Args:
        objects: What to rename.
        truth: The ground truth, with named categories.
        invalid: "skip" leaves out objects of unknown images or categories and counts them.

    Raises:
        DataError: The ground truth has no names, or made up the ids that the objects have; it
            does not know an image or a category.
    """
    if truth.categories is None:
        message = "a ground truth with named categories is needed, this is a COCO results list"
        raise DataError(Problem(truth.path, message))
    if objects.categories is None and truth.coded and len(objects.objects):
        message = f"its category ids mean nothing to {truth.path}, which names its labels"
        raise DataError(Problem(objects.path, message), hint="give the COCO ground truth")
    images = image_table(truth)
    joined = join_images(objects, known_images(truth))
    image = joined.objects
    category = _category_numbers(objects, truth.categories)
    known = (image >= 0) & (category >= 0)
    if invalid == "error" and not known.all():
        raise _unknown(objects, truth.path, joined, category)
    warnings = list(objects.warnings)
    table = objects.objects
    if unknown := int((~known).sum()):
        warnings.append(f"left out, not an image or category of {truth.path}: {unknown:,}")
        table = table.take(known)
    columns = {
        **table.columns,
        "image_id": images["id"][image[known]],
        "category_id": truth.categories["id"][category[known]],
    }
    table = replace(table, columns=columns)
    return replace(
        objects,
        objects=table,
        shapes=objects.shapes.take(known),
        images=truth.images,
        categories=truth.categories,
        metadata=truth.metadata,
        image_names=truth.image_names,
        warnings=warnings,
    )


def known_images(truth: ObjectFile) -> KnownImages:
    """The images of a ground truth for matching, in the order of `image_table`."""
    return KnownImages.of(image_table(truth), truth.image_names)


def _category_numbers(objects: ObjectFile, categories: Table) -> NDArray[np.int64]:
    """(n,) the position of each object's category: by id and name, else by name; -1 for none."""
    column = objects.objects["category_id"]
    ids = categories["id"].tolist()
    if objects.categories is None:
        return numbers_of(column, ids)
    pairs = {pair: at for at, pair in enumerate(_names_of(categories))}
    names: dict[str, int] = {}
    for (_, name), at in pairs.items():
        names.setdefault(name, at)
    own = _names_of(objects.categories)
    found = [pairs.get(pair, names.get(pair[1], -1)) for pair in own]
    return np.array(found, np.int64)[numbers_of(column, [number for number, _ in own])]


def _names_of(categories: Table) -> list[tuple[Id, str]]:
    """The id and the name of each category."""
    return list(zip(categories["id"].tolist(), categories["name"].tolist(), strict=True))


def _unknown(
    objects: ObjectFile, truth: str, joined: Joined, category: NDArray[np.int64]
) -> DataError:
    """The error that names what the ground truth does not know."""
    table, image = objects.objects, joined.objects
    names = {} if objects.categories is None else dict(_names_of(objects.categories))
    rows = np.flatnonzero((image < 0) | (category < 0)).tolist()
    problems = []
    for row in rows[:LISTED]:
        if image[row] < 0:
            message = joined.problem(table["image_id"][row : row + 1].tolist()[0], truth)
        else:
            (number,) = table["category_id"][row : row + 1].tolist()
            message = f"no category {names.get(number, number)!r} in {truth}"
        problems.append(Problem(table.place_of(row), message))
    return DataError(problems, total=len(rows), hint=_HINT)
