"""Write objects as CSV, one box per line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import Scene, WriteOptions, Written
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.shapes import BOX, ROTATED_BOX, Kind

KINDS: tuple[Kind, ...] = ("box", "rotated_box")
_SIDES = {
    "box": ("x", "y", "width", "height"),
    "rotated_box": ("cx", "cy", "width", "height", "angle"),
}
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
    sized = "score" not in objects.objects.columns and bool(scene.size.any())
    sides = _SIDES["rotated_box" if "rotated_box" in objects.shapes.kinds else "box"]
    extra = [name for name in ("score", "crowd", "id", "area") if _has_values(objects, name)]
    header = ["image_id", "label", *sides, *extra, *(["image_width", "image_height"] * sized)]
    rows = _rows(scene, extra)
    lines = [",".join(header)]
    for at, own in enumerate(scene.rows()):
        before, after = _cells_of(scene, at, sized)
        if not own:
            lines.append(f"{before}{',' * (1 + len(sides) + len(extra))}{after}")
        lines += [f"{before},{rows[row]}{after}" for row in own]
    content = "".join(f"{line}\n" for line in lines).encode()
    holds = _HOLDS if "score" in objects.objects.columns else _HOLDS_OF_TRUTH
    return Written({"": content}, scene.losses(holds))


def _has_values(objects: ObjectFile, name: str) -> bool:
    """Whether a column has values: crowd flags that are set, areas that are stated."""
    column = objects.objects.columns.get(name)
    if column is None or name not in ("crowd", "area"):
        return column is not None
    return bool(column.any() if name == "crowd" else (column == column).any())


def _cells_of(scene: Scene, at: int, sized: bool) -> tuple[str, str]:
    """What every line of an image begins and ends with."""
    height, width = scene.size[at].tolist()
    return _field(str(scene.ids[at])), f",{width},{height}" * sized


def _rows(scene: Scene, extra: Sequence[str]) -> list[str]:
    """The fields of each object, less those of its image."""
    table, shapes, labels = scene.table, scene.shapes, scene.labels
    empty = [row for row, label in enumerate(labels) if not label]
    if empty:
        problems = [
            Problem(table.place_of(row), "an empty label marks an image without objects in CSV")
            for row in empty[:LISTED]
        ]
        raise DataError(problems, total=len(empty), hint="name the category")
    quoted = {label: _field(label) for label in dict.fromkeys(labels)}
    geometry = scene.by_row({BOX: shapes.box.tolist(), ROTATED_BOX: shapes.rotated_box.tolist()})
    columns = [list(map(_text, table[name].tolist())) for name in extra]
    return [
        ",".join([quoted[label], *map(repr, sides), *cells])
        for label, sides, *cells in zip(labels, geometry, *columns, strict=True)
    ]


def _text(value: str | float | bool) -> str:
    if isinstance(value, str):
        return _field(value)
    if isinstance(value, bool):
        return str(int(value))
    # An area that is the shape's own is no number. The digits of repr give a float back.
    return repr(value) if value == value else ""


def _field(text: str) -> str:
    """Text in quotes where a reader would take it apart otherwise."""
    if not _TO_QUOTE.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
