"""Write objects as CSV, one box per line."""

from __future__ import annotations

import re

import numpy as np

from valor_cli.data.shapes.objects.object_file import Id, ObjectFile
from valor_cli.data.shapes.objects.scene import Scene, WriteOptions, Written
from valor_cli.data.table import Table
from valor_cli.errors import DataError, Problem
from valor_cli.kernels.geometry.shapes import Kind

KINDS: tuple[Kind, ...] = ("box", "rotated_box")
_BOX = ("x", "y", "width", "height")
_ROTATED_BOX = ("cx", "cy", "width", "height", "angle")
_HOLDS = frozenset({"crowd", "empty_image"})
_HOLDS_OF_TRUTH = _HOLDS | {"id", "area", "size"}
_TO_QUOTE = re.compile('[",;\t\r\n]|^ | $')


def write_csv(objects: ObjectFile, wishes: WriteOptions) -> Written:
    """A header and one line per object, by image; empty fields for an image without objects.

    Raises:
        DataError: A geometry that CSV has no columns for, boxes beside rotated boxes, no labels,
            or an empty one.
    """
    scene = Scene(objects, "CSV", KINDS)
    if len(objects.shapes.kinds) > 1:
        message = "CSV holds boxes or rotated boxes, not both"
        raise DataError(Problem(objects.path, message), hint="convert them: --geometry box")
    empty = np.setdiff1d(np.arange(len(scene.ids)), scene.number)
    image = np.concatenate([scene.number, empty])
    ids = list(map(_cell, scene.ids))
    columns = {"image_id": [ids[at] for at in image.tolist()]}
    columns |= {name: [*own, *[""] * len(empty)] for name, own in _columns(scene).items()}
    is_scored = "score" in columns
    if not is_scored and scene.size.any():
        columns["image_width"] = list(map(str, scene.size[image, 1].tolist()))
        columns["image_height"] = list(map(str, scene.size[image, 0].tolist()))
    rows = list(zip(*columns.values(), strict=True))
    order = np.argsort(image, kind="stable").tolist()
    lines = map(",".join, [tuple(columns), *(rows[at] for at in order)])
    content = "".join(f"{line}\n" for line in lines).encode()
    return Written({"": content}, scene.losses(_HOLDS if is_scored else _HOLDS_OF_TRUTH))


def _columns(scene: Scene) -> dict[str, list[str]]:
    """The cells of each object, less those of its image."""
    table, shapes, labels = scene.table, scene.shapes, scene.labels
    problems = [
        Problem(table.place_of(row), "an empty label marks an image without objects in CSV")
        for row, label in enumerate(labels)
        if not label
    ]
    if problems:
        raise DataError(problems, hint="name the category")
    quoted = {label: _cell(label) for label in dict.fromkeys(labels)}
    columns = {"label": [quoted[label] for label in labels]}
    is_rotated = "rotated_box" in shapes.kinds
    sides = shapes.rotated_box if is_rotated else shapes.box
    for name, side in zip(_ROTATED_BOX if is_rotated else _BOX, sides.T.tolist(), strict=True):
        columns[name] = list(map(repr, side))
    for name in ("score", "crowd", "id", "area"):
        if _has_values(table, name):
            columns[name] = list(map(_cell, table[name].tolist()))
    return columns


def _has_values(table: Table, name: str) -> bool:
    """Whether a column has values: crowd flags that are set, areas that are stated."""
    column = table.columns.get(name)
    if column is None or name not in ("crowd", "area"):
        return column is not None
    return bool(column.any() if name == "crowd" else (column == column).any())


def _cell(value: Id | float | bool) -> str:
    """A value as a field, in quotes where a reader would take it apart otherwise."""
    if isinstance(value, float):
        # An area that is the shape's own is no number. The digits of repr give a float back.
        return repr(value) if value == value else ""
    text = value if isinstance(value, str) else str(int(value))
    if not _TO_QUOTE.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
