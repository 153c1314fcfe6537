"""Convert the shapes of both sides to one kind for comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.conversion import converted
from valor_cli.kernels.geometry.polygons import TooComplexError, repaired
from valor_cli.kernels.geometry.raster import MOST_PIXELS
from valor_cli.kernels.geometry.shapes import KINDS, MASK, POLYGON, Kind, Shapes

Ints = NDArray[np.int64]


class Located(NamedTuple):
    """The evaluated objects of one file.

    Attributes:
        name: What messages call them, "ground truths" or "detections of small".
        file: Where they come from.
        rows: (n,) their rows in it.
        image: (n,) position of each one's image.
        shapes: Their geometry.
    """

    name: str
    file: ObjectFile
    rows: Ints
    image: Ints
    shapes: Shapes


def kind_counts(shapes: Shapes) -> list[int]:
    """Number of objects of each of `KINDS`."""
    counts: list[int] = np.bincount(shapes.kind, minlength=len(KINDS)).tolist()
    return counts


def common_kind(counts: Mapping[str, Sequence[int]], asked: Kind | None) -> tuple[Kind, list[str]]:
    """The kind that all objects are compared as, with warnings.

    The one asked for; else the least detailed that occurs, but polygons beside masks are drawn as
    masks. All objects of the files decide, not those that a filter leaves.

    Args:
        counts: Objects of each of `KINDS`, by what messages call the file.
        asked: The kind that the config names.
    """
    present = [at for at in range(len(KINDS)) if any(count[at] for count in counts.values())]
    if asked is not None:
        return asked, []
    if not present:
        return "box", []
    if present == [POLYGON, MASK]:
        return "mask", []
    kind = KINDS[present[0]]
    if len(present) == 1:
        told = (
            "polygons are compared as they are; tools of COCO draw them on the pixels first: "
            "`geometry: mask`"
        )
        return kind, [told] if kind == "polygon" else []
    listed = "; ".join(
        f"{name}: "
        + ", ".join(f"{count[at]:,} {_words(KINDS[at], count[at])}" for at in present if count[at])
        for name, count in counts.items()
    )
    told = f"compared as {_words(kind)}, the least detailed geometry that occurs ({listed})"
    return kind, [f"{told}; set `geometry:` for another"]


def _words(kind: Kind, count: int = 2) -> str:
    """A count of a kind: "1 rotated box", "2 rotated boxes"."""
    word = kind.replace("_", " ")
    return word if count == 1 else f"{word}{'es' if word.endswith('x') else 's'}"


def of_kind(parts: Sequence[Located], kind: Kind, size: Ints) -> tuple[list[Shapes], list[int]]:
    """Convert the shapes of each part to one kind, and count repaired polygons.

    Args:
        parts: The objects.
        kind: What to turn them into.
        size: (images, 2) height and width of each image as the files say, 0 where unknown.

    Raises:
        DataError: A mask has another size than its image, polygons are to be drawn on images
            of unknown size, or their edges cross too often.
    """
    if all(set(part.shapes.kinds) <= {kind} and kind in ("box", "rotated_box") for part in parts):
        return [part.shapes for part in parts], [0] * len(parts)
    size = _checked_sizes(parts, size)
    if kind == "mask":
        _check_known(parts, size)
    shapes, crossing = [], []
    for part in parts:
        found, count = part.shapes, 0
        if kind in ("rotated_box", "polygon") and "polygon" in found.kinds:
            try:
                polygons, changed = repaired(found.polygon)
            except TooComplexError as error:
                raise _crowded(part, found.rows_of(POLYGON)[error.rows], error) from None
            if count := int(changed.sum()):
                found = Shapes(found.kind, found.box, found.rotated_box, polygons, found.mask)
        crossing.append(count)
        shapes.append(converted(found, kind, size[part.image]))
    return shapes, crossing


def _crowded(part: Located, rows: Ints, error: TooComplexError) -> DataError:
    """Polygons whose area cannot be found; they can still be drawn."""
    return DataError(
        [
            Problem(part.file.objects.place_of(int(part.rows[row])), f"polygon: {error}")
            for row in rows[:LISTED].tolist()
        ],
        total=len(rows),
        hint="simplify it, give a mask in its place, or set `geometry: mask`",
    )


def _checked_sizes(parts: Sequence[Located], size: Ints) -> Ints:
    """Sizes of the images, also of those that only their masks know."""
    size = size.copy()
    problems: list[Problem] = []
    total = 0
    for part in parts:
        at = part.shapes.rows_of(MASK)
        own, image = part.shapes.mask.size, part.image[at]
        unknown = (size[image] == 0).any(axis=1)
        size[image[unknown]] = own[unknown]
        wrong = np.flatnonzero((size[image] != own).any(axis=1))
        total += len(wrong)
        for row in wrong[:LISTED].tolist():
            height, width = own[row].tolist()
            place = part.file.objects.place_of(int(part.rows[at[row]]))
            there = " by ".join(map(str, size[image[row]].tolist()))
            message = f"the mask is {height} by {width} (height by width), its image is {there}"
            problems.append(Problem(place, message))
    if problems:
        raise DataError(
            problems[:LISTED], total=total, hint="give masks the size of their image, as COCO does"
        )
    return size


def _check_known(parts: Sequence[Located], size: Ints) -> None:
    """Everything but a mask is drawn on its image, whose size must be known, and not huge."""
    for part in parts:
        drawn = np.flatnonzero(part.shapes.kind != MASK)
        of_image = size[part.image[drawn]]
        unknown = drawn[(of_image == 0).any(axis=1)]
        huge = drawn[of_image.prod(axis=1) >= MOST_PIXELS]
        for rows, why in (
            (unknown, "the size of its image is unknown"),
            (huge, f"its image has {MOST_PIXELS:,} pixels or more"),
        ):
            if len(rows):
                place = part.file.objects.place_of(int(part.rows[rows[0]]))
                raise DataError(
                    Problem(place, f"cannot be drawn as a mask: {why}"),
                    total=len(rows),
                    hint="give images a width and a height, or set `geometry: polygon`"
                    if rows is unknown
                    else "set `geometry: polygon`, or give masks",
                )


def image_sizes(
    files: Sequence[ObjectFile], positions: Mapping[str, Ints], images: int
) -> tuple[Ints, list[str]]:
    """(images, 2) height and width from the first file that has them, and warnings.

    0 where no file says.

    Args:
        files: Ground truth and predictions.
        positions: By path, the position of each image that the file lists; -1 for unknown ones.
        images: How many images there are.
    """
    size = np.zeros((images, 2), np.int64)
    warnings = []
    for file in files:
        if file.images is None or not {"width", "height"} <= set(file.images.columns):
            continue
        own = np.column_stack([file.images["height"], file.images["width"]])
        known = (positions[file.path] >= 0) & (own > 0).all(axis=1)
        at, own = positions[file.path][known], own[known]
        new = (size[at] == 0).all(axis=1)
        other = np.flatnonzero(~new & (size[at] != own).any(axis=1))
        if len(other):
            here, there = (" by ".join(map(str, s[other[0]].tolist())) for s in (own, size[at]))
            warnings.append(
                f"{file.path}: images of another size than in {files[0].path}, which counts: "
                f"{len(other):,} (the first: {here}, not {there}, height by width)"
            )
        size[at[new]] = own[new]
    return size, warnings
