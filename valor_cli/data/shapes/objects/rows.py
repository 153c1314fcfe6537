"""Collect objects, row by row or as columns, into an `ObjectFile`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.checks import main_kind, quoted
from valor_cli.data.shapes.objects.object_file import (
    Id,
    ImageNames,
    ObjectFile,
    Piece,
    Role,
    id_column,
    text_column,
)
from valor_cli.data.table import LINE, Columns, Parts, Table
from valor_cli.data.values import Problems, identifier
from valor_cli.kernels.columns.grouping import are_distinct
from valor_cli.kernels.geometry.masks import from_bitmap
from valor_cli.kernels.geometry.rle import from_counts
from valor_cli.kernels.geometry.shapes import (
    BOX,
    MASK,
    POLYGON,
    ROTATED_BOX,
    Masks,
    Polygons,
    Shapes,
    joined,
    joined_masks,
)
from valor_cli.results import InputFile

Ring: TypeAlias = Sequence[float]
"""x, y, x, y … of a ring that does not repeat its first point."""

Part: TypeAlias = Sequence[Ring]
"""An outer ring, then its holes."""

Frame: TypeAlias = tuple[int, int]
"""Height and width of an image."""


class Codes(dict[Any, int]):
    """Codes from 0 for values in order of first appearance: `codes[value]`."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


class ShapeRows:
    """The shapes of objects, in their order; what is added has been checked."""

    __slots__ = ("_boxes", "_kind", "_masks", "_polygons", "_rotated")

    def __init__(self) -> None:
        self._kind: list[int] = []
        self._boxes: list[Sequence[float]] = []
        self._rotated: list[Sequence[float]] = []
        self._polygons: list[Sequence[Part]] = []
        self._masks: list[Masks] = []

    def __len__(self) -> int:
        return len(self._kind)

    def add_box(self, sides: Sequence[float]) -> None:
        """A box: x, y, width, height."""
        self._kind.append(BOX)
        self._boxes.append(sides)

    def add_rotated_box(self, sides: Sequence[float]) -> None:
        """A rotated box: centre x, centre y, width, height, degrees."""
        self._kind.append(ROTATED_BOX)
        self._rotated.append(sides)

    def add_polygon(self, parts: Sequence[Part]) -> None:
        """A polygon of one or more parts."""
        self._kind.append(POLYGON)
        self._polygons.append(parts)

    def add_runs(self, counts: Sequence[int], frame: Frame) -> None:
        """A mask by its run lengths and the size of its image."""
        self._masks.append(from_counts([counts], np.array([frame], np.int64))[0])
        self._kind.append(MASK)

    def add_bitmap(self, pixels: NDArray[np.bool_]) -> None:
        """A mask by its pixels, (height, width)."""
        self._masks.append(from_bitmap(pixels))
        self._kind.append(MASK)

    def shapes(self) -> Shapes:
        """All shapes."""
        return Shapes(
            np.array(self._kind, np.uint8),
            np.array(self._boxes, np.float64).reshape(-1, 4),
            np.array(self._rotated, np.float64).reshape(-1, 5),
            polygon_columns(self._polygons),
            joined_masks(self._masks),
        )


class ObjectRows:
    """Objects collected one by one."""

    __slots__ = ("_values", "role", "shapes")

    def __init__(self, role: Role) -> None:
        self.role = role
        self.shapes = ShapeRows()
        self._values: list[tuple[Any, ...]] = []

    def add(
        self,
        image: int,
        label: int,
        line: int,
        *,
        position: int = 0,
        score: float = 0.0,
        crowd: bool = False,
        area: float = float("nan"),
        identity: Id | None = None,
    ) -> None:
        """Add an object whose shape is already in `shapes`."""
        self._values.append((image, label, line, position, score, crowd, area, identity))

    def piece(self) -> Piece:
        """The objects so far."""
        values = self._values
        image, label, line, position, score, crowd, area, identity = (
            zip(*values, strict=True) if values else ((),) * 8
        )
        columns: Columns = {
            "image": np.array(image, np.int64),
            "label": np.array(label, np.int64),
            "line": np.array(line, np.int64),
            "position": np.array(position, np.int64),
        }
        if self.role == "predictions":
            columns["score"] = np.array(score, np.float64)
        else:
            columns["crowd"] = np.array(crowd, np.bool_)
            columns["area"] = np.array(area, np.float64)
            columns["id"] = text_column(identity)
        return Piece(columns, self.shapes.shapes())


