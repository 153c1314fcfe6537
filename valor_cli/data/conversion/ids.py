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


def _unknown(
    objects: ObjectFile, truth: str, joined: Joined, category: NDArray[np.int64]
) -> DataError:
    """The error that names what the ground truth does not know."""
    table, image = objects.objects, joined.objects
    problems = []
    for row in np.flatnonzero((image < 0) | (category < 0))[:LISTED].tolist():
        if image[row] < 0:
            (name,) = table["image_id"][row : row + 1].tolist()
            message = joined.problem(name, truth)
        else:
            (number,) = table["category_id"][row : row + 1].tolist()
            message = f"no category {_shown_category(objects, number)} in {truth}"
        problems.append(Problem(table.place_of(row), message))
    total = int(((image < 0) | (category < 0)).sum())
    return DataError(problems, total=total, hint=_HINT)


def _shown_category(objects: ObjectFile, number: Id) -> str:
    if objects.categories is None:
        return repr(number)
    names = dict(
        zip(objects.categories["id"].tolist(), objects.categories["name"].tolist(), strict=True)
    )
    return repr(names[number])
