"""Group the objects of a file by image, with labels and image names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.columns.grouping import grouped
from valor_cli.kernels.geometry.shapes import Ints

Id: TypeAlias = int | str


class Images(Struct, frozen=True):
    """All images of a file, in order.

    Attributes:
        ids: Their ids.
        size: (images, 2) height and width; 0 where unknown.
        file_names: None where unknown.
        named: Whether the file has a list of images; else they are those of its objects.
    """

    ids: Sequence[Id]
    size: Ints
    file_names: Sequence[str | None]
    named: bool

    def __len__(self) -> int:
        return len(self.ids)


def images_of(objects: ObjectFile) -> Images:
    """The images of a file, listed or in order of appearance."""
    table = objects.images
    if table is None:
        ids = list(dict.fromkeys(objects.objects["image_id"].tolist()))
        return Images(ids, np.zeros((len(ids), 2), np.int64), [None] * len(ids), named=False)
    ids = table["id"].tolist()
    size = np.zeros((len(ids), 2), np.int64)
    for at, name in enumerate(("height", "width")):
        if name in table.columns:
            size[:, at] = table[name]
    size[(size == 0).any(axis=1)] = 0
    names = table["file_name"].tolist() if "file_name" in table.columns else [None] * len(ids)
    return Images(ids, size, names, named=True)


def image_numbers(objects: ObjectFile, images: Images) -> NDArray[np.int64]:
    """(n,) the position in `images` of each object's image."""
    return numbers_of(objects.objects["image_id"], images.ids)


def rows_by_image(number: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], list[int]]:
    """Rows grouped by image, in file order, and the start of each image."""
    order, _ = grouped(number)
    starts = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=count))])
    return order, starts.tolist()


def labels_of(objects: ObjectFile) -> list[str]:
    """The label of each object.

    Raises:
        DataError: The file knows categories by id alone.
    """
    names = category_names(objects)
    return [names[each] for each in objects.objects["category_id"].tolist()]


def category_names(objects: ObjectFile) -> Mapping[Id, str]:
    """The label of each category, in the order of the file.

    Raises:
        DataError: The file knows categories by id alone, or two of them share a name.
    """
    if objects.categories is None:
        problem = Problem(objects.path, "a COCO results list names categories by id, not by label")
        raise DataError(problem, hint="give the file with the names: --ground-truth FILE")
    names: dict[Id, str] = dict(
        zip(objects.categories["id"].tolist(), objects.categories["name"].tolist(), strict=True)
    )
    first: dict[str, Id] = {}
    problems = []
    for number, name in names.items():
        if first.setdefault(name, number) != number:
            message = f"the ids {first[name]!r} and {number!r} are both named '{name}'"
            problems.append(Problem(f"{objects.path}: categories", message))
    if problems:
        raise DataError(problems, hint="only COCO can hold two categories of one name")
    return names


def numbers_of(values: NDArray[Any], keys: Sequence[Id]) -> NDArray[np.int64]:
    """(n,) the position of each value in distinct keys; -1 if absent."""
    number = {key: at for at, key in enumerate(keys)}
    return np.fromiter((number.get(each, -1) for each in values.tolist()), np.int64, len(values))


def sizes_needed(objects: ObjectFile, images: Images, number: NDArray[np.int64]) -> Ints:
    """(n, 2) height and width of each object's image; `number` as in `image_numbers`.

    Raises:
        DataError: An image with objects has no known size.
    """
    size = images.size[number]
    unknown = np.unique(number[(size == 0).any(axis=1)]).tolist()
    if unknown:
        problems = [
            Problem(objects.path, f"the size of image {images.ids[at]!r} is not known")
            for at in unknown[:LISTED]
        ]
        hint = "name the folder of the images: --images DIR"
        if not images.named:
            hint += ", or the file that has the sizes: --ground-truth FILE"
        raise DataError(problems, total=len(unknown), hint=hint)
    return size
