"""What writers of objects share: objects by image, values of shapes, names of files, losses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.known_images import file_names_of, frames_of
from valor_cli.data.shapes.objects.object_file import Id, ObjectFile
from valor_cli.data.table import Table
from valor_cli.errors import LISTED, DataError, Problem, printable
from valor_cli.kernels.columns.grouping import grouped
from valor_cli.kernels.geometry.rle import encoded
from valor_cli.kernels.geometry.shapes import (
    BOX,
    KINDS,
    POLYGON,
    Floats,
    Ints,
    Kind,
    Masks,
    Polygons,
)

_LISTED_NAMES = 10
_PICTURES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"})
_OF_CATEGORIES = {
    "frequency": "frequencies of categories",
    "isthing": "kinds of categories (things or stuff)",
}
_LONGEST = 240
"""Bytes. Most file systems take 255, with the extension."""


class Written(Struct, frozen=True):
    """The content of an output.

    Attributes:
        files: Bytes by file name in the output folder; the one name "" for a format of one file.
        warnings: What is lost, with counts.
    """

    files: Mapping[str, bytes]
    warnings: Sequence[str] = ()


class WriteOptions(Struct, frozen=True):
    """The user's options for a writer.

    Attributes:
        names: Labels in the order of their numbers (YOLO); none for the order of the categories.
        results: A COCO results list in place of a dictionary.
        box: (n, 4) the boxes that the input states beside its shapes, NaN where it states none;
            None for none at all.
    """

    names: Sequence[str] = ()
    results: bool = False
    box: Floats | None = None


class Scene:
    """The objects of a file by image, as a writer of a format needs them.

    Attributes:
        objects: The file.
        table, shapes: Its objects.
        ids, file_names: Of its images, in order; None for a name that is unknown.
        size: (images, 2) height and width; 0 where unknown.
    """

    def __init__(self, objects: ObjectFile, name: str = "", kinds: Sequence[Kind] = KINDS) -> None:
        """Look at a file for a format.

        Args:
            objects: The file.
            name: What the format is called, for messages.
            kinds: The geometries it can hold.

        Raises:
            DataError: There is another; the message names the kinds that are left to convert to.
        """
        self.objects, self.name = objects, name
        self.table, self.shapes = objects.objects, objects.shapes
        images = image_table(objects)
        self.ids: Sequence[Id] = images["id"].tolist()
        self.file_names, self.size = file_names_of(images), frames_of(images)
        counts = np.bincount(self.shapes.kind, minlength=len(KINDS)).tolist()
        problems = [
            Problem(objects.path, f"{name} holds no {kind}, found {count:,}")
            for kind, count in zip(KINDS, counts, strict=True)
            if count and kind not in kinds
        ]
        if problems:
            raise DataError(problems, hint=f"convert them: --geometry {' or '.join(kinds)}")

    @cached_property
    def number(self) -> Ints:
        """(n,) the position of each object's image."""
        return numbers_of(self.table["image_id"], self.ids)

    def rows(self) -> Iterator[list[int]]:
        """The rows of the objects of each image, in file order."""
        order, _ = grouped(self.number)
        counts = np.bincount(self.number, minlength=len(self.ids))
        starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
        return (order[start:end].tolist() for start, end in pairwise(starts))

    @cached_property
    def names(self) -> Mapping[Id, str]:
        """The label of each category, in the order of the file.

        Raises:
            DataError: The file knows categories by id alone, or two of them share a name.
        """
        path, table = self.objects.path, self.objects.categories
        if table is None:
            problem = Problem(path, "a COCO results list names categories by id, not by label")
            raise DataError(problem, hint="give the file with the names: --ground-truth FILE")
        names: dict[Id, str] = dict(zip(table["id"].tolist(), table["name"].tolist(), strict=True))
        first: dict[str, Id] = {}
        problems = []
        for number, name in names.items():
            if first.setdefault(name, number) != number:
                message = f"the ids {first[name]!r} and {number!r} are both named '{name}'"
                problems.append(Problem(f"{path}: categories", message))
        if problems:
            raise DataError(problems, hint="only COCO can hold two categories of one name")
        return names

    @cached_property
    def labels(self) -> list[str]:
        """The label of each object. Raises as `names` does."""
        return [self.names[each] for each in self.table["category_id"].tolist()]

    def sizes(self, rows: slice | Ints = slice(None)) -> Ints:
        """(n, 2) height and width of the image of each object, or of some.

        Raises:
            DataError: An image with objects has no known size.
        """
        number = self.number[rows]
        size: Ints = self.size[number]
        if unknown := np.unique(number[(size == 0).any(axis=1)]).tolist():
            messages = [f"the size of image {self.ids[at]!r} is not known" for at in unknown]
            hint = "name the folder of the images: --images DIR"
            if self.objects.images is None:
                hint += ", or the file that has the sizes: --ground-truth FILE"
            raise DataError([Problem(self.objects.path, one) for one in messages], hint=hint)
        return size

    def stems(self, reserved: Sequence[str] = ()) -> list[str]:
        """The output name of each image: its file name without folder and extension, or its id.

        Names come from data: they never lead out of the output folder.

        Args:
            reserved: Names that are taken.

        Raises:
            DataError: A name cannot be that of a file, or two images share one.
        """
        stems = list(map(_stem, self.ids, self.file_names))
        first: dict[str, Id] = {}
        messages = []
        for number, stem in zip(self.ids, stems, strict=True):
            if fault := _fault(stem, reserved):
                messages.append(f"image {number!r}: no file can be named {stem!r}{fault}")
            # Some file systems do not tell case apart; there one file would replace the other.
            elif (other := first.setdefault(stem.casefold(), number)) != number:
                both = f"{other!r} and {number!r}"
                messages.append(f"the images {both} would both be written as '{stem}'")
        if messages:
            hint = "give every image an id or a file name that is a file name of its own"
            raise DataError([Problem(self.objects.path, one) for one in messages], hint=hint)
        return stems

    def check_polygons(self, *, parts: bool, instead: Kind) -> None:
        """Stop where a polygon has holes, or several parts that the format cannot hold.

        Args:
            parts: Whether the format holds several.
            instead: The geometry to propose.

        Raises:
            DataError: There are such polygons; up to 20 are named, the rest counted.
        """
        polygon = self.shapes.polygon
        part_count = np.diff(polygon.objects)
        hole_count = np.diff(polygon.parts[polygon.objects]) - part_count
        rows = self.shapes.rows_of(POLYGON)
        bad = {"a polygon with holes": hole_count > 0}
        if not parts:
            bad["a polygon of several parts, or none"] = (part_count != 1) & (hole_count == 0)
        found = sorted((row, what) for what, flags in bad.items() for row in rows[flags].tolist())
        if found:
            problems = [
                Problem(self.table.place_of(row), f"{self.name} cannot hold {what}")
                for row, what in found[:LISTED]
            ]
            raise DataError(problems, total=len(found), hint=f"convert it: --geometry {instead}")

    def by_row(self, values: Mapping[int, Sequence[Any]]) -> list[Any]:
        """One value per object, from the values by kind; None where a kind has none."""
        found: list[Any] = [None] * len(self.shapes)
        for kind, mine in values.items():
            for row, value in zip(self.shapes.rows_of(kind).tolist(), mine, strict=True):
                found[row] = value
        return found

    def losses(self, holds: frozenset[str], name: str = "") -> list[str]:
        """What a format cannot store of these objects, as "YOLO holds no file names: 9 are lost".

        Ids that a reader may have made up are no loss, nor is an area that is a box's own.

        Args:
            holds: Columns of objects, images and categories that it can hold; also "category_id",
                "empty_category", "empty_image", "metadata".
            name: The format, where it is not that of the scene.
        """
        found = (*_of_objects(self), *_of_images(self), *_of_categories(self.objects))
        return [
            f"{name or self.name} holds no {what}"
            for key, count, what in found
            if count and key not in holds
        ]


