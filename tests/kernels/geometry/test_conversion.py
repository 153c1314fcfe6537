"""Areas, bounds and conversions of shapes, by hand and against pycocotools and shapely."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from pycocotools import mask as coco

from tests.oracles.coco_masks import (
    bitmaps,
    coco_annotations,
    coco_rle,
    masks_of,
    pixels_of,
    polygons_of,
    random_bitmaps,
    reference_rles,
)
from valor_cli.kernels.geometry.conversion import areas, bounds, converted
from valor_cli.kernels.geometry.polygons import corners
from valor_cli.kernels.geometry.rle import encoded
from valor_cli.kernels.geometry.shapes import KINDS, Polygons, Shapes, joined

UNKNOWN = np.zeros((1, 2), np.int64)


def strings(rles: list[dict]) -> list[str]:
    return [one["counts"].decode() for one in rles]


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


def test_bounds_of_masks_are_the_reference() -> None:
    found = random_bitmaps(2, 100)
    boxes = converted(Shapes.masks(masks_of(found)), "box", np.zeros((100, 2), int))
    assert boxes.box.tolist() == coco.toBbox(reference_rles(found)).tolist()


def test_real_polygons_are_filled_as_the_reference_does() -> None:
    chosen = [(one, size) for one, size in coco_annotations() if not one["iscrowd"]]
    rings = [[[ring] for ring in one["segmentation"]] for one, _ in chosen]
    sizes = np.array([size for _, size in chosen])
    found = converted(Shapes.polygons(polygons_of(rings)), "mask", sizes)
    assert encoded(found.mask) == strings([coco_rle(*one) for one in chosen])
    boxes = np.array([one["bbox"] for one, _ in chosen])
    filled = converted(Shapes.boxes(boxes), "mask", sizes)
    assert encoded(filled.mask) == [
        coco.frPyObjects(box[None], *size)[0]["counts"].decode()
        for box, size in zip(boxes, sizes.tolist(), strict=True)
    ]


@pytest.mark.parametrize("seed", range(3))
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
            outer, *holes = (np.zeros(size, bool) for _ in part)
            for ring, into in zip(part, [outer, *holes], strict=True):
                (rle,) = coco.frPyObjects([ring], *size)
                into |= pixels_of(rle)
            pixels |= outer & ~np.any([np.zeros(size, bool), *holes], axis=0)
        objects.append(parts)
        sizes.append(size)
        expected.append(pixels)
    found = converted(Shapes.polygons(polygons_of(objects)), "mask", np.array(sizes)).mask
    assert encoded(found) == strings(reference_rles(expected))
    assert all((a == b).all() for a, b in zip(bitmaps(found), expected, strict=True))


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
