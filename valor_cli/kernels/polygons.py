"""Polygons: as geometries of shapely, mended, and from geometries; corners of rotated boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns import spread
from valor_cli.kernels.shapes import Floats, Ints, Polygons, joined_polygons

Geometries = NDArray[np.object_]
Bools = NDArray[np.bool_]

POLYGON_TYPE = 3
"""What shapely calls a polygon of one part."""
FEWEST_POINTS = 3


def geometries(polygons: Polygons) -> Geometries:
    """(n,) valid polygons or multipolygons of shapely: the union of the parts of each object.

    A part is its outer ring less its holes. Where a ring crosses itself, what it goes round an odd
    number of times is inside, as when COCO's tools fill it (edges upon each other count once). An
    object without an area is empty.
    """
    return _mended(polygons)[0]


def mended(polygons: Polygons) -> tuple[Polygons, Bools]:
    """Polygons that are valid, and which were not.

    Returns:
        The polygons: those that cross themselves, or whose holes reach outside, as the same areas
        bounded by valid rings; those without an area as empty objects; overlapping parts united.
        And (n,) whether the rings of an object were not valid. Overlapping parts are.
    """
    geometry, broken, united = _mended(polygons)
    changed = np.flatnonzero(broken | united)
    if not len(changed):
        return polygons, broken
    place = np.arange(len(polygons))
    place[changed] = len(polygons) + np.arange(len(changed))
    both = joined_polygons([polygons, from_geometries(geometry[changed])])
    return both.take(place), broken


def from_geometries(geometry: Geometries) -> Polygons:
    """Polygons from (n,) polygons or multipolygons of shapely; None and other types are empty."""
    import shapely

    parts, of_object = _areal(geometry)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    points, of_ring = shapely.get_coordinates(rings, return_index=True)
    sizes = np.bincount(of_ring, minlength=len(rings))
    # The last point repeats the first one.
    repeated = np.cumsum(sizes) - 1
    return Polygons(
        np.delete(points, repeated, axis=0),
        _starts(sizes - 1),
        _starts(np.bincount(of_part, minlength=len(parts))),
        _starts(np.bincount(of_object, minlength=len(geometry))),
    )


def directions(angle: Floats) -> tuple[Floats, Floats]:
    """Cosine and sine of angles in degrees, exact for quarter turns."""
    quarter = np.rint(angle / 90)
    rest = np.deg2rad(angle - 90 * quarter)
    cosine, sine = np.cos(rest), np.sin(rest)
    turn = quarter.astype(np.int64) % 4
    return (
        np.choose(turn, [cosine, -sine, -cosine, sine]),
        np.choose(turn, [sine, cosine, -sine, -cosine]),
    )


def corners(rotated_box: Floats) -> Floats:
    """(n, 4, 2) corners of (n, 5) rotated boxes.

    The angle turns x towards y. At angle 0 the corners are left top, right top, right bottom, left
    bottom, where y points down.
    """
    x, y, width, height, angle = (column[:, None] for column in rotated_box.T)
    cosine, sine = directions(angle)
    along = width / 2 * np.array([-1.0, 1.0, 1.0, -1.0])
    across = height / 2 * np.array([-1.0, -1.0, 1.0, 1.0])
    return np.stack(
        [x + (along * cosine - across * sine), y + (along * sine + across * cosine)], axis=2
    )


def without_short_rings(polygons: Polygons) -> Polygons:
    """Polygons less the rings of fewer than three points; without its outer ring goes a part."""
    enough = np.diff(polygons.rings) >= FEWEST_POINTS
    if enough.all() and (np.diff(polygons.parts) > 0).all():
        return polygons
    # Every part has its outer ring first.
    some = np.diff(polygons.parts) > 0
    some[some] = enough[polygons.parts[:-1][some]]
    rings = enough & np.repeat(some, np.diff(polygons.parts))
    sizes = np.diff(polygons.rings)[rings]
    kept = np.concatenate([[0], np.cumsum(rings)])
    parts = np.concatenate([[0], np.cumsum(some)])
    return Polygons(
        polygons.points[spread(polygons.rings[:-1][rings], sizes)],
        _starts(sizes),
        _starts(np.diff(kept[polygons.parts])[some]),
        parts[polygons.objects],
    )


def _mended(polygons: Polygons) -> tuple[Geometries, Bools, Bools]:
    """Valid geometries; whether rings of an object were not; whether parts had to be united."""
    import shapely

    n = len(polygons)
    kept = without_short_rings(polygons)
    broken = _points(kept) < _points(polygons)
    of_object = np.repeat(np.arange(n), np.diff(kept.objects))
    part, wrong = _parts(kept)
    broken[of_object[wrong]] = True
    pieces, of_part = _areal(part)
    geometry = _collected(pieces, of_object[of_part], n)
    united = ~shapely.is_valid(geometry)
    geometry[united] = shapely.union_all(geometry[united, None], axis=1)
    return geometry, broken, united


def _parts(polygons: Polygons) -> tuple[Geometries, Ints]:
    """Valid geometries of the parts, and which had to be mended."""
    import shapely

    of_ring = np.repeat(np.arange(len(polygons.rings) - 1), np.diff(polygons.rings))
    of_part = np.repeat(np.arange(len(polygons.parts) - 1), np.diff(polygons.parts))
    if not len(of_part):
        return np.zeros(0, object), np.zeros(0, np.int64)
    rings = shapely.linearrings(polygons.points, indices=of_ring)
    part = np.asarray(shapely.polygons(rings, indices=of_part))
    wrong = np.flatnonzero(~shapely.is_valid(part))
    if len(wrong):
        sizes = np.diff(polygons.parts)[wrong]
        mine = spread(polygons.parts[wrong], sizes)
        area = shapely.make_valid(shapely.polygons(rings[mine]))
        outer = np.cumsum(sizes) - sizes
        hole = np.ones(len(mine), bool)
        hole[outer] = False
        pieces, of_hole = _areal(area[hole])
        owner = np.repeat(np.arange(len(wrong)), sizes)[hole]
        holes = _collected(pieces, owner[of_hole], len(wrong))
        filled, of_outer = _areal(area[outer])
        part[wrong] = shapely.difference(
            _collected(filled, of_outer, len(wrong)), shapely.union_all(holes[:, None], axis=1)
        )
    return part, wrong


def _areal(geometry: Geometries) -> tuple[Geometries, Ints]:
    """The polygons of one part in geometries of any type, and of which each is."""
    import shapely

    pieces, owner = shapely.get_parts(geometry, return_index=True)
    # A collection may hold multipolygons.
    pieces, inner = shapely.get_parts(pieces, return_index=True)
    areal = (shapely.get_type_id(pieces) == POLYGON_TYPE) & ~shapely.is_empty(pieces)
    return pieces[areal], owner[inner][areal]


def _collected(pieces: Geometries, owner: Ints, n: int) -> Geometries:
    """(n,) geometries of the pieces of each owner, which ascend; empty without any."""
    import shapely

    geometry: NDArray[Any] = np.full(n, shapely.Polygon(), object)
    counts = np.bincount(owner, minlength=n)
    alone = counts[owner] == 1
    geometry[owner[alone]] = pieces[alone]
    several, place = np.unique(owner[~alone], return_inverse=True)
    if len(several):
        geometry[several] = shapely.multipolygons(pieces[~alone], indices=place)
    return geometry


def _points(polygons: Polygons) -> Ints:
    """(n,) how many points each object has."""
    return np.diff(polygons.rings[polygons.parts[polygons.objects]])


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)])
