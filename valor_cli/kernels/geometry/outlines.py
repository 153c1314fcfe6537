"""Trace masks as polygons, and simplify polygons for drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import blocks, offsets, spread
from valor_cli.kernels.geometry.masks import Runs
from valor_cli.kernels.geometry.polygons import from_geometries, geometries
from valor_cli.kernels.geometry.shapes import Floats, Ints, Masks, Polygons, joined_polygons

Bools = NDArray[np.bool_]

RUNS_AT_ONCE = 1 << 17
"""Runs whose columns are held together."""


def outlines(masks: Masks) -> Polygons:
    """Exact, valid, axis-aligned polygons of masks.

    Pixels that meet at a corner alone are of different parts.
    """
    starts = masks.starts
    parts: list[Polygons] = []
    for block in blocks(np.diff(starts), RUNS_AT_ONCE):
        parts.append(_outlines(masks.take(np.arange(block.start, block.stop))))
    return joined_polygons(parts)


def simplified(polygons: Polygons, tolerance: float) -> Polygons:
    """Polygons with fewer points, all within `tolerance` pixels; parts stay disjoint."""
    import shapely

    return from_geometries(
        shapely.simplify(geometries(polygons), tolerance, preserve_topology=True)
    )


class _Strips(NamedTuple):
    """Foreground within a column, in order: the line it is on, and its ends.

    Lines are the left edges of all columns of all masks and the right edge of each last one.
    """

    line: Ints
    top: Ints
    bottom: Ints


class _Corners(NamedTuple):
    """Corners sorted by line, then y; of two at one point, the end of a strip is first.

    Attributes:
        line, y: Where they are.
        begins: Whether a strip begins there, rather than ends.
        right: Whether that strip is in the column right of the line.
    """

    line: Ints
    y: Ints
    begins: Bools
    right: Bools


def _outlines(masks: Masks) -> Polygons:
    lines = offsets(masks.size[:, 1] + 1)
    tall = int(masks.size[:, 0].max()) + 2
    strips = _strips(masks, lines)
    corners = _corners(strips, tall)
    owner = np.searchsorted(lines, corners.line, side="right") - 1
    across = _across(corners, owner, lines, tall)
    following = _following(corners, across)
    ring = _smallest(following)
    # A ring that meets itself in a point is two rings. Which of its pairs go together depends on
    # nothing but the pair, because the pairs of a ring do not cross.
    twice = np.flatnonzero((np.diff(corners.line) == 0) & (np.diff(corners.y) == 0))
    twice = twice[ring[twice] == ring[twice + 1]]
    if len(twice):
        place = np.empty(len(across), np.int64)
        place[across] = np.arange(len(across))
        across[place[twice]], across[place[twice + 1]] = twice + 1, twice
        following = _following(corners, across)
        ring = _smallest(following)
    order = _along(following, ring)
    leaders, sizes = np.unique(ring, return_counts=True)
    ring = np.searchsorted(leaders, ring)
    starts = offsets(sizes)
    points = np.column_stack([corners.line - lines[owner], corners.y])[order]
    hole = _turning(points, starts) > 0
    heights = _key(corners.line, corners.y, owner, lines, tall)[across]
    _, top = np.unique(ring[across], return_index=True)
    above = _above(strips, corners, across[top], tall)
    edge = np.searchsorted(
        heights[0::2], _key(corners.line[across[top]], above, owner[leaders], lines, tall), "right"
    )
    outer = np.where(hole, ring[across[0::2]][edge - 1], np.arange(len(hole)))
    while hole[outer].any():
        outer = outer[outer]
    return _assembled(points.astype(np.float64), starts, outer, owner[leaders], len(masks))


def _strips(masks: Masks, lines: Ints) -> _Strips:
    runs = Runs(masks)
    owner = np.repeat(np.arange(len(masks)), np.diff(runs.starts))
    # Runs with nothing between them are one.
    apart = np.ones(len(owner) + 1, bool)
    apart[1:-1] = (runs.begin[1:] > runs.end[:-1]) | (owner[1:] > owner[:-1])
    owner = owner[apart[:-1]]
    begin = runs.begin[apart[:-1]] - runs.offset[owner]
    end = runs.end[apart[1:]] - runs.offset[owner]
    height = masks.size[owner, 0]
    first = begin // height
    columns = (end - 1) // height - first + 1
    column = spread(first, columns)
    run = np.repeat(np.arange(len(owner)), columns)
    floor = column * height[run]
    return _Strips(
        lines[owner][run] + column,
        np.maximum(begin[run] - floor, 0),
        np.minimum(end[run] - floor, height[run]),
    )


def _corners(strips: _Strips, tall: int) -> _Corners:
    """The ends of strips on both sides of a line, less those that go on on the other side."""
    n = len(strips.line)
    line = np.concatenate([strips.line, strips.line, strips.line + 1, strips.line + 1])
    y = np.concatenate([strips.top, strips.bottom, strips.top, strips.bottom])
    begins = np.tile(np.repeat([1, 0], n), 2)
    right = np.repeat([1, 0], 2 * n)
    key = np.sort((((line * tall) + y) * 2 + begins) * 2 + right)
    place = key >> 1
    same = place[1:] == place[:-1]
    both = np.zeros(len(key), bool)
    both[:-1] |= same
    both[1:] |= same
    key = key[~both]
    line, y = np.divmod(key >> 2, tall)
    return _Corners(line, y, (key & 2) > 0, (key & 1) > 0)


def _across(corners: _Corners, owner: Ints, lines: Ints, tall: int) -> Ints:
    """Corners by mask, then y, then line: two after two are the ends of horizontal edges.

    Of two in one point, each goes to the side of its strip.
    """
    return np.argsort(_key(corners.line, corners.y, owner, lines, tall) * 2 + corners.right)


def _key(line: Ints, y: Ints, owner: Ints, lines: Ints, tall: int) -> Ints:
    """Numbers that order points by mask, then y, then line."""
    width = np.diff(lines)[owner]
    return lines[owner] * tall + y * width + (line - lines[owner])


def _following(corners: _Corners, across: Ints) -> Ints:
    """The corner after each one, along edges with the foreground always on the same side."""
    n = len(across)
    beside = np.empty(n, np.int64)
    beside[across] = across[np.arange(n) ^ 1]
    number = np.arange(n)
    # Vertical edges are two corners after two. Down where the foreground is right of them.
    down = (corners.right == corners.begins)[number & ~1]
    leaves = down == (number % 2 == 0)
    return np.where(leaves, number ^ 1, beside)


def _smallest(following: Ints) -> Ints:
    """The smallest number on the ring of each corner."""
    smallest = np.arange(len(following))
    ahead = following
    while (smallest[following] != smallest).any():
        smallest = np.minimum(smallest, smallest[ahead])
        ahead = ahead[ahead]
    return smallest


def _along(following: Ints, ring: Ints) -> Ints:
    """Corners ring by ring, in the order of each ring, from its smallest number on."""
    number = np.arange(len(following))
    leads = ring == number
    ahead = np.where(leads, number, following)
    left = (~leads).astype(np.int64)
    while (ahead != ring).any():
        left += left[ahead]
        ahead = ahead[ahead]
    left[leads] = len(following)
    return np.lexsort((-left, ring))


def _turning(points: Ints, starts: Ints) -> Ints:
    """Twice the area of each ring, negative for those around foreground."""
    if not len(points):
        return np.zeros(0, np.int64)
    after = np.arange(1, len(points) + 1)
    after[starts[1:] - 1] = starts[:-1]
    cross = points[:, 0] * points[after, 1] - points[after, 0] * points[:, 1]
    return np.asarray(np.add.reduceat(cross, starts[:-1]))


def _above(strips: _Strips, corners: _Corners, corner: Ints, tall: int) -> Ints:
    """Where the strip begins that ends at, or goes past, the top of each ring in its column."""
    key = corners.line[corner] * tall + corners.y[corner]
    strip = np.searchsorted(strips.line * tall + strips.top, key, side="left") - 1
    return strips.top[strip]


def _assembled(points: Floats, starts: Ints, outer: Ints, owner: Ints, n: int) -> Polygons:
    """Polygons of n masks from rings, the ring around each (itself if none), and their masks."""
    number = np.arange(len(outer))
    order = np.lexsort((outer != number, outer))
    sizes = np.diff(starts)[order]
    around, rings = np.unique(outer, return_counts=True)
    return Polygons(
        points[spread(starts[order], sizes)],
        offsets(sizes),
        offsets(rings),
        offsets(np.bincount(owner[around], minlength=n)),
    )
