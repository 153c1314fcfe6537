"""Overlaps of shapes of one kind: both engines, against pycocotools, shapely and by hand."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco

from tests.engines import by_both, kernel, needs_kernel
from tests.oracles.coco_masks import masks_of, polygons_of, random_bitmaps, reference_rles
from tests.oracles.detection import iou
from valor_cli.kernels.geometry import boxes, overlaps, rle
from valor_cli.kernels.geometry.boxes import Pairs
from valor_cli.kernels.geometry.polygons import corners
from valor_cli.kernels.geometry.shapes import Masks, Shapes, joined

INT64 = np.iinfo(np.int64)


def overlapping(*asked: Any, rows: np.ndarray | None = None) -> Pairs:
    """The pairs of both engines, to the last bit."""
    mine, other = by_both(lambda: overlaps.overlapping(*asked, rows=rows))
    for one, two in zip(mine, other, strict=True):
        assert one.dtype == two.dtype
        assert one.tobytes() == two.tobytes()
    return mine


def all_pairs(
    detections: Shapes, truths: Shapes, crowd: list[bool] | None = None, least: float = 1e-12
) -> list[tuple[int, int, float]]:
    n, m = len(detections), len(truths)
    flags = np.array(crowd or [False] * m, bool)
    pairs = overlapping(detections, truths, flags, np.zeros(n, int), np.full(n, m), least)
    return list(zip(*(column.tolist() for column in pairs), strict=True))


def boxes_of(*rows: list[float]) -> Shapes:
    return Shapes.boxes(np.array(rows, float).reshape(-1, 4))


def boxes_as_polygons(box: np.ndarray) -> Shapes:
    rings = [[[[x, y, x + w, y, x + w, y + h, x, y + h]]] for x, y, w, h in box.tolist()]
    return Shapes.polygons(polygons_of(rings))


@pytest.mark.parametrize(
    ("detection", "truth", "crowd", "share"),
    [
        # 4x4 boxes shifted by 2: 8 shared of 24, so 1/3. Against a crowd: 8 of the detection's 16.
        ([0, 0, 4, 4], [2, 0, 4, 4], False, 8 / 24),
        ([0, 0, 4, 4], [2, 0, 4, 4], True, 0.5),
        # What only touches, and what is empty, overlaps nothing.
        ([0, 0, 4, 4], [4, 0, 4, 4], False, None),
        ([1, 1, 0, 0], [0, 0, 4, 4], True, None),
        ([1, 1, 0, 3], [0, 0, 4, 4], True, None),
        ([1, 1, 0, 0], [1, 1, 0, 0], False, None),
    ],
)
def test_boxes_by_hand(detection: list, truth: list, crowd: bool, share: float | None) -> None:
    found = all_pairs(boxes_of(detection), boxes_of(truth), [crowd])
    assert found == ([] if share is None else [(0, 0, share)])


@pytest.mark.parametrize("seed", range(3))
def test_boxes_are_the_reference_bit_by_bit_in_blocks_of_any_size(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    found, truths = (
        np.hstack([rng.uniform(0, 50, (n, 2)), rng.uniform(0, 60, (n, 2))]) for n in (40, 30)
    )
    crowd = rng.random(30) < 0.2
    reference = coco.iou(found, truths, crowd.astype(np.uint8).tolist())
    expected = [
        (d, g, reference[d, g]) for d in range(40) for g in range(30) if reference[d, g] >= 0.05
    ]
    for block in (1, 7, 1 << 17):
        monkeypatch.setattr(boxes, "PAIRS_AT_ONCE", block)
        assert all_pairs(boxes_of(*found), boxes_of(*truths), crowd.tolist(), 0.05) == expected
    for d, g, value in expected:
        assert iou(tuple(found[d]), tuple(truths[g]), bool(crowd[g])) == value


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-300, 0.1, 0.5, 1.0]))
def test_any_boxes_rows_and_ranges_are_the_same_to_both_engines(seed: int, least: float) -> None:
    drawn = np.random.default_rng(seed)
    n, m = drawn.integers(0, 25, 2)
    first = drawn.integers(0, m + 1, n)
    count = (drawn.random(n) * (m - first + 1)).astype(np.int64)
    sides = []
    for size in (n, m):
        side = drawn.uniform(0, 12, (size, 4)).round(int(drawn.integers(0, 3)))
        side[drawn.random(size) < 0.1, 2:] = 0
        sides.append(Shapes.boxes(side))
    rows = drawn.integers(0, n, n) if n and seed % 2 else None
    overlapping(*sides, drawn.random(m) < 0.2, first, count, least, rows=rows)


def test_huge_and_tiny_boxes() -> None:
    sides = [0.0, 5e-324, 1e-160, 1.0, 1e75, 1e150]
    every = Shapes.boxes(np.array([[x, x, w, h] for x in sides for w in sides for h in sides]))
    with np.errstate(over="ignore", invalid="ignore"):
        all_pairs(every, every, [at % 5 == 0 for at in range(len(every))], 0.1)


@pytest.mark.parametrize("least", [1e-10, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("at_once", [1, 50, 1 << 20])
def test_masks_are_the_reference_bit_by_bit(
    least: float, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boxes, "PAIRS_AT_ONCE", at_once)
    mine, theirs = random_bitmaps(10, 60, (40, 31)), random_bitmaps(11, 50, (40, 31))
    rng = np.random.default_rng(12)
    crowd = rng.random(50) < 0.3
    rows = rng.integers(0, 60, 80)
    first = rng.integers(0, 51, 80)
    count = (rng.random(80) * (51 - first)).astype(np.int64)
    share = coco.iou(reference_rles(mine), reference_rles(theirs), crowd.astype(np.uint8).tolist())
    expected = [
        (d, g, share[rows[d], g])
        for d in range(80)
        for g in range(first[d], first[d] + count[d])
        if share[rows[d], g] >= least
    ]
    wide = masks_of(theirs)
    for truths in (wide, Masks(wide.counts.astype(np.int32), wide.starts, wide.size)):
        asked = Shapes.masks(masks_of(mine)), Shapes.masks(truths)
        found = overlapping(*asked, crowd, first, count, least, rows=rows)
        assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


@given(
    st.lists(st.lists(st.integers(0, 7), max_size=9), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.sampled_from([1e-9, 0.3, 0.5]),
)
def test_any_runs_overlap_as_their_pixels_do(
    runs: list[list[int]], crowd: list[bool], least: float
) -> None:
    runs = [[*counts, 70 - sum(counts)] for counts in runs]
    n = len(runs)
    size = np.tile([7, 10], (n, 1))
    # Masks of unequal size do not overlap.
    size[-1] = [10, 7]
    one = Shapes.masks(Masks(np.concatenate(runs), np.cumsum([0, *map(len, runs)]), size))
    bits = [np.repeat(np.arange(len(run)) % 2, run).astype(bool) for run in runs]
    expected = []
    for d in range(n):
        for g in range(n):
            shared, union = (bits[d] & bits[g]).sum(), (bits[d] | bits[g]).sum()
            whole = bits[d].sum() if crowd[g] else union
            if (size[d] == size[g]).all() and whole and shared / whole >= least:
                expected.append((d, g, shared / whole))
    assert all_pairs(one, one, crowd[:n], least) == expected


def test_huge_masks() -> None:
    side = rle.LARGEST_SIDE
    half = side * side // 2
    counts = np.array([0, side * side, half, half, half - 1, 2, half - 1, side * side])
    one = Shapes.masks(Masks(counts, np.array([0, 2, 4, 7, 8]), np.full((4, 2), side)))
    assert len(all_pairs(one, one, [False, True, False, True], 1e-13)) == 9


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
    # Two triangles that meet in 2, 2, the left and the right one, of 8 together; the left half of
    # the square shares the left one, 4: 4 / (8 + 8 - 4).
    bow_tie = Shapes.polygons(polygons_of([[[[0, 0, 4, 4, 4, 0, 0, 4]]]]))
    left = Shapes.polygons(polygons_of([[[[0, 0, 2, 0, 2, 4, 0, 4]]]]))
    assert all_pairs(bow_tie, left) == [(0, 0, 4 / 12)]


@pytest.mark.parametrize("block", [1, 7, 1 << 14])
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
    a, b = found[:150], np.vstack([found[150:299], found[:1]])
    geometry = [shapely.polygons(corners(side)) for side in (a, b)]
    shared = shapely.area(shapely.intersection(geometry[0][:, None], geometry[1]))
    own, other = (side[:, 2] * side[:, 3] for side in (a, b))
    union = own[:, None] + other - shared
    expected = np.divide(shared, union, out=np.zeros((150, 150)), where=union != 0)
    result = np.zeros((150, 150))
    for d, g, share in all_pairs(Shapes.rotated_boxes(a), Shapes.rotated_boxes(b)):
        result[d, g] = share
    assert result == pytest.approx(expected, abs=1e-11)
    assert result.max() <= 1


def test_shapes_of_several_kinds_are_refused() -> None:
    some = Shapes.masks(masks_of([np.ones((2, 2), bool)]))
    none = some.take(np.zeros(0, int))
    assert all_pairs(none, none) == all_pairs(some, none) == all_pairs(none, some) == []
    both = joined([some, Shapes.boxes(np.zeros((1, 4)))])
    for other in (Shapes.boxes(np.zeros((1, 4))), both):
        with pytest.raises(ValueError, match="one kind, got box, mask"):
            all_pairs(both, other)


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


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def pairs_of(**changed: Any) -> int:
    """A call about two masks that is sound, but for what is changed."""
    names = "a a_starts a_size b b_starts b_size rows first count own other crowd d g iou least"
    masks = ints(1, 2, 1, 0, 4), ints(0, 3, 5), ints(2, 2, 2, 2)
    ranges, area = (ints(0, 1), ints(0, 0), ints(2, 2)), np.array([2.0, 4.0])
    into = ints(0, 0, 0, 0), ints(0, 0, 0, 0), np.zeros(4)
    columns = (*masks, *masks, *ranges, area, area, np.zeros(2, bool), *into, 0.1)
    sound = dict(zip(names.split(), columns, strict=True))
    return kernel().overlapping_masks(*{**sound, **changed}.values())


@needs_kernel
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("rows", [ints(0, 2), ints(-1, 0)]),
        ("first", [ints(0, 1), ints(-1, 0), ints(INT64.max, 0)]),
        ("count", [ints(2, 3), ints(-1, 2), ints(INT64.max, 2)]),
        ("a_starts", [ints(0, 6, 5), ints(0, 3, 6), ints(-1, 3, 5), ints()]),
        ("b_starts", [ints(3, 0, 5), ints(0, 3, INT64.max)]),
        ("a_size", [ints(2, 2)]),
        ("b_size", [ints(2, 2, 2)]),
        ("own", [np.zeros(1)]),
        ("other", [np.zeros(3)]),
        ("crowd", [np.zeros(1, bool)]),
        ("d", [ints(0, 0, 0)]),
        ("g", [ints(0)]),
        ("iou", [np.zeros(3)]),
    ],
)
def test_pairs_of_masks_outside_columns_are_refused(name: str, columns: list[np.ndarray]) -> None:
    assert pairs_of() == 4
    for column in columns:
        with pytest.raises(ValueError, match="masks, rows and ranges"):
            pairs_of(**{name: column})


@needs_kernel
def test_pairs_of_other_types_are_refused() -> None:
    read_only = np.zeros(4)
    read_only.setflags(write=False)
    floats, narrow = np.zeros(5), np.zeros(5, np.int16)
    for changed in ({"a": floats}, {"a": narrow}, {"least": "much"}, {"iou": read_only}):
        with pytest.raises((TypeError, ValueError, BufferError)):
            pairs_of(**changed)


@needs_kernel
@given(st.lists(st.integers(INT64.min, INT64.max), min_size=5, max_size=5), st.integers())
def test_counts_that_are_no_mask_break_nothing(counts: list[int], height: int) -> None:
    size = ints(*[max(min(height, INT64.max), INT64.min), 2] * 2)
    hostile = ints(*counts)
    assert 0 <= pairs_of(a=hostile, b=hostile, a_size=size, b_size=size, least=-1.0) <= 4
    kernel().bounded(hostile, ints(0, 3, 5), size, ints(1, 0), np.zeros(8))
