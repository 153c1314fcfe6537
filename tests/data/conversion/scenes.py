"""Objects as a reader hands them out, small enough to write their files by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.table import Table
from valor_cli.kernels.geometry.shapes import Polygons, Shapes


def text(values: Sequence[Any]) -> Any:
    """A column of strings."""
    return np.array([*values, None], dtype=object)[:-1]


def scene(shapes: Shapes, **columns: Any) -> ObjectFile:
    """Objects of three images: two of "a", one of 3, none of 7, with categories cat and dog.

    The file order is not the order of the images; the second object is a cat.
    """
    objects = {
        "image_id": np.array([5, 3, 5]),
        "category_id": np.array([20, 10, 10]),
        **columns,
    }
    images = {
        "id": np.array([3, 5, 7]),
        "width": np.array([100, 200, 50]),
        "height": np.array([80, 100, 40]),
        "file_name": text(["three.jpg", "five.jpg", "seven.jpg"]),
    }
    categories = {"id": np.array([10, 20]), "name": text(["cat", "dog"])}
    return ObjectFile(
        path="in.json",
        objects=Table("in.json", objects, "annotations[{row}]"),
        shapes=shapes,
        images=Table("in.json", images, "images[{row}]"),
        categories=Table("in.json", categories, "categories[{row}]"),
        metadata={},
        files=[],
    )


BOXES = Shapes.boxes(np.array([[0.1, 0.2, 20.0, 10.0], [10.0, 20.0, 30.0, 40.0], [8.0, 8, 0, 4]]))
"""0.1 + 20.0 is 20.1 and 0.2 + 10.0 is 10.2 as float64: corners that VOC can write."""


def polygons(*objects: Sequence[Sequence[Sequence[float]]]) -> Shapes:
    """Each object is a list of parts, each part a list of flat rings."""
    parts = [part for each in objects for part in each]
    rings = [ring for part in parts for ring in part]
    starts = [
        np.concatenate([[0], np.cumsum([len(each) for each in lists], dtype=np.int64)])
        for lists in (rings, parts, objects)
    ]
    points = np.array([side for ring in rings for side in ring], float).reshape(-1, 2)
    return Shapes.polygons(Polygons(points, starts[0] // 2, starts[1], starts[2]))


def with_images(objects: ObjectFile, **columns: Any) -> ObjectFile:
    """The same with other columns of images; None drops the table."""
    assert objects.images is not None
    return replace(objects, images=replace(objects.images, columns=columns) if columns else None)


def with_categories(objects: ObjectFile, *names: str) -> ObjectFile:
    """The same with categories of other names."""
    assert objects.categories is not None
    columns = {**objects.categories.columns, "name": text(names)}
    return replace(objects, categories=replace(objects.categories, columns=columns))
