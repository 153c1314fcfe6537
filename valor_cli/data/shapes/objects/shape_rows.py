"""Collect the geometry of objects into `Shapes`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.geometry.masks import from_bitmap
from valor_cli.kernels.geometry.rle import decoded, from_counts
from valor_cli.kernels.geometry.shapes import (
    BOX,
    MASK,
    POLYGON,
    ROTATED_BOX,
    Masks,
    Polygons,
    Shapes,
    joined_masks,
)

Ring: TypeAlias = Sequence[float]
"""x, y, x, y … of a ring that does not repeat its first point."""

Part: TypeAlias = Sequence[Ring]
"""An outer ring, then its holes."""

Frame: TypeAlias = tuple[int, int]
"""Height and width of an image."""


class ShapeRows:
    """The shapes of objects, in their order; what is added has been checked."""

    __slots__ = ("_bitmaps", "_boxes", "_counts", "_kind", "_masks", "_polygons", "_rotated")

    def __init__(self) -> None:
        self._kind: list[int] = []
        self._boxes: list[Sequence[float]] = []
        self._rotated: list[Sequence[float]] = []
        self._polygons: list[Sequence[Part]] = []
        self._masks: list[tuple[int, bytes, Frame]] = []
        self._counts: list[tuple[int, Sequence[int], Frame]] = []
        self._bitmaps: list[tuple[int, Masks]] = []

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

    def add_run_lengths(self, counts: str | Sequence[int], frame: Frame) -> None:
        """Add a mask as COCO counts, compressed or not; its length is checked at the end."""
        if isinstance(counts, str):
            self._masks.append((self._next_mask(), counts.encode("utf-8", "replace"), frame))
        else:
            self._counts.append((self._next_mask(), counts, frame))

    def add_bitmap(self, pixels: NDArray[np.bool_]) -> None:
        """A mask by its pixels, (height, width)."""
        self._bitmaps.append((self._next_mask(), from_bitmap(pixels)))

    def _next_mask(self) -> int:
        self._kind.append(MASK)
        return len(self._masks) + len(self._counts) + len(self._bitmaps)

    def shapes(self) -> tuple[Shapes, NDArray[np.bool_]]:
        """All shapes and, for each, whether it can be used: false where counts do not fit."""
        kind = np.array(self._kind, np.uint8)
        masks, valid = self._all_masks()
        sound = np.ones(len(kind), np.bool_)
        sound[kind == MASK] = valid
        found = Shapes(
            kind,
            np.array(self._boxes, np.float64).reshape(-1, 4),
            np.array(self._rotated, np.float64).reshape(-1, 5),
            polygon_columns(self._polygons),
            masks,
        )
        return found, sound

    def _all_masks(self) -> tuple[Masks, NDArray[np.bool_]]:
        parts: list[Masks] = []
        valid: list[NDArray[np.bool_]] = []
        places: list[int] = []
        if self._masks:
            at, strings, frames = zip(*self._masks, strict=True)
            found, good = decoded(strings, np.array(frames, np.int64))
            parts, valid, places = [found], [good], [*at]
        if self._counts:
            at, counts, frames = zip(*self._counts, strict=True)
            found, good = from_counts(counts, np.array(frames, np.int64))
            parts.append(found)
            valid.append(good)
            places += at
        for place, mask in self._bitmaps:
            parts.append(mask)
            valid.append(np.ones(1, np.bool_))
            places.append(place)
        order = np.argsort(np.array(places, np.int64))
        return joined_masks(parts).take(order), np.concatenate([np.zeros(0, bool), *valid])[order]


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
