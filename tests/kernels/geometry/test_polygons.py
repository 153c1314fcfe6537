"""Polygons as geometries of shapely and mended; corners of rotated boxes. Worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from tests.oracles.coco_masks import coco_annotations, polygons_of
from valor_cli.kernels.geometry.polygons import (
    TooComplexError,
    corners,
    directions,
    from_geometries,
    geometries,
    repaired,
    without_short_rings,
)
from valor_cli.kernels.geometry.shapes import Polygons

SQUARE = [0, 0, 4, 0, 4, 4, 0, 4]
HOLE = [1, 1, 2, 1, 2, 2, 1, 2]
SHIFTED = [2, 2, 6, 2, 6, 6, 2, 6]
FAR = [10, 10, 11, 10, 11, 11, 10, 11]
BOW_TIE = [0, 0, 4, 4, 4, 0, 0, 4]
"""Two triangles of area 4 that meet in 2, 2; its signed area is 0."""


def areas(polygons: Polygons) -> list[float]:
    return shapely.area(geometries(polygons)).tolist()


def test_parts_and_holes() -> None:
    # 16; 16 - 1; 16 and 1 apart; 16 and 16 that share 2x2, united.
    objects = [[[SQUARE]], [[SQUARE, HOLE]], [[SQUARE], [FAR]], [[SQUARE], [SHIFTED]]]
    assert areas(polygons_of(objects)) == [16, 15, 17, 28]
    # A hole takes from its own part alone: 2, 2 to 4, 4 is covered by the other one.
    middle = [1, 1, 3, 1, 3, 3, 1, 3]
    assert areas(polygons_of([[[SQUARE, middle], [SHIFTED]]])) == [16 - 4 + 16 - 4 + 1]


def test_rings_that_cross_themselves() -> None:
    # Once round the square and once round 1, 1 to 3, 3 in it, there and back by the diagonal:
    # what it goes round twice is outside, as when it is filled.
    twice = [*SQUARE, 0, 0, 1, 1, 3, 1, 3, 3, 1, 3, 1, 1]
    assert areas(polygons_of([[[BOW_TIE]], [[twice]]])) == [8, 12]


def test_holes_that_reach_outside_take_what_is_inside() -> None:
    # 2, 2 to 6, 6 takes 2x2 of the square; one that lies outside takes nothing.
    assert areas(polygons_of([[[SQUARE, SHIFTED]], [[SQUARE, FAR]]])) == [12, 16]


def test_what_has_no_area_is_empty() -> None:
    objects = [[[[0, 0, 4, 4]]], [[[0, 0, 2, 2, 4, 4]]], [], [[[1, 1, 1, 1, 1, 1]]], [[SQUARE]]]
    assert areas(polygons_of(objects)) == [0, 0, 0, 0, 16]
    polygons, broken = repaired(polygons_of(objects))
    assert broken.tolist() == [True, True, False, True, False]
    assert np.diff(polygons.objects).tolist() == [0, 0, 0, 0, 1]
    assert areas(polygons_of([[], []])) == [0, 0]
    assert len(geometries(Polygons.none())) == 0


def test_mended() -> None:
    objects = [[[SQUARE, HOLE]], [[BOW_TIE]], [[SQUARE], [SHIFTED]], [[SQUARE], [BOW_TIE]]]
    polygons, broken = repaired(polygons_of(objects))
    assert broken.tolist() == [False, True, False, True]
    assert np.diff(polygons.objects).tolist() == [1, 2, 1, 1]
    assert polygons.points[:8].ravel().tolist() == SQUARE + HOLE
    again, still = repaired(polygons)
    assert again is polygons
    assert not still.any()
    assert areas(polygons) == [15, 8, 28, 16]


def test_random_rings_are_filled_by_the_even_odd_rule() -> None:
    # A ray to the right of a point inside crosses the ring an odd number of times.
    rng = np.random.default_rng(1)
    rings = [rng.uniform(0, 12, (rng.integers(3, 12), 2)) for _ in range(200)]
    polygons = polygons_of([[[ring.ravel().tolist()]] for ring in rings])
    found = geometries(polygons)
    assert shapely.is_valid(found).all()
    points = rng.uniform(0, 12, (300, 2))
    for ring, geometry in zip(rings, found, strict=True):
        a, b = ring[:, None], np.roll(ring, -1, axis=0)[:, None]
        spans = (a[..., 1] > points[:, 1]) != (b[..., 1] > points[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (points[:, 1] - a[..., 1]) / (b[..., 1] - a[..., 1])
            x = a[..., 0] + part * (b[..., 0] - a[..., 0])
        inside = (spans & (points[:, 0] < x)).sum(axis=0) % 2 == 1
        assert (shapely.contains_xy(geometry, points[:, 0], points[:, 1]) == inside).all()


def test_geometries_there_and_back() -> None:
    segments = [one["segmentation"] for one, _ in coco_annotations() if not one["iscrowd"]]
    polygons, _ = repaired(polygons_of([[[ring] for ring in rings] for rings in segments]))
    back = from_geometries(geometries(polygons))
    for name in ("points", "rings", "parts", "objects"):
        assert (getattr(back, name) == getattr(polygons, name)).all()


def test_geometries_that_are_no_polygons_are_empty() -> None:
    mixed = np.array(
        [
            None,
            shapely.Point(0, 0),
            shapely.Polygon(),
            shapely.GeometryCollection(
                [shapely.Point(0, 0), shapely.MultiPolygon([shapely.box(0, 0, 1, 1)])]
            ),
        ]
    )
    polygons = from_geometries(mixed)
    assert polygons.objects.tolist() == [0, 0, 0, 0, 1]
    assert len(polygons.points) == 4


def test_short_rings_go_and_outer_ones_take_their_holes_along() -> None:
    point = [5, 5]
    objects = [[[SQUARE, point, HOLE]], [[point, HOLE], [FAR]], [[point]], []]
    polygons = without_short_rings(polygons_of(objects))
    expected = polygons_of([[[SQUARE, HOLE]], [[FAR]], [], []])
    for name in ("points", "rings", "parts", "objects"):
        assert getattr(polygons, name).tolist() == getattr(expected, name).tolist()


def test_corners_by_hand() -> None:
    # 4 wide and 2 high around 10, 20; a quarter turn of x towards y takes 2, 1 to -1, 2.
    found = corners(np.array([[10, 20, 4, 2, 0], [10, 20, 4, 2, 90], [10, 20, 4, 2, -450]]))
    assert found[0].tolist() == [[8, 19], [12, 19], [12, 21], [8, 21]]
    assert found[1].tolist() == [[11, 18], [11, 22], [9, 22], [9, 18]]
    assert found[2].tolist() == [[9, 22], [9, 18], [11, 18], [11, 22]]
    # Along the diagonal: half the width of 2 * sqrt(2) goes 1 right and 1 down.
    slanted = corners(np.array([[0, 0, 8**0.5, 0, 45]]))[0]
    assert slanted == pytest.approx(np.array([[-1, -1], [1, 1], [1, 1], [-1, -1]]))


def test_directions_are_exact_for_quarter_turns() -> None:
    cosine, sine = directions(np.array([0.0, 90, 180, 270, 360, -90, -630]))
    assert cosine.tolist() == [1, 0, -1, 0, 1, 0, 0]
    assert sine.tolist() == [0, 1, 0, -1, 0, -1, 1]
    angle = np.linspace(-1000, 1000, 777)
    cosine, sine = directions(angle)
    assert cosine == pytest.approx(np.cos(np.deg2rad(angle)), abs=1e-13)
    assert sine == pytest.approx(np.sin(np.deg2rad(angle)), abs=1e-13)


def crossings(times: int) -> list[float]:
    """A polygon of a comb that a second one crosses `times` x `times` times."""
    ends = [(0, times + 1), (times + 1, 0)]
    points = [(at + 1, end) for at in range(times) for end in ends[at % 2]]
    points += [(end, at + 1) for at in range(times) for end in ends[at % 2]]
    return [float(side) for point in points for side in point]


def test_polygons_that_cross_too_often_are_refused_and_named() -> None:
    objects = [[[SQUARE]], [[crossings(50)]], [[BOW_TIE]], [[crossings(60)]]]
    with pytest.raises(TooComplexError) as caught:
        repaired(polygons_of(objects))
    assert caught.value.rows.tolist() == [1, 3]
    # Parts that are valid cross each other too.
    both = crossings(100)
    upright, lying = both[: len(both) // 2], both[len(both) // 2 :]
    combs = [[[*upright, -9.0, 200.0]], [[*lying, 200.0, -9.0]]]
    with pytest.raises(TooComplexError):
        geometries(polygons_of([combs]))


def test_polygons_that_cross_often_enough_are_mended_as_ever() -> None:
    # 30 x 30 crossings; the areas inside are what an even-odd fill has.
    polygons = polygons_of([[[crossings(30)]]])
    (expected,) = shapely.make_valid(shapely.polygons([polygons.points]))
    assert areas(polygons) == [pytest.approx(shapely.area(expected), abs=1e-9)]


def test_many_points_alone_are_no_reason() -> None:
    turn = np.arange(200_000) * 2 * np.pi / 200_000
    circle = np.column_stack([np.cos(turn), np.sin(turn)]).ravel().tolist()
    many = polygons_of([[[[0, 0, *circle]]]])
    assert areas(many) == [pytest.approx(np.pi, abs=0.01)]


def test_edges_that_all_lie_beside_each_other_are_not_tried() -> None:
    # A valid comb of diagonals: every pair of edges may cross.
    side = np.linspace(0, 1, 10_000)
    top, bottom = np.column_stack([side + 1, side * 0 + 1]), np.column_stack([side, side * 0])
    turns = np.stack([np.where([[at % 2] for at in range(10_000)], top, bottom)] * 2, axis=1)
    turns[:, 1] = np.where([[at % 2] for at in range(10_000)], bottom, top)
    with pytest.raises(TooComplexError):
        geometries(polygons_of([[[turns.ravel().tolist()]]]))
