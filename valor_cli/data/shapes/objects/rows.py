"""Collect objects, row by row or as columns, into an `ObjectFile`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
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
from valor_cli.data.table import LINE, Columns, Parts, Problems, Table
from valor_cli.data.values import identifier
from valor_cli.kernels.columns.grouping import are_distinct
from valor_cli.kernels.geometry.shapes import (
    BOX,
    MASK,
    POLYGON,
    ROTATED_BOX,
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

_DUPLICATE_IMAGE: Final = "duplicate image {}, also in line {}"
_DUPLICATE_ID: Final = "duplicate id {}, first in line {}"
_NO_ID: Final = "there is no id, and other objects have one"


_TYPES: Final = {
    "kind": np.uint8,
    "image": np.int64,
    "label": np.int64,
    "line": np.int64,
    "position": np.int64,
    "score": np.float64,
    "crowd": np.bool_,
    "area": np.float64,
    "id": object,
}
"""Columns of objects of both sides, and what they hold."""

OF_ROLE: Final[Mapping[Role, Sequence[str]]] = {
    "predictions": ("score",),
    "ground_truth": ("crowd", "area", "id"),
}
"""Columns that the objects of one side alone have."""


class ObjectRows:
    """Objects collected one by one; what is added has been checked."""

    __slots__ = ("_role", "_shapes", "_values")

    def __init__(self, role: Role) -> None:
        self._role = role
        self._shapes: dict[int, list[Any]] = {BOX: [], ROTATED_BOX: [], POLYGON: [], MASK: []}
        self._values: list[tuple[Any, ...]] = []

    def add(
        self,
        kind: int,
        shape: Any,
        image: int,
        label: int,
        line: int,
        *,
        position: int = -1,
        score: float = 0.0,
        crowd: bool = False,
        area: float = math.nan,
        identity: Id | None = None,
    ) -> None:
        """Add an object.

        Args:
            kind, shape: x, y, width and height of a box; centre x and y, width, height and degrees
                of a rotated box; the parts of a polygon; or the `Masks` of one mask.
            image, label, line, position, score, crowd, area, identity: As in `Piece`.
        """
        self._shapes[kind].append(shape)
        self._values.append((kind, image, label, line, position, score, crowd, area, identity))

    def piece(self) -> Piece:
        """The objects so far."""
        values = zip(*self._values, strict=True) if self._values else [()] * len(_TYPES)
        columns = {
            name: text_column(each) if own is object else np.array(each, own)
            for (name, own), each in zip(_TYPES.items(), values, strict=True)
        }
        shapes = Shapes(
            columns.pop("kind"),
            np.array(self._shapes[BOX], np.float64).reshape(-1, 4),
            np.array(self._shapes[ROTATED_BOX], np.float64).reshape(-1, 5),
            polygon_columns(self._shapes[POLYGON]),
            joined_masks(self._shapes[MASK]),
        )
        others = OF_ROLE["ground_truth" if self._role == "predictions" else "predictions"]
        return Piece({name: columns[name] for name in columns if name not in others}, shapes)


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

    def table(self, path: str, place: str) -> Table:
        """The images, with their known facts."""
        columns: Columns = {"id": id_column(self.ids)}
        if any(self.width) or any(self.height):
            columns["width"] = np.array(self.width, np.int64)
            columns["height"] = np.array(self.height, np.int64)
        if any(name is not None for name in self.file_name):
            columns["file_name"] = text_column(self.file_name)
        rows = np.array(self.lines, np.int64) if self.lines else None
        return Table(path, columns, place, rows)

    def check(self, problems: Problems, key: str) -> None:
        """Report ids that are duplicated or of another type than most."""
        if not _are_ids(self.ids):
            keys = [key] * len(self.ids)
            self.ids = list(_distinct(self.ids, self.lines, keys, problems, _DUPLICATE_IMAGE))


def joined_pieces(pieces: Sequence[Piece], role: Role) -> Piece:
    """The objects of pieces of one file, sorted by line."""
    if not pieces:
        return ObjectRows(role).piece()
    names = pieces[0].columns
    columns = {name: np.concatenate([piece.columns[name] for piece in pieces]) for name in names}
    found, line = Piece(columns, joined([piece.shapes for piece in pieces])), columns["line"]
    in_order = not (line[1:] < line[:-1]).any()
    return found if in_order else found.take(np.argsort(line, kind="stable"))


def checked_ids(piece: Piece, problems: Problems) -> Piece:
    """The objects with valid ids: unique, of one type, and none missing.

    Their `id` column is as in `ObjectFile`; it is gone where no object has an id. Faults are
    noted.
    """
    columns = dict(piece.columns)
    if columns["id"].dtype.kind == "i" and are_distinct(columns["id"]):
        return piece
    ids: list[Any] = columns.pop("id").tolist()
    if all(one is None for one in ids):
        return Piece(columns, piece.shapes)
    if _are_ids(ids):
        return Piece({**columns, "id": id_column(ids)}, piece.shapes)
    keys = [f"objects[{at}].id" if at >= 0 else "id" for at in columns["position"].tolist()]
    kept = _distinct(ids, columns["line"].tolist(), keys, problems, _DUPLICATE_ID, _NO_ID)
    found = Piece(columns, piece.shapes).take(np.array(list(kept.values()), np.int64))
    found.columns["id"] = id_column(list(kept))
    return found


def _are_ids(ids: Sequence[Id]) -> bool:
    """Whether ids are distinct, and all of them texts or all whole numbers of 64 bits."""
    kinds = set(map(type, ids))
    if kinds == {int} and not all(-(2**63) <= int(one) < 2**63 for one in ids):
        return False
    return kinds in ({int}, {str}, set()) and len(set(ids)) == len(ids)


def _distinct(
    ids: Sequence[Id | None],
    lines: Sequence[int],
    keys: Sequence[str],
    problems: Problems,
    duplicate: str,
    missing: str = "",
) -> dict[Id, int]:
    """The ids of the type of most, with the position of the first of each; others are reported.

    Args:
        ids: Those of a file.
        lines, keys: Where each stands.
        problems: Where to note what is wrong.
        duplicate: What to say of an id and of the line where it was before.
        missing: What to say where there is none; None is a wrong id where this is empty.
    """
    kind = main_kind(ids)
    kept: dict[Id, int] = {}
    for at, (found, line, key) in enumerate(zip(ids, lines, keys, strict=True)):
        if found is None and missing:
            problems.add(line, key, missing)
            continue
        one = identifier(found, kind, problems, line, key)
        if one is not None and kept.setdefault(one, at) != at:
            problems.add(line, key, duplicate.format(quoted(one), lines[kept[one]]))
    return kept


def object_file(
    path: str,
    piece: Piece,
    images: ImageRows,
    labels: Sequence[str] | Mapping[int, str],
    *,
    found: int,
    sha256: str,
    others: Sequence[InputFile] = (),
    parts: Parts | None = None,
    place: str = LINE,
    image_place: str | None = "image {row}",
    metadata: Mapping[str, list[Any]] | None = None,
    image_names: ImageNames = "file",
    warnings: Sequence[str] = (),
    class_names: Mapping[int, str] | None = None,
) -> ObjectFile:
    """Build the `ObjectFile` of an input.

    Args:
        path: The input, as the user wrote it.
        piece: All objects; of ground truth after `checked_ids`.
        images: The images, by position what an object's `image` means.
        labels: By code, what an object's `label` means; these are numbered anew, by name, and none
            is left without an object. Or names by class, in the order of codes, which stay.
        found: The number of objects read, including those left out.
        sha256: Of the input.
        others: What else was read.
        parts: The file of each object of a folder.
        place: How rows are named in the file, or in these files, as in `Table`.
        image_place: How images are; None if the input names them through objects alone.
        metadata: Of images.
        image_names, warnings, class_names: As in `ObjectFile`.
    """
    columns = dict(piece.columns)
    lines = columns.pop("line")
    del columns["position"]
    label = columns.pop("label")
    if not isinstance(labels, Mapping):
        label, labels = _in_use(label, labels)
    category_ids = np.array(list(labels), np.int64)
    objects: Columns = {
        "image_id": id_column(images.ids)[columns.pop("image")],
        "category_id": category_ids[label],
        **{name: column for name, column in columns.items() if _says_something(name, column)},
    }
    skipped = found - len(piece.shapes)
    return ObjectFile(
        path=path,
        objects=Table(path, objects, place, lines, skipped, parts),
        shapes=piece.shapes,
        images=None if image_place is None else images.table(path, image_place),
        categories=Table(
            path,
            {"id": category_ids, "name": text_column(list(labels.values()))},
            "categories[{row}]",
        ),
        metadata=metadata or {},
        files=[InputFile(path, sha256, found, skipped), *others],
        coded=True,
        image_names=image_names,
        warnings=warnings,
        class_names=class_names,
    )


def _in_use(
    label: NDArray[np.int64], names: Sequence[str]
) -> tuple[NDArray[np.int64], dict[int, str]]:
    """Codes by name, for the order of rows must not matter; without gaps, since labels that only
    skipped objects have are no labels.
    """
    used = np.bincount(label, minlength=len(names)) > 0
    found = sorted((names[code], code) for code in np.flatnonzero(used).tolist())
    number = np.zeros(len(used), np.int64)
    number[[code for _, code in found]] = np.arange(len(found))
    return number[label], {at: name for at, (name, _) in enumerate(found)}


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
