"""Convert polygons to and from shapely, repair them, and compute rotated box corners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import offsets, spread
from valor_cli.kernels.geometry.shapes import Floats, Ints, Polygons, joined_polygons

Geometries = NDArray[np.object_]
Bools = NDArray[np.bool_]

MOST_CROSSINGS = 2_000
"""Of the edges of one object that has to be repaired: the time for that grows with their square."""

MOST_MEETING = 30_000_000
"""Maximum number of pairs of edges of one object tried for crossings."""

_FEW = 60
"""Edges that cannot cross more often, whatever they do."""

_MANY = 7_000
"""Edges that may be more pairs than are looked at."""

_PAIRS_AT_ONCE = 1 << 22

POLYGON_TYPE = 3
"""What shapely calls a polygon of one part."""
FEWEST_POINTS = 3


class TooComplexError(ValueError):
    """Polygons that are too complex to compute; `rows` lists the objects."""

    def __init__(self, rows: Ints) -> None:
        super().__init__("too many of its edges cross, or lie beside each other, to find its area")
        self.rows = rows


def geometries(polygons: Polygons) -> Geometries:
    """(n,) valid shapely polygons: the union of each object's parts.

    A part is its outer ring less its holes. Where a ring crosses itself, what it goes round an odd
    number of times is inside, as when COCO's tools fill it (edges upon each other count once). An
    object without an area is empty.

    Raises:
        TooComplexError: Objects have edges that cross too often.
    """
    return _repaired(polygons)[0]


def repaired(polygons: Polygons) -> tuple[Polygons, Bools]:
    """Repaired polygons, and which were invalid.

    Returns:
        The polygons: those that cross themselves, or whose holes reach outside, as the same areas
        bounded by valid rings; those without an area as empty objects; overlapping parts united.
        And (n,) whether the rings of an object were not valid. Overlapping parts are.

    Raises:
        TooComplexError: Objects have edges that cross too often.
    """
    geometry, broken, united = _repaired(polygons)
    changed = np.flatnonzero(broken | united)
    if not len(changed):
        return polygons, broken
    place = np.arange(len(polygons))
    place[changed] = len(polygons) + np.arange(len(changed))
    both = joined_polygons([polygons, from_geometries(geometry[changed])])
    return both.take(place), broken


def from_geometries(geometry: Geometries) -> Polygons:
    """Polygons from (n,) shapely polygons or multipolygons; None and other types are empty."""
    import shapely

    parts, of_object = _areal(geometry)
    rings, of_part = shapely.get_rings(parts, return_index=True)
    points, of_ring = shapely.get_coordinates(rings, return_index=True)
    sizes = np.bincount(of_ring, minlength=len(rings))
    # The last point repeats the first one.
    repeated = np.cumsum(sizes) - 1
    return Polygons(
        np.delete(points, repeated, axis=0),
        offsets(sizes - 1),
        offsets(np.bincount(of_part, minlength=len(parts))),
        offsets(np.bincount(of_object, minlength=len(geometry))),
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
    """Drop rings of fewer than three points; a part without its outer ring is dropped."""
    enough = np.diff(polygons.rings) >= FEWEST_POINTS
    if enough.all() and (np.diff(polygons.parts) > 0).all():
        return polygons
    # Every part has its outer ring first.
    some = np.diff(polygons.parts) > 0
    some[some] = enough[polygons.parts[:-1][some]]
    rings = enough & np.repeat(some, np.diff(polygons.parts))
    sizes = np.diff(polygons.rings)[rings]
    kept = offsets(rings)
    parts = offsets(some)
    return Polygons(
        polygons.points[spread(polygons.rings[:-1][rings], sizes)],
        offsets(sizes),
        offsets(np.diff(kept[polygons.parts])[some]),
        parts[polygons.objects],
    )


def _repaired(polygons: Polygons) -> tuple[Geometries, Bools, Bools]:
    """Valid geometries; whether rings of an object were not; whether parts had to be united."""
    import shapely

    n = len(polygons)
    kept = without_short_rings(polygons)
    broken = np.diff(kept.starts) < np.diff(polygons.starts)
    of_object = np.repeat(np.arange(n), np.diff(kept.objects))
    _check_edges(kept, np.flatnonzero(np.diff(kept.starts) > _MANY), _meet_too_often)
    part, wrong = _valid_parts(kept)
    broken[of_object[wrong]] = True
    _check_edges(kept, np.unique(of_object[wrong]), _cross_too_often)
    _repair(part, wrong, kept)
    pieces, of_part = _areal(part)
    geometry = _collected(pieces, of_object[of_part], n)
    united = ~shapely.is_valid(geometry)
    _check_edges(kept, np.flatnonzero(united), _cross_too_often)
    geometry[united] = shapely.union_all(geometry[united, None], axis=1)
    return geometry, broken, united


def _valid_parts(polygons: Polygons) -> tuple[Geometries, Ints]:
    """Geometries of the parts, and which are not valid."""
    import shapely

    of_ring = np.repeat(np.arange(len(polygons.rings) - 1), np.diff(polygons.rings))
    of_part = np.repeat(np.arange(len(polygons.parts) - 1), np.diff(polygons.parts))
    if not len(of_part):
        return np.zeros(0, object), np.zeros(0, np.int64)
    rings = shapely.linearrings(polygons.points, indices=of_ring)
    part = np.asarray(shapely.polygons(rings, indices=of_part))
    return part, np.flatnonzero(~shapely.is_valid(part))


def _repair(part: Geometries, wrong: Ints, polygons: Polygons) -> None:
    """Put valid geometries in the place of parts that are not."""
    import shapely

    if not len(wrong):
        return
    sizes = np.diff(polygons.parts)[wrong]
    mine = spread(polygons.parts[wrong], sizes)
    lengths = np.diff(polygons.rings)[mine]
    points = polygons.points[spread(polygons.rings[:-1][mine], lengths)]
    rings = shapely.linearrings(points, indices=np.repeat(np.arange(len(mine)), lengths))
    area = shapely.make_valid(shapely.polygons(rings))
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


def _check_edges(polygons: Polygons, rows: Ints, too_often: Callable[[Floats], bool]) -> None:
    """Refuse objects, of some, that would take too long.

    Raises:
        TooComplexError: There are any.
    """
    starts = polygons.starts
    rows = rows[np.diff(starts)[rows] > _FEW]
    if not len(rows):
        return
    points = polygons.points
    after = np.arange(1, len(points) + 1)
    after[polygons.rings[1:] - 1] = polygons.rings[:-1]
    crowded = [
        row
        for row in rows.tolist()
        if too_often(
            np.stack([points[(mine := slice(*starts[row : row + 2]))], points[after[mine]]], axis=1)
        )
    ]
    if crowded:
        raise TooComplexError(np.array(crowded))


def _meet_too_often(edges: Floats) -> bool:
    """Whether so many of (n, 2, 2) edges lie beside each other that all pairs cannot be tried."""
    low, high = np.sort(edges.min(axis=1), axis=0), np.sort(edges.max(axis=1), axis=0)
    n = len(edges)
    pairs = [
        int(np.searchsorted(low[:, axis], high[:, axis], side="right").sum()) - n * (n + 1) // 2
        for axis in (0, 1)
    ]
    return min(pairs) > MOST_MEETING


def _cross_too_often(edges: Floats) -> bool:
    """Whether (n, 2, 2) edges cross each other more than `MOST_CROSSINGS` times."""
    import shapely

    lines = shapely.linestrings(edges)
    tree = shapely.STRtree(lines)
    step = max(_PAIRS_AT_ONCE // len(lines), 1)
    # An edge meets itself and those before and behind it.
    left = 2 * MOST_CROSSINGS
    for start in range(0, len(lines), step):
        some = lines[start : start + step]
        left -= tree.query(some, predicate="intersects").shape[1] - 3 * len(some)
        if left < 0:
            return True
    return False


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
