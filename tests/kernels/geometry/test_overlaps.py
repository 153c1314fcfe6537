"""Overlaps of shapes of one kind, against pycocotools, against shapely and by hand."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import shapely
from pycocotools import mask as coco

from tests.oracles.coco_masks import (
    COCO_100,
    coco_annotations,
    coco_rle,
    masks_of,
    polygons_of,
    random_bitmaps,
    reference_rles,
)
from valor_cli.kernels.geometry import mask_overlaps, overlaps
from valor_cli.kernels.geometry.boxes import overlapping_boxes
from valor_cli.kernels.geometry.overlaps import overlapping
from valor_cli.kernels.geometry.polygons import corners
from valor_cli.kernels.geometry.rle import decoded
from valor_cli.kernels.geometry.shapes import Masks, Shapes, joined

BLOCKS = (1, 7, 1 << 14)


def all_pairs(
    detections: Shapes, truths: Shapes, crowd: list[bool] | None = None, least: float = 1e-12
) -> list[tuple[int, int, float]]:
    n, m = len(detections), len(truths)
    pairs = overlapping(
        detections,
        truths,
        np.array(crowd or [False] * m, bool),
        np.zeros(n, np.int64),
        np.full(n, m),
        least,
    )
    return list(zip(*(column.tolist() for column in pairs), strict=True))


def boxes_as_polygons(box: np.ndarray) -> Shapes:
    rings = [[[[x, y, x + w, y, x + w, y + h, x, y + h]]] for x, y, w, h in box.tolist()]
    return Shapes.polygons(polygons_of(rings))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("size", [(1, 30), (30, 1), (12, 9)])
def test_masks_are_the_reference_bit_by_bit(
    size: tuple[int, int], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mask_overlaps, "PAIRS_AT_ONCE", block)
    a, b = random_bitmaps(8, 25, size), random_bitmaps(9, 20, size)
    crowd = np.random.default_rng(10).random(20) < 0.3
    reference = coco.iou(reference_rles(a), reference_rles(b), crowd.astype(np.uint8).tolist())
    for least in (1e-12, 0.4):
        found = all_pairs(
            Shapes.masks(masks_of(a)), Shapes.masks(masks_of(b)), crowd.tolist(), least
        )
        assert found == [
            (d, g, reference[d, g])
            for d in range(25)
            for g in range(20)
            if reference[d, g] >= least
        ]


def test_real_masks_are_the_reference_bit_by_bit() -> None:
    annotations = coco_annotations()
    found = json.loads((COCO_100.parent / "predictions.segm.json").read_text())
    by_image: dict[int, list[dict]] = {}
    for one in found:
        by_image.setdefault(one["image_id"], []).append(one["segmentation"])
    for image, rles in by_image.items():
        mine = [one for one in annotations if one[0]["image_id"] == image]
        truths = [coco_rle(*one) for one in mine]
        crowd = [one[0]["iscrowd"] for one in mine]
        if not truths:
            continue
        reference = coco.iou(rles, truths, crowd)
        shapes = [
            Shapes.masks(
                decoded(
                    [c.encode() if isinstance(c := one["counts"], str) else c for one in side],
                    np.array([one["size"] for one in side]),
                )[0]
            )
            for side in (rles, truths)
        ]
        assert all_pairs(*shapes, [bool(one) for one in crowd]) == [
            (d, g, reference[d, g]) for d, g in np.argwhere(reference > 0).tolist()
        ]


def test_masks_of_unequal_size_do_not_overlap() -> None:
    full = masks_of([np.ones((2, 3), bool), np.ones((3, 2), bool)])
    assert all_pairs(Shapes.masks(full), Shapes.masks(full)) == [(0, 0, 1.0), (1, 1, 1.0)]


def test_boxes_are_overlapping_boxes() -> None:
    rng = np.random.default_rng(11)
    a, b = (np.hstack([rng.uniform(0, 50, (n, 2)), rng.uniform(0, 30, (n, 2))]) for n in (20, 15))
    crowd = rng.random(15) < 0.3
    expected = overlapping_boxes(a, b, crowd, np.zeros(20, int), np.full(20, 15), 0.1)
    found = all_pairs(Shapes.boxes(a), Shapes.boxes(b), crowd.tolist(), 0.1)
    assert found == list(zip(*(column.tolist() for column in expected), strict=True))


def test_polygons_by_hand() -> None:
    # A square of 4x4 with a hole of 2x2 and a far part of 1, so 13; the lower half of the square,
    # 8: they share 8 less half the hole, 6. The union is 13 + 8 - 6 = 15. Against a crowd: 6 / 13.
    ring = [0, 0, 4, 0, 4, 4, 0, 4]
    hole = [1, 1, 3, 1, 3, 3, 1, 3]
    far = [9, 9, 10, 9, 10, 10, 9, 10]
    half = [0, 2, 4, 2, 4, 4, 0, 4]
    one = Shapes.polygons(polygons_of([[[ring, hole], [far]]]))
    other = Shapes.polygons(polygons_of([[[half]], [[half]], []]))
    assert all_pairs(one, other, [False, True, True]) == [(0, 0, 6 / 15), (0, 1, 6 / 13)]
    # Halves of a square on both sides of its diagonal share an edge and no area.
    halves = Shapes.polygons(polygons_of([[[[0, 0, 4, 0, 4, 4]]], [[[0, 0, 4, 4, 0, 4]]]]))
    assert all_pairs(halves, halves) == [(0, 0, 1.0), (1, 1, 1.0)]


@pytest.mark.parametrize("block", BLOCKS)
def test_polygons_of_boxes_overlap_as_boxes(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlaps, "PAIRS_AT_ONCE", block)
    rng = np.random.default_rng(12)
    a, b = (
        np.hstack([rng.integers(0, 50, (n, 2)), rng.integers(1, 30, (n, 2))]).astype(float)
        for n in (20, 15)
    )
    crowd = (rng.random(15) < 0.3).tolist()
    expected = all_pairs(Shapes.boxes(a), Shapes.boxes(b), crowd)
    assert all_pairs(boxes_as_polygons(a), boxes_as_polygons(b), crowd) == expected


def test_crossed_polygons_overlap() -> None:
    # Two triangles that meet in 2, 2, the left and the right one, of 8 together; the left half of
    # the square shares the left one, 4: 4 / (8 + 8 - 4).
    bow_tie = Shapes.polygons(polygons_of([[[[0, 0, 4, 4, 4, 0, 0, 4]]]]))
    left = Shapes.polygons(polygons_of([[[[0, 0, 2, 0, 2, 4, 0, 4]]]]))
    assert all_pairs(bow_tie, left) == [(0, 0, 4 / 12)]


def test_rotated_boxes_by_hand() -> None:
    # A square of side 2 and the same turned by 45 degrees share a regular octagon of
    # 8 * (sqrt(2) - 1); a quarter turn changes nothing; one beside it at a distance.
    square = Shapes.rotated_boxes(np.array([[5.0, 5, 2, 2, 0]]))
    turned = Shapes.rotated_boxes(
        np.array([[5.0, 5, 2, 2, 45], [5, 5, 2, 2, 90], [8, 5, 2, 2, 0], [5, 5, 0, 2, 0]])
    )
    octagon = 8 * (2**0.5 - 1)
    pairs = all_pairs(square, turned)
    assert [pair[:2] for pair in pairs] == [(0, 0), (0, 1)]
    assert pairs[0][2] == pytest.approx(octagon / (8 - octagon), abs=1e-15)
    assert pairs[1][2] == 1
    assert all_pairs(square, turned, [True] * 4)[0][2] == pytest.approx(octagon / 4, abs=1e-15)
    # Boxes that touch at their bounds' corners, but not themselves.
    diamonds = Shapes.rotated_boxes(np.array([[0.0, 0, 2, 2, 45], [2.0, 2, 2, 2, 45]]))
    assert [pair[:2] for pair in all_pairs(diamonds, diamonds)] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("turn", [None, 0.0, 30.0, 1e-13])
def test_rotated_boxes_are_polygons_of_their_corners(turn: float | None) -> None:
    rng = np.random.default_rng(13)
    columns = [rng.uniform(0, 100, (300, 2)), rng.uniform(1, 60, (300, 2))]
    angle = rng.uniform(-200, 400, (300, 1))
    if turn is not None:
        # Edges that are, or are nearly, on one line.
        columns = [np.round(column / 10) * 10 for column in columns]
        angle = rng.integers(-4, 5, (300, 1)) * 90.0 + turn * rng.integers(0, 2, (300, 1))
    found = np.hstack([*columns, angle])
    a, b = found[:150], found[150:]
    geometry = [shapely.polygons(corners(side)) for side in (a, b)]
    shared = shapely.area(shapely.intersection(geometry[0][:, None], geometry[1]))
    own, other = (side[:, 2] * side[:, 3] for side in (a, b))
    union = own[:, None] + other - shared
    expected = np.divide(shared, union, out=np.zeros((150, 150)), where=union != 0)
    result = np.zeros((150, 150))
    for d, g, iou in all_pairs(Shapes.rotated_boxes(a), Shapes.rotated_boxes(b)):
        result[d, g] = iou
    assert result == pytest.approx(expected, abs=1e-11)
    assert result.max() <= 1


def test_rotated_boxes_overlap_themselves_entirely() -> None:
    rng = np.random.default_rng(14)
    found = np.hstack([rng.uniform(0, 1e4, (200, 2)), rng.uniform(0.1, 60, (200, 3))])
    one = Shapes.rotated_boxes(found)
    pairs = {(d, g): iou for d, g, iou in all_pairs(one, one)}
    assert [pairs[row, row] for row in range(200)] == pytest.approx([1] * 200, abs=1e-13)


def test_only_the_ground_truths_asked_for_are_compared() -> None:
    one = Shapes.rotated_boxes(np.array([[5.0, 5, 2, 2, 0]] * 3))
    crowd = np.zeros(3, bool)
    pairs = overlapping(one, one, crowd, np.array([1, 0, 2]), np.array([2, 0, 1]), 0.5)
    assert pairs.detection.tolist() == [0, 0, 2]
    assert pairs.ground_truth.tolist() == [1, 2, 2]


def test_nothing_and_several_kinds() -> None:
    none = Shapes.masks(Masks.none())
    some = Shapes.masks(masks_of([np.ones((2, 2), bool)]))
    assert all_pairs(none, none) == all_pairs(some, none) == all_pairs(none, some) == []
    box = Shapes.boxes(np.zeros((1, 4)))
    with pytest.raises(ValueError, match="one kind, got box, mask"):
        all_pairs(some, box)
    with pytest.raises(ValueError, match="one kind, got box, mask"):
        all_pairs(joined([some, box]), joined([some, box]))


def test_rows_are_what_is_taken_beforehand() -> None:
    rng = np.random.default_rng(11)
    pixels = random_bitmaps(12, 20, (12, 9))
    rows = rng.integers(0, 20, 30)
    box = np.hstack([rng.uniform(0, 5, (20, 2)), rng.uniform(1, 5, (20, 2))])
    first, count = rng.integers(0, 10, 30), rng.integers(0, 11, 30)
    for shapes in (
        Shapes.boxes(box),
        Shapes.rotated_boxes(np.hstack([box, rng.uniform(-90, 90, (20, 1))])),
        boxes_as_polygons(box),
        Shapes.masks(masks_of(pixels)),
    ):
        crowd = rng.random(20) < 0.2
        found = overlapping(shapes, shapes, crowd, first, count, 0.2, rows=rows)
        taken = overlapping(shapes.take(rows), shapes, crowd, first, count, 0.2)
        assert len(found.iou)
        for one, two in zip(found, taken, strict=True):
            assert one.tolist() == two.tolist()


def test_masks_in_images_of_other_sizes_do_not_overlap() -> None:
    # All foreground: 2 by 3, 3 by 2, and 2 by 3 again.
    counts, starts = np.array([0, 6] * 3), np.array([0, 2, 4, 6])
    masks_of_sizes = Masks(counts, starts, np.array([[2, 3], [3, 2], [2, 3]]))
    found = all_pairs(Shapes.masks(masks_of_sizes), Shapes.masks(masks_of_sizes))
    assert found == [(0, 0, 1.0), (0, 2, 1.0), (1, 1, 1.0), (2, 0, 1.0), (2, 2, 1.0)]


def test_boxes_import_neither_shapely_nor_pycocotools() -> None:
    program = (
        "import sys, numpy as np\n"
        "from valor_cli.kernels.geometry.overlaps import overlapping\n"
        "from valor_cli.kernels.geometry.conversion import areas, bounds, converted\n"
        "from valor_cli.kernels.geometry.shapes import Shapes\n"
        "one = Shapes.boxes(np.ones((1, 4)))\n"
        "whole = np.ones(1, np.int64)\n"
        "overlapping(one, one, np.zeros(1, bool), whole * 0, whole, 0.5)\n"
        "areas(one), bounds(one), converted(one, 'box', np.zeros((1, 2), np.int64))\n"
        "assert not {'shapely', 'pycocotools'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