@dataclass(slots=True)
class ImageRows:
    """Images in input order.

    Attributes:
        ids: One per image.
        lines: Where each stands.
        width, height: Pixels, 0 where unknown.
        file_name: None where unknown.
    """

    ids: list[Id] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    width: list[int] = field(default_factory=list)
    height: list[int] = field(default_factory=list)
    file_name: list[str | None] = field(default_factory=list)

    def table(self, path: str, place: str = "[{row}]") -> Table:
        """The images, with their known facts."""
        columns: Columns = {"id": id_column(self.ids)}
        if any(self.width) or any(self.height):
            columns["width"] = np.array(self.width, np.int64)
            columns["height"] = np.array(self.height, np.int64)
        if any(name is not None for name in self.file_name):
            columns["file_name"] = text_column(self.file_name)
        rows = np.array(self.lines, np.int64) if self.lines else None
        return Table(path, columns, place, rows)

    def sort(self) -> NDArray[np.int64]:
        """Sort the images by line; the new position of each."""
        order = np.argsort(np.array(self.lines, np.int64), kind="stable")
        for column in (self.ids, self.lines, self.width, self.height, self.file_name):
            column[:] = [column[at] for at in order.tolist()]
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
        return position

    def check(self, problems: Problems, key: str) -> None:
        """Report ids that are duplicated or of another type than most."""
        kinds = set(map(type, self.ids))
        one_kind = kinds in ({int}, {str}, set())
        if one_kind and len(set(self.ids)) == len(self.ids) and _fit(self.ids):
            return
        kind = main_kind(self.ids)
        seen: dict[Id, int] = {}
        for at, (found, line) in enumerate(zip(self.ids, self.lines, strict=True)):
            one = identifier(found, kind, problems, line, key)
            if one is None:
                continue
            self.ids[at] = one
            if one in seen:
                problems.add(line, key, f"duplicate image {quoted(one)}, also in line {seen[one]}")
            seen.setdefault(one, line)


def joined_pieces(pieces: Sequence[Piece], role: Role) -> Piece:
    """Concatenate pieces."""
    if not pieces:
        return ObjectRows(role).piece()
    columns = {
        name: np.concatenate([piece.columns[name] for piece in pieces])
        for name in pieces[0].columns
    }
    return Piece(columns, joined([piece.shapes for piece in pieces]))


def in_line_order(piece: Piece) -> Piece:
    """The objects of one file, sorted by line."""
    line = piece.columns["line"]
    if not (line[1:] < line[:-1]).any():
        return piece
    order = np.argsort(line, kind="stable")
    columns = {name: column[order] for name, column in piece.columns.items()}
    return Piece(columns, piece.shapes.take(order))


def checked_ids(piece: Piece, problems: Problems) -> Piece:
    """The objects with valid ids: unique, of one type, and none missing.

    Their `id` column is as in `ObjectFile`; it is gone where no object has an id. Faults are
    noted.
    """
    columns = dict(piece.columns)
    if columns["id"].dtype.kind == "i" and are_distinct(columns["id"]):
        return piece
    ids: list[Any] = columns.pop("id").tolist()
    kinds = set(map(type, ids))
    if kinds <= {type(None)}:
        return Piece(columns, piece.shapes)
    if kinds in ({int}, {str}) and len(set(ids)) == len(ids) and _fit(ids):
        return Piece({**columns, "id": id_column(ids)}, piece.shapes)
    kept: dict[Id, int] = {}
    kind = main_kind(ids)
    lines, positions = columns["line"].tolist(), columns["position"].tolist()
    for row, found in enumerate(ids):
        key = f"objects[{positions[row]}].id" if positions[row] >= 0 else "id"
        if found is None:
            problems.add(lines[row], key, "there is no id, and other objects have one")
            continue
        one = identifier(found, kind, problems, lines[row], key)
        if one is not None and one in kept:
            where = f"line {lines[kept[one]]}"
            problems.add(lines[row], key, f"duplicate id {quoted(one)}, first in {where}")
        elif one is not None:
            kept[one] = row
    rows = np.array(list(kept.values()), np.int64)
    columns = {name: column[rows] for name, column in columns.items()}
    return Piece({**columns, "id": id_column(list(kept))}, piece.shapes.take(rows))