def image_table(objects: ObjectFile) -> Table:
    """The images of a file, listed or in order of appearance."""
    if objects.images is not None:
        return objects.images
    column = objects.objects["image_id"]
    ids = np.array(list(dict.fromkeys(column.tolist())), column.dtype)
    return Table(objects.path, {"id": ids})


def numbers_of(values: NDArray[Any], keys: Sequence[Id]) -> Ints:
    """(n,) the position of each value in distinct keys; -1 if absent."""
    number = {key: at for at, key in enumerate(keys)}
    return np.fromiter((number.get(each, -1) for each in values.tolist()), np.int64, len(values))


def rings_of(polygon: Polygons) -> list[list[list[float]]]:
    """The rings of each object, each as x, y, x, y, …"""
    flat = polygon.points.ravel().tolist()
    rings = [flat[2 * start : 2 * end] for start, end in pairwise(polygon.rings.tolist())]
    starts = polygon.parts[polygon.objects].tolist()
    return [rings[start:end] for start, end in pairwise(starts)]


def rle_of(mask: Masks) -> list[dict[str, Any]]:
    """The masks as COCO writes them, compressed."""
    return [
        {"size": size, "counts": counts}
        for size, counts in zip(mask.size.tolist(), encoded(mask), strict=True)
    ]


