"""Columns of boxes, rotated boxes, polygons and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import offsets, spread

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

Kind: TypeAlias = Literal["box", "rotated_box", "polygon", "mask"]
KINDS: tuple[Kind, ...] = ("box", "rotated_box", "polygon", "mask")
"""From the least to the most detailed; `Shapes.kind` holds positions in it."""

BOX, ROTATED_BOX, POLYGON, MASK = range(4)


@dataclass(frozen=True, slots=True)
class Polygons:
    """Regions bounded by rings; an object may have parts, a part may have holes.

    Attributes:
        points: (p, 2) x, y in pixels. A ring does not repeat its first point.
        rings: (r + 1,) where the points of each ring begin.
        parts: (q + 1,) where the rings of each part begin: its outer ring, then its holes.
        objects: (n + 1,) where the parts of each object begin.
    """

    points: Floats
    rings: Ints
    parts: Ints
    objects: Ints

    @classmethod
    def none(cls) -> Polygons:
        """No objects."""
        start = np.zeros(1, np.int64)
        return cls(np.zeros((0, 2)), start, start, start)

    def __len__(self) -> int:
        return len(self.objects) - 1

    @property
    def starts(self) -> Ints:
        """(n + 1,) where the points of each object begin."""
        return self.rings[self.parts[self.objects]]

    def take(self, rows: Ints) -> Polygons:
        """Select objects, in that order."""
        parts, objects = _picked(self.objects, rows)
        rings, part_starts = _picked(self.parts, parts)
        points, ring_starts = _picked(self.rings, rings)
        return Polygons(self.points[points], ring_starts, part_starts, objects)


@dataclass(frozen=True, slots=True)
class Masks:
    """Masks as COCO run lengths.

    Attributes:
        counts: (c,) lengths of runs down the columns, from the left; each object's first run is
            background, then they alternate. Of 32 bits where readers see that they do: half the
            memory, and most of what is done with masks waits for memory.
        starts: (n + 1,) where the runs of each object begin.
        size: (n, 2) height and width of its image.
        foreground: (n,) how many pixels are of the object, where that is known already.
    """

    counts: NDArray[np.signedinteger[Any]]
    starts: Ints
    size: Ints
    foreground: Ints | None = None

    @classmethod
    def none(cls) -> Masks:
        """No objects."""
        return cls(np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros((0, 2), np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, rows: Ints) -> Masks:
        """Select objects, in that order."""
        known = None if self.foreground is None else self.foreground[rows]
        if engine.compiled is not None:
            starts = offsets(np.diff(self.starts)[rows])
            width = np.int32 if self.counts.dtype == np.int32 else np.int64
            counts = np.empty(starts[-1], width)
            engine.compiled.taken_counts(
                np.ascontiguousarray(self.counts, width),
                np.ascontiguousarray(self.starts),
                np.ascontiguousarray(self.size),
                np.ascontiguousarray(rows),
                counts,
            )
            return Masks(counts, starts, self.size[rows], known)
        runs, starts = _picked(self.starts, rows)
        return Masks(self.counts[runs], starts, self.size[rows], known)


@dataclass(frozen=True, slots=True)
class Shapes:
    """Geometry of objects, each of one kind; each kind's columns hold only its objects.

    Attributes:
        kind: (n,) position in `KINDS`.
        box: (b, 4) x, y, width, height in pixels.
        rotated_box: (r, 5) centre x, centre y, width, height in pixels, angle in degrees. It turns
            x towards y, which is clockwise where y points down.
        polygon, mask: The other objects.
    """

    kind: NDArray[np.uint8]
    box: Floats
    rotated_box: Floats
    polygon: Polygons
    mask: Masks

    @classmethod
    def boxes(cls, box: Floats) -> Shapes:
        """Boxes alone."""
        kind = np.full(len(box), BOX, np.uint8)
        return cls(kind, box, np.zeros((0, 5)), Polygons.none(), Masks.none())

    @classmethod
    def rotated_boxes(cls, rotated_box: Floats) -> Shapes:
        """Rotated boxes only."""
        kind = np.full(len(rotated_box), ROTATED_BOX, np.uint8)
        return cls(kind, np.zeros((0, 4)), rotated_box, Polygons.none(), Masks.none())

    @classmethod
    def polygons(cls, polygon: Polygons) -> Shapes:
        """Polygons alone."""
        kind = np.full(len(polygon), POLYGON, np.uint8)
        return cls(kind, np.zeros((0, 4)), np.zeros((0, 5)), polygon, Masks.none())

    @classmethod
    def masks(cls, mask: Masks) -> Shapes:
        """Masks alone."""
        kind = np.full(len(mask), MASK, np.uint8)
        return cls(kind, np.zeros((0, 4)), np.zeros((0, 5)), Polygons.none(), mask)

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that occur, least detailed first."""
        counts = len(self.box), len(self.rotated_box), len(self.polygon), len(self.mask)
        return tuple(kind for kind, count in zip(KINDS, counts, strict=True) if count)

    def rows_of(self, kind: int) -> Ints:
        """The objects of a kind, in the order of its columns."""
        return np.flatnonzero(self.kind == kind)

    def take(self, rows: Ints | NDArray[np.bool_]) -> Shapes:
        """Select objects by numbers, in that order, or by a mask."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, np.int64)
        kind = self.kind[rows]
        if len(self.box) == len(self.kind):
            return Shapes(kind, self.box[rows], self.rotated_box, self.polygon, self.mask)
        if len(self.mask) == len(self.kind):
            return Shapes.masks(self.mask.take(rows))
        # Place of every object among those of its own kind.
        place = np.zeros(len(self.kind), np.int64)
        for one in range(len(KINDS)):
            mine = self.rows_of(one)
            place[mine] = np.arange(len(mine))
        at = [place[rows[kind == one]] for one in range(len(KINDS))]
        return Shapes(
            kind,
            self.box[at[BOX]],
            self.rotated_box[at[ROTATED_BOX]],
            self.polygon.take(at[POLYGON]),
            self.mask.take(at[MASK]),
        )

    def between(self, low: int, high: int) -> Shapes:
        """Objects in a range, without copying if only boxes."""
        if len(self.box) != len(self.kind):
            return self.take(np.arange(low, high))
        boxes = self.box[low:high]
        return Shapes(self.kind[low:high], boxes, self.rotated_box, self.polygon, self.mask)


def joined_masks(parts: Sequence[Masks]) -> Masks:
    """Concatenate objects."""
    # An empty part would make counts of 32 bits longer.
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return parts[0] if parts else Masks.none()
    known = [part.foreground for part in parts if part.foreground is not None]
    return Masks(
        np.concatenate([part.counts for part in parts]),
        _joined_starts([part.starts for part in parts]),
        np.concatenate([part.size for part in parts]),
        np.concatenate(known) if len(known) == len(parts) else None,
    )


def joined_polygons(parts: Sequence[Polygons]) -> Polygons:
    """Concatenate objects."""
    if not parts:
        return Polygons.none()
    return Polygons(
        np.concatenate([part.points for part in parts]),
        _joined_starts([part.rings for part in parts]),
        _joined_starts([part.parts for part in parts]),
        _joined_starts([part.objects for part in parts]),
    )


def joined(parts: Sequence[Shapes]) -> Shapes:
    """Concatenate objects."""
    return Shapes(
        np.concatenate([np.zeros(0, np.uint8), *(part.kind for part in parts)]),
        np.concatenate([np.zeros((0, 4)), *(part.box for part in parts)]),
        np.concatenate([np.zeros((0, 5)), *(part.rotated_box for part in parts)]),
        joined_polygons([part.polygon for part in parts]),
        joined_masks([part.mask for part in parts]),
    )


def _picked(starts: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Elements of some ranges, range after range, and where each range then begins."""
    sizes = np.diff(starts)[rows]
    return spread(starts[rows], sizes), offsets(sizes)


def _joined_starts(starts: Sequence[Ints]) -> Ints:
    sizes = np.concatenate([np.diff(one) for one in starts])
    return offsets(sizes)