def _fit(ids: Sequence[Id]) -> bool:
    """Whether ids of one kind are text or whole numbers of 64 bits."""
    return all(isinstance(one, str) or -(2**63) <= one < 2**63 for one in ids)


class Named(Struct, frozen=True):
    """Categories: label codes with their ids and names.

    Attributes:
        ids, names: By code.
        by_use: Whether the ids count the labels by name, so that those without objects have none.
    """

    ids: Sequence[int]
    names: Sequence[str]
    by_use: bool = True

    @classmethod
    def in_order(cls, names: Iterable[str]) -> Named:
        """Categories with ids from 0."""
        names = list(names)
        return cls(range(len(names)), names)


def object_file(
    path: str,
    piece: Piece,
    *,
    images: Table | None,
    image_ids: NDArray[Any],
    labels: Named,
    files: Sequence[InputFile],
    part_of: Sequence[str] | None = None,
    parts: Parts | None = None,
    place: str = LINE,
    metadata: Mapping[str, list[Any]] | None = None,
    skipped: int = 0,
    image_names: ImageNames = "typed",
    warnings: Sequence[str] = (),
    class_names: Mapping[int, str] | None = None,
) -> ObjectFile:
    """Build the `ObjectFile` of an input.

    Args:
        path: The input, as the user wrote it.
        piece: All objects; of ground truth after `checked_ids`.
        images: The images; None if the input names them through objects alone.
        image_ids: By position, what an object's `image` means.
        labels: By code, what an object's `label` means.
        files: What was read.
        part_of: Of a folder, the file of each image, by position.
        parts: The file of each object, where an image may be in several.
        place: How rows are named in the file, or in these files, as in `Table`.
        metadata: Of images.
        skipped: Objects left out.
        image_names, warnings, class_names: As in `ObjectFile`.
    """
    columns = dict(piece.columns)
    lines = columns.pop("line")
    del columns["position"]
    label = columns.pop("label")
    if labels.by_use:
        label, labels = _in_use(label, labels)
    category_ids = np.array(labels.ids, np.int64)
    image = columns.pop("image")
    if part_of is not None:
        parts = Parts([(file, place) for file in part_of], image)
    objects: Columns = {
        "image_id": image_ids[image],
        "category_id": category_ids[label],
        **{name: column for name, column in columns.items() if _says_something(name, column)},
    }
    return ObjectFile(
        path=path,
        objects=Table(path, objects, place, lines, skipped, parts),
        shapes=piece.shapes,
        images=images,
        categories=Table(
            path, {"id": category_ids, "name": text_column(labels.names)}, "categories[{row}]"
        ),
        metadata=metadata or {},
        files=files,
        coded=True,
        image_names=image_names,
        warnings=warnings,
        class_names=class_names,
    )


def _in_use(label: NDArray[np.int64], labels: Named) -> tuple[NDArray[np.int64], Named]:
    """Codes by name, for the order of rows must not matter; without gaps, since labels that only
    skipped objects have are no labels.
    """
    used = np.bincount(label, minlength=len(labels.names)) > 0
    found = sorted((labels.names[code], code) for code in np.flatnonzero(used).tolist())
    number = np.zeros(len(used), np.int64)
    number[[code for _, code in found]] = np.arange(len(found))
    return number[label], Named.in_order(name for name, _ in found)


def _says_something(name: str, column: NDArray[Any]) -> bool:
    """Whether a column is more than its default."""
    if name in ("crowd", "difficult"):
        return bool(column.any())
    return name != "area" or not np.isnan(column).all()


def polygon_columns(polygons: Sequence[Sequence[Part]]) -> Polygons:
    """Polygons as columns; each is a list of parts, each part a list of rings."""
    parts = list(chain.from_iterable(polygons))
    rings = list(chain.from_iterable(parts))
    points = np.fromiter(chain.from_iterable(rings), np.float64).reshape(-1, 2)
    return Polygons(
        points,
        _starts([len(ring) // 2 for ring in rings]),
        _starts([len(part) for part in parts]),
        _starts([len(polygon) for polygon in polygons]),
    )


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))])
