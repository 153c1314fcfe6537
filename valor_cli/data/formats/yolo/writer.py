"""Write objects as a folder of YOLO label files, one per image, with classes.txt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import (
    WriteOptions,
    Written,
    by_row,
    category_names,
    check_kinds,
    check_polygons,
    image_numbers,
    images_of,
    labels_of,
    losses,
    rows_by_image,
    sizes_needed,
    stems_of,
)
from valor_cli.errors import LISTED, DataError, Problem, did_you_mean, printable
from valor_cli.kernels.geometry.shapes import BOX, POLYGON, Floats, Kind, Shapes

KINDS: tuple[Kind, ...] = ("box", "polygon")
CLASSES = "classes.txt"
_HOLDS = frozenset({"size", "empty_image", "empty_category"})


def write_yolo(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """Lines of `class x y width height [score]` or `class x1 y1 x2 y2 … [score]`, as fractions.

    An image without objects has an empty file.

    Raises:
        DataError: A geometry that YOLO has no line for, an image without a size, no labels or
            one that is not in `wishes.names`, or a name that no file or line can have.
    """
    check_kinds(objects, KINDS, "YOLO")
    check_polygons(objects, "YOLO", parts=False, instead="box")
    images = images_of(objects)
    stems = stems_of(images, objects.path, reserved=("classes",))
    number = image_numbers(objects, images)
    # Width before height, as x stands before y.
    size = sizes_needed(objects, images, number)[:, ::-1].astype(np.float64)
    classes = _classes(objects, wishes.names)
    lines = _lines(objects, size, classes)
    order, starts = rows_by_image(number, len(images))
    files = {CLASSES: "".join(f"{name}\n" for name in classes).encode()}
    for stem, (start, end) in zip(stems, pairwise(starts), strict=True):
        text = "".join(lines[row] for row in order[start:end].tolist())
        files[f"{stem}.txt"] = text.encode()
    return Written(files, [*losses(objects, "YOLO", _HOLDS), *_rounded(objects.shapes, size)])


def _classes(objects: ObjectFile, names: Sequence[str]) -> Mapping[str, int]:
    """The number of each label: its place among the names asked for, else among the categories."""
    own = list(category_names(objects).values())
    classes = list(names) or own
    unknown = [label for label in dict.fromkeys(labels_of(objects)) if label not in classes]
    problems = [
        Problem("--names", f"no label '{label}'{did_you_mean(label, classes)}") for label in unknown
    ] + [
        Problem(objects.path, f"a line of {CLASSES} cannot hold the label '{label}'")
        for label in classes
        if not label.strip() or label != label.strip() or len(label.splitlines()) > 1
    ]
    if len(set(classes)) < len(classes):
        twice = next(label for label in classes if classes.count(label) > 1)
        problems.append(Problem("--names", f"duplicate label '{printable(twice)}'"))
    if problems:
        raise DataError(problems[:LISTED], total=len(problems))
    return {label: at for at, label in enumerate(classes)}


def _lines(objects: ObjectFile, size: Floats, classes: Mapping[str, int]) -> list[str]:
    """The line of each object; `size` is (n, 2), width and height of its image."""
    shapes = objects.shapes
    polygon = shapes.polygon
    points = _fractions_of_points(shapes, size).ravel().tolist()
    starts = (2 * polygon.rings).tolist()
    numbers = by_row(
        shapes,
        {
            BOX: _fractions_of_boxes(shapes, size).tolist(),
            POLYGON: [points[start:end] for start, end in pairwise(starts)],
        },
    )
    table = objects.objects
    if "score" in table.columns:
        for mine, score in zip(numbers, table["score"].tolist(), strict=True):
            mine.append(score)
    return [
        f"{classes[label]} {' '.join(map(repr, mine))}\n"
        for label, mine in zip(labels_of(objects), numbers, strict=True)
    ]


def _fractions_of_boxes(shapes: Shapes, size: Floats) -> Floats:
    """(b, 4) centre x, centre y, width, height."""
    box, at = shapes.box, size[shapes.rows_of(BOX)]
    return np.concatenate([(box[:, :2] + box[:, 2:] / 2) / at, box[:, 2:] / at], axis=1)


def _fractions_of_points(shapes: Shapes, size: Floats) -> Floats:
    """(p, 2) x, y; every polygon is one ring."""
    owner = np.repeat(shapes.rows_of(POLYGON), np.diff(shapes.polygon.rings))
    fractions: Floats = shapes.polygon.points / size[owner]
    return fractions


def _rounded(shapes: Shapes, size: Floats) -> list[str]:
    """A word on what going through fractions does to pixels, where it does anything."""
    at = size[shapes.rows_of(BOX)]
    fractions = _fractions_of_boxes(shapes, size)
    sides = fractions[:, 2:] * at
    corners = (fractions[:, :2] - fractions[:, 2:] / 2) * at
    owner = np.repeat(shapes.rows_of(POLYGON), np.diff(shapes.polygon.rings))
    points = _fractions_of_points(shapes, size) * size[owner]
    off = max(
        np.abs(corners - shapes.box[:, :2]).max(initial=0),
        np.abs(sides - shapes.box[:, 2:]).max(initial=0),
        np.abs(points - shapes.polygon.points).max(initial=0),
    )
    if not off:
        return []
    return [f"YOLO stores fractions of the image: coordinates are off by up to {off:.1g} pixels"]