def _stem(number: Id, file_name: str | None) -> str:
    if file_name is None and isinstance(number, int):
        return str(number)
    # A file name may be written with either separator.
    name = PureWindowsPath(str(number) if file_name is None else file_name).name
    path = PurePosixPath(name)
    if file_name is None and path.suffix.lower() not in _PICTURES:
        return name
    return path.stem


def _fault(stem: str, reserved: Sequence[str]) -> str:
    if stem.casefold() in reserved:
        return " (the format has a file of that name)"
    if stem.startswith(".") or stem != stem.strip() or not (stem and stem.isprintable()):
        return " (empty, hidden, white space around it, or control characters)"
    if len(stem.encode()) > _LONGEST:
        return f" (longer than {_LONGEST} bytes)"
    return ""


_Loss: TypeAlias = tuple[str, int, str]
"""The name of what may be lost, how often a file has it, and what is then said of it."""


def _of_objects(scene: Scene) -> Iterator[_Loss]:
    columns = scene.table.columns
    ids = columns.get("id", np.zeros(0)).tolist()
    count = 0 if _counted(ids) else len(ids)
    yield "id", count, f"ids of objects: {count:,} are lost"
    area = columns.get("area", np.full(len(scene.shapes), np.nan))
    stated = ~np.isnan(area)
    boxes = scene.shapes.rows_of(BOX)
    stated[boxes] &= area[boxes] != scene.shapes.box[:, 2] * scene.shapes.box[:, 3]
    count = int(stated.sum())
    yield "area", count, f"stated areas: {count:,} objects now have the area of their shape"
    count = int(columns.get("crowd", np.zeros(0)).sum())
    yield "crowd", count, f"crowd flags: {count:,} crowds now are single objects"
    count = int(columns.get("difficult", np.zeros(0)).sum())
    yield "difficult", count, f"difficult flags: {count:,} difficult objects now count"
    keypoints = columns.get("keypoints", np.zeros((0, 1, 3)))
    count = int((keypoints != 0).any(axis=(1, 2)).sum())
    yield "keypoints", count, f"keypoints: those of {count:,} objects are lost"


def _of_images(scene: Scene) -> Iterator[_Loss]:
    count = int((scene.size > 0).all(axis=1).sum())
    yield "size", count, f"image sizes: {count:,} are lost"
    count = sum(name is not None for name in scene.file_names)
    yield "file_name", count, f"file names of images: {count:,} are lost"
    used = set(scene.table["image_id"].tolist())
    count = sum(each not in used for each in scene.ids)
    yield "empty_image", count, f"images without objects: {count:,} are lost"
    images = image_table(scene.objects)
    for column in ("negative", "not_exhaustive"):
        what = f"lists of {column.replace('_', ' ')} categories"
        count = len(images) if column in images.columns else 0
        yield column, count, f"{what}: those of {count:,} images are lost"
    for name, values in scene.objects.metadata.items():
        count = sum(value is not None for value in values)
        yield "metadata", 1, f"metadata: '{printable(name)}' of {count:,} images is lost"


def _of_categories(objects: ObjectFile) -> Iterator[_Loss]:
    table = objects.categories
    if table is None:
        return
    ids, names = table["id"].tolist(), table["name"].tolist()
    count = 0 if objects.coded else len(ids)
    yield "category_id", count, f"category ids: {count:,} are lost"
    used = set(objects.objects["category_id"].tolist())
    unused = [name for one, name in zip(ids, names, strict=True) if one not in used]
    shown = ", ".join(map(printable, unused[:_LISTED_NAMES]))
    more = ", …" if len(unused) > _LISTED_NAMES else ""
    what = f"categories without objects: {len(unused):,} are lost ({shown}{more})"
    yield "empty_category", len(unused), what
    for column, what in _OF_CATEGORIES.items():
        count = len(ids) if column in table.columns else 0
        yield column, count, f"{what}: {count:,} are lost"


def _counted(ids: list[Id]) -> bool:
    """Whether they only count the rows."""
    return ids in (list(range(len(ids))), list(range(1, len(ids) + 1)))
