"""Areas, bounds and conversions of shapes, by hand; masks of them against pycocotools."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from tests.engines import by_both, kernel, needs_kernel
from tests.oracles.coco_masks import (
    assert_same_masks,
    bitmaps,
    coco_annotations,
    masks_of,
    pixels_of,
    polygons_of,
    reference_rles,
)
from valor_cli.kernels.geometry.conversion import areas, bounds, converted
from valor_cli.kernels.geometry.polygons import corners
from valor_cli.kernels.geometry.raster import raster_boxes, raster_polygons
from valor_cli.kernels.geometry.rle import encoded
from valor_cli.kernels.geometry.shapes import KINDS, Masks, Polygons, Shapes, joined

UNKNOWN = np.zeros((1, 2), np.int64)
COORDINATES = [-1e5, -7.5, -0.7, -0.5, -0.1, 0.0, 0.1, 0.5, 0.9, 1.0, 2.5, 4.3, 6.0, 9.9, 12.0, 1e5]


def rings_of(polygons: Polygons) -> list[list[float]]:
    return [ring.ravel().tolist() for ring in np.split(polygons.points, polygons.rings[1:-1])]


def mixed() -> Shapes:
    """A mask, a box, a polygon, a rotated box and a box again."""
    corner = masks_of([np.array([[True, False, False], [True, True, False]])])
    triangle = polygons_of([[[[0, 0, 4, 0, 0, 4]]]])
    return joined(
        [
            Shapes.masks(corner),
            Shapes.boxes(np.array([[1.0, 2, 3, 4]])),
            Shapes.polygons(triangle),
            Shapes.rotated_boxes(np.array([[5.0, 5, 4, 2, 90]])),
            Shapes.boxes(np.array([[0.5, 0, 2, 1]])),
        ]
    )


def test_areas_and_bounds_by_hand() -> None:
    shapes = mixed()
    assert areas(shapes).tolist() == [3, 12, 8, 8, 2]
    assert bounds(shapes).tolist() == [
        [0, 0, 2, 2],
        [1, 2, 3, 4],
        [0, 0, 4, 4],
        [4, 3, 2, 4],
        [0.5, 0, 2, 1],
    ]


def test_areas_unite_parts_and_take_holes_out() -> None:
    square, hole = [0, 0, 4, 0, 4, 4, 0, 4], [1, 1, 2, 1, 2, 2, 1, 2]
    shifted = [2, 0, 6, 0, 6, 4, 2, 4]
    shapes = Shapes.polygons(polygons_of([[[square, hole], [shifted]], [[[1, 1, 2, 2]]], []]))
    assert areas(shapes).tolist() == [6 * 4 - 1, 0, 0]
    assert bounds(shapes).tolist() == [[0, 0, 6, 4], [1, 1, 1, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_becomes_one_kind_in_its_order(kind: str) -> None:
    sizes = np.array([[2, 3], [9, 9], [9, 9], [9, 9], [9, 9]])
    found = converted(mixed(), kind, sizes)
    assert found.kinds == (kind,)
    assert (
        areas(found).tolist()
        == {
            "box": [4, 12, 16, 8, 2],
            # The smallest box around three pixels in a corner is as large as their bounds; around a
            # triangle with two sides of 4, as their square.
            "rotated_box": pytest.approx([4, 12, 16, 8, 2]),
            "polygon": [3, 12, 8, 8, 2],
            # The reference has a box from 0.5 to 2.5 as pixels 1 and 2, and of the triangle the
            # pixels above its long side: 3 + 2 + 1.
            "mask": [3, 12, 6, 8, 2],
        }[kind]
    )


def test_shapes_of_the_kind_wanted_are_left_alone() -> None:
    boxes = Shapes.boxes(np.zeros((1, 4)))
    assert converted(boxes, "box", UNKNOWN) is boxes
    none = Shapes.boxes(np.zeros((0, 4)))
    assert len(converted(none, "mask", np.zeros((0, 2), np.int64))) == 0


def test_boxes_become_more_detailed_exactly() -> None:
    box = Shapes.boxes(np.array([[1.0, 2, 3, 4]]))
    assert converted(box, "rotated_box", UNKNOWN).rotated_box.tolist() == [[2.5, 4, 3, 4, 0]]
    assert rings_of(converted(box, "polygon", UNKNOWN).polygon) == [[1, 2, 4, 2, 4, 6, 1, 6]]
    rotated = Shapes.rotated_boxes(np.array([[5.0, 5, 4, 2, 90]]))
    assert rings_of(converted(rotated, "polygon", UNKNOWN).polygon) == [[6, 3, 6, 7, 4, 7, 4, 3]]


def test_masks_become_their_outline() -> None:
    found = converted(mixed().take(np.array([0])), "polygon", UNKNOWN).polygon
    expected = shapely.Polygon([(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (0, 2)])
    assert shapely.equals(shapely.Polygon(found.points), expected)


def test_rotated_boxes_around_polygons() -> None:
    rng = np.random.default_rng(1)
    rotated = np.column_stack(
        [rng.uniform(0, 100, (50, 2)), rng.uniform(5, 60, (50, 2)), rng.uniform(-44.9, 44.9, 50)]
    )
    rings = [[[ring.ravel().tolist()]] for ring in corners(rotated)]
    found = converted(Shapes.polygons(polygons_of(rings)), "rotated_box", np.zeros((50, 2), int))
    assert found.rotated_box == pytest.approx(rotated, abs=1e-9)


def test_rotated_boxes_around_the_empty_and_the_flat() -> None:
    flat = polygons_of([[], [[[1, 1, 5, 3]]], [[[2, 2, 2, 2, 2, 2]]], [[[0, 0, 4, 0, 0, 4]]]])
    found = converted(Shapes.polygons(flat), "rotated_box", np.zeros((4, 2), int)).rotated_box
    assert found[:3].tolist() == [[0] * 5, [3, 2, 0, 0, 0], [2, 2, 0, 0, 0]]
    assert found[3, 2] * found[3, 3] == pytest.approx(16)


def test_rotated_boxes_around_masks() -> None:
    # A staircase of 5 pixels: around it, no box is smaller than the one along the diagonal. From
    # 0, 0 to 5, 5 it is 5 * sqrt(2) long, and from 1, 0 to 0, 1, sqrt(2) wide.
    found = converted(Shapes.masks(masks_of([np.eye(5, dtype=bool)])), "rotated_box", UNKNOWN)
    x, y, width, height, angle = found.rotated_box[0].tolist()
    assert (x, y) == pytest.approx((2.5, 2.5))
    assert sorted([width, height]) == pytest.approx([2**0.5, 5 * 2**0.5])
    assert angle == pytest.approx(45 if width > height else -45)


def drawn(rings: list[list[float]], sizes: np.ndarray) -> Masks:
    """Masks of single rings, the same of both engines, and those of pycocotools."""
    polygons = polygons_of([[[ring]] for ring in rings])
    mine, other = by_both(lambda: raster_polygons(polygons, sizes))
    assert_same_masks(mine, other)
    assert encoded(mine) == [
        coco.frPyObjects([ring], height, width)[0]["counts"].decode()
        for ring, (height, width) in zip(rings, sizes.tolist(), strict=True)
    ]
    return mine


def test_real_rings_are_drawn_as_the_reference_does() -> None:
    rings, sizes = [], []
    for annotation, size in coco_annotations():
        if isinstance(annotation["segmentation"], list):
            rings += annotation["segmentation"]
            sizes += [size] * len(annotation["segmentation"])
    assert len(rings) > 500
    drawn(rings, np.array(sizes))


@pytest.mark.parametrize("scale", [1.0, 40.0, 3000.0])
@pytest.mark.parametrize("step", [0.0, 0.1, 0.5, 1.0])
def test_random_rings_are_drawn_as_the_reference_does(scale: float, step: float) -> None:
    rng = np.random.default_rng(6)
    rings, sizes = [], []
    for _ in range(300 if scale < 100 else 60):
        points = rng.normal(scale / 2, scale, (rng.integers(3, 9), 2))
        if step:
            points = np.round(points / step) * step
        if rng.random() < 0.3:
            points = np.repeat(points, rng.integers(1, 3, len(points)), axis=0)
        rings.append(points.ravel().tolist())
        sizes.append(rng.integers(1, 2 + int(scale * rng.choice([0.3, 1, 2])), 2))
    drawn(rings, np.array(sizes))


@given(
    st.lists(st.sampled_from(COORDINATES) | st.floats(-3, 15, width=32), min_size=6, max_size=24),
    st.integers(1, 13),
    st.integers(1, 13),
)
def test_any_ring(numbers: list[float], height: int, width: int) -> None:
    drawn([numbers[: len(numbers) // 2 * 2]], np.array([[height, width]]))


def test_an_outline_that_crosses_a_column_often() -> None:
    # 400 edges to and fro: more crossings than are sorted by insertion.
    number = np.arange(400)
    ring = np.column_stack([np.where(number % 2, 1.3, 9.0), number * 0.7]).ravel().tolist()
    drawn([ring, ring], np.array([[300, 10], [90, 4]]))


@pytest.mark.parametrize("seed", range(2))
def test_parts_and_holes_are_filled_as_the_reference_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objects, sizes, expected = [], [], []
    for _ in range(150):
        size = (int(rng.integers(1, 25)), int(rng.integers(1, 25)))
        parts = [
            [
                rng.uniform(-5, 30, 2 * rng.integers(3, 8)).tolist()
                for _ in range(rng.integers(1, 4))
            ]
            for _ in range(rng.integers(0, 4))
        ]
        pixels = np.zeros(size, bool)
        for part in parts:
            outer, *holes = (pixels_of(coco.frPyObjects([ring], *size)[0]) for ring in part)
            pixels |= outer & ~np.any([np.zeros(size, bool), *holes], axis=0)
        objects.append(parts)
        sizes.append(size)
        expected.append(pixels)
    shapes = Shapes.polygons(polygons_of(objects))
    for found in by_both(lambda: converted(shapes, "mask", np.array(sizes)).mask):
        assert encoded(found) == [one["counts"].decode() for one in reference_rles(expected)]
        assert all((a == b).all() for a, b in zip(bitmaps(found), expected, strict=True))


def test_rings_of_too_few_points_are_the_same_to_both_engines() -> None:
    rng = np.random.default_rng(7)
    objects = [
        [
            [rng.uniform(-3, 33, 2 * rng.integers(2, 6)).tolist() for _ in range(2)]
            for _ in range(rng.integers(1, 4))
        ]
        for _ in range(100)
    ]
    sizes = np.tile([30, 25], (100, 1))
    assert_same_masks(*by_both(lambda: raster_polygons(polygons_of(objects), sizes)))


def test_boxes_are_drawn_as_the_reference_does() -> None:
    rng = np.random.default_rng(8)
    near = [rng.uniform(-5, 40, (300, 4)), np.round(rng.uniform(-5, 40, (300, 4)))]
    box = np.vstack([*near, rng.choice(COORDINATES, (60, 4)), [[3, 3, -2, -2]]])
    sizes = rng.integers(1, 40, (len(box), 2))
    expected = [
        coco.frPyObjects(one[None], *size)[0]["counts"].decode()
        for one, size in zip(box, sizes.tolist(), strict=True)
    ]
    for found in by_both(lambda: converted(Shapes.boxes(box), "mask", sizes).mask):
        assert encoded(found) == expected
    far = np.array([[-1e300, -1e300, 2e300, 2e300], [3, 3, 1e300, 1]])
    assert_same_masks(*by_both(lambda: raster_boxes(far, sizes[:2])))


@pytest.mark.parametrize("size", [(1 << 20, 3), (3, 1 << 20), ((1 << 20) + 1, 3), (3, 1 << 21)])
def test_images_with_a_long_side(size: tuple[int, int]) -> None:
    ring = polygons_of([[[[0, 0, 0, 9, 9, 9, 9, 0]]]])
    assert_same_masks(*by_both(lambda: raster_polygons(ring, np.array([size]))))


def test_what_is_far_outside_the_image_is_cut() -> None:
    # Walked along, these edges would not fit into memory.
    size = np.array([[4, 6]] * 2)
    far = [-1e15, -1e15, 1e15, -1e15, 1e15, 1e15, -1e15, 1e15]
    full = [[[far]], [[[2, -1e12, 1e12, -1e12, 1e12, 1e12, 2, 1e12]]]]
    found = converted(Shapes.polygons(polygons_of(full)), "mask", size)
    assert areas(found).tolist() == [24, 16]
    boxes = Shapes.boxes(np.array([[-1e15, -1e15, 2e15, 2e15], [2, -1e12, 1e13, 1e13]]))
    assert areas(converted(boxes, "mask", size)).tolist() == [24, 16]


def test_masks_need_a_size_that_is_known_and_not_too_large() -> None:
    box = Shapes.boxes(np.ones((1, 4)))
    with pytest.raises(ValueError, match="size of an image is not known"):
        converted(box, "mask", UNKNOWN)
    with pytest.raises(ValueError, match="50331648 pixels or more"):
        converted(box, "mask", np.array([[1 << 14, 3 << 10]]))
    ring = Shapes.polygons(polygons_of([[[[0, 0, 4, 0, 0, 4]]]]))
    with pytest.raises(ValueError, match="50331648 pixels or more"):
        converted(ring, "mask", np.array([[1 << 14, 3 << 10]]))


@needs_kernel
def test_rings_outside_columns_are_refused() -> None:
    points, rings, size = np.array([0.0, 0, 0, 4, 4, 4]), np.array([0, 3]), np.array([5, 5])
    room = kernel().drawn_room(points, rings, size)
    # Four columns are crossed above and below, and one count is behind.
    assert room == 9

    def told(size: np.ndarray, room: int) -> int:
        into = np.zeros(room, np.int32), np.zeros(2, np.int64), np.zeros(1, np.int64)
        return kernel().drawn_counts(points, rings, size, *into)

    assert told(size, room) <= room
    for wrong in ((size, room - 1), (np.array([1 << 16, 1 << 16]), 1 << 10)):
        with pytest.raises(ValueError, match="room for all"):
            told(*wrong)
    far = [np.array([number, 0.0, 0, 4, 4, 4]) for number in (np.nan, np.inf, -np.inf, 1e300)]
    starts = [np.array(one, np.int64) for one in ([0, 4], [-1, 3], [3, 0], [], [0, 1, 3])]
    sides = [np.array(one) for one in ([5, 0], [-5, 5], [5, np.iinfo(np.int64).max], [5])]
    for columns in (
        *((one, rings, size) for one in far),
        *((points, one, size) for one in starts),
        *((points, rings, one) for one in sides),
    ):
        with pytest.raises(ValueError, match="near points"):
            kernel().drawn_room(*columns)
