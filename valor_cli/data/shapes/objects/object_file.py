"""`ObjectFile`, the result of every object reader, and the columns it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.table import Columns, Table
from valor_cli.errors import DataError
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.results import InputFile

Role: TypeAlias = Literal["ground_truth", "predictions"]
Wanted: TypeAlias = Literal["box", "shape"]
"""Which geometry to take of an object that says several: its box if it has one, or its most
detailed shape."""

SplitName: TypeAlias = Literal["val", "test", "train"]
"""A split of a data set."""

Id: TypeAlias = int | str

ImageNames: TypeAlias = Literal["typed", "text", "file"]


class UnnamedClassesError(DataError):
    """The classes of predictions have no names, and those of the ground truth are not known."""


class ObjectFile(Struct, frozen=True):
    """The objects of one input: ground truth, or one model's detections.

    Attributes:
        path: The input, as the user wrote it: a file, a folder or a glob.
        objects: A row per object. Always `image_id` and `category_id` (int64, or object arrays of
            strings). Detections have `score` (float64). Where the input says so: `id` (int64 or
            strings, distinct), `area` (float64, pixels²; NaN where it is the shape's own),
            `crowd` (bool), `difficult` (bool), `keypoints` (float64, (n, k, 3): x, y, visibility).
        shapes: Geometry, a row per object.
        images: A row per image, `id` distinct; None when the input names images through its
            objects alone. Where the input says so: `width`, `height` (int64, 0 where unknown),
            `file_name` (strings, None where unknown), `negative`, `not_exhaustive` (lists of
            category ids, LVIS).
        categories: `id` (distinct), `name` (strings) and, for LVIS, `frequency` (strings); None
            when `category_id` are ids of the ground truth's categories (a COCO results list).
        metadata: By asked-for name, one JSON value per image; None where an image has none.
        files: Everything that was read, in order; `rows` counts the objects of each.
        coded: Whether labels are names, and category ids numbers that mean nothing beside other
            inputs: the reader gave them, or they are YOLO's classes.
        image_names: What image ids are: "typed" values; "text" for want of types (CSV), so that
            "17" may be the number 17 of the other side; or names of a "file" (YOLO, VOC).
        warnings: What a reader corrected or assumed, for the report.
        class_names: Names by class (YOLO), for predictions without names of their own.
    """

    path: str
    objects: Table
    shapes: Shapes
    images: Table | None
    categories: Table | None
    metadata: Mapping[str, list[Any]]
    files: Sequence[InputFile]
    coded: bool = False
    image_names: ImageNames = "typed"
    warnings: Sequence[str] = ()
    class_names: Mapping[int, str] | None = None


class Piece(Struct, frozen=True):
    """Some objects, as columns.

    Attributes:
        columns: `image` (position of the image), `label` (its code), `line`, `position` (place
            among the objects of the line; -1 where a line is one object) and, by role, `score`, or
            `crowd`, `area` (NaN where the shape's own) and `id` (objects, None for no id).
        shapes: Their geometry.
    """

    columns: Columns
    shapes: Shapes

    def take(self, rows: NDArray[np.int64]) -> Piece:
        """Select objects, in that order."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Piece(columns, self.shapes.take(rows))


def id_column(ids: Sequence[Id]) -> NDArray[Any]:
    """Ids as int64, or as an object array of strings."""
    if ids and isinstance(ids[0], str):
        return np.array(ids, dtype=object)
    return np.array(ids, dtype=np.int64)


def text_column(values: Sequence[Any]) -> NDArray[Any]:
    """An object array of any values."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
