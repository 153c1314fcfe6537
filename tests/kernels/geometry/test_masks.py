"""Areas, bounds and intersections of masks, against pycocotools and bitmaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from tests.oracles.coco_masks import bitmaps, masks_of, random_bitmaps, reference_rles
from valor_cli.kernels.geometry.masks import (
    areas,
    bounds,
    from_bitmap,
    from_runs,
    intersections,
)
from valor_cli.kernels.geometry.shapes import Masks, joined_masks


def one_mask(counts: list[int], height: int, width: int) -> Masks:
    return Masks(np.array(counts), np.array([0, len(counts)]), np.array([[height, width]]))


def test_by_hand() -> None:
    # 3 high, 4 wide; two of background, five of foreground: the last pixel of the first column,
    # all of the second, the first of the third. Five pixels, columns 0 to 2, all three rows.
    mask = one_mask([2, 5, 5], 3, 4)
    assert areas(mask).tolist() == [5]
    assert bounds(mask).tolist() == [[0, 0, 3, 3]]
    assert bitmaps(mask)[0].astype(int).tolist() == [[0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0]]
    # With the middle row of columns 1 and 2: they share one pixel.
    other = one_mask([4, 1, 2, 1, 4], 3, 4)
    assert bounds(other).tolist() == [[1, 1, 2, 1]]
    zero = np.zeros(1, np.int64)
    assert intersections(mask, other, zero, zero).tolist() == [1]


def test_bits_equal_the_reference() -> None:
    pixels = random_bitmaps(3, 300)
    masks, rles = masks_of(pixels), reference_rles(pixels)
    # One by one: of more than 255, the reference fails with numpy 2.
    assert areas(masks).tolist() == [coco.area(one) for one in rles]
    assert bounds(masks).tolist() == coco.toBbox(rles).tolist()
    assert all((one == two).all() for one, two in zip(bitmaps(masks), pixels, strict=True))


@pytest.mark.parametrize("size", [(1, 30), (30, 1), (13, 17), (40, 31)])
def test_intersections_are_those_of_bitmaps(size: tuple[int, int]) -> None:
    a, b = random_bitmaps(4, 25, size), random_bitmaps(5, 30, size)
    rows_a, rows_b = (rows.ravel() for rows in np.mgrid[:25, :30])
    shuffled = np.random.default_rng(6).permutation(len(rows_a))
    rows_a, rows_b = rows_a[shuffled], rows_b[shuffled]
    expected = [
        int((a[i] & b[j]).sum()) for i, j in zip(rows_a.tolist(), rows_b.tolist(), strict=True)
    ]
    assert intersections(masks_of(a), masks_of(b), rows_a, rows_b).tolist() == expected


def test_runs_of_no_length_change_nothing() -> None:
    # Foreground 1 to 3 as one run, as two with nothing between, with empty runs around.
    plain = [1, 3, 2]
    for counts in ([1, 1, 0, 2, 2], [0, 0, 1, 3, 2, 0], [1, 3, 1, 0, 1], [1, 0, 0, 3, 2, 0, 0]):
        both = joined_masks([one_mask(plain, 2, 3), one_mask(counts, 2, 3)])
        assert areas(both).tolist() == [3, 3]
        assert bounds(both).tolist() == [[0, 0, 2, 2]] * 2
        first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
        assert intersections(both, both, first, second).tolist() == [3] * 4


def test_known_areas_stay_with_their_masks() -> None:
    known = Masks(np.array([1, 3, 2, 0, 6]), np.array([0, 3, 5]), np.array([[2, 3]] * 2))
    known = replace(known, foreground=np.array([3, 6]))
    rows = np.array([1, 0, 1])
    assert areas(known.take(rows)).tolist() == [6, 3, 6]
    assert areas(joined_masks([known, Masks.none(), known])).tolist() == [3, 6, 3, 6]
    # Not known of one part: counted of all.
    other = one_mask([2, 4], 2, 3)
    assert areas(joined_masks([known, other]).take(np.array([2, 0]))).tolist() == [4, 3]


def test_bounds_of_some() -> None:
    pixels = random_bitmaps(13, 40)
    masks, rows = masks_of(pixels), np.random.default_rng(14).integers(0, 40, 60)
    assert bounds(masks, rows).tolist() == bounds(masks)[rows].tolist()


def test_masks_without_runs_or_foreground() -> None:
    empty = joined_masks([one_mask([], 2, 3), one_mask([6], 2, 3), one_mask([], 0, 3)])
    assert areas(empty).tolist() == [0, 0, 0]
    assert bounds(empty).tolist() == [[0, 0, 0, 0]] * 3
    rows = np.arange(2)
    assert intersections(empty, one_mask([0, 6], 2, 3), rows, rows * 0).tolist() == [0, 0]
    none = np.zeros(0, np.int64)
    assert intersections(Masks.none(), Masks.none(), none, none).tolist() == []
    assert (areas(Masks.none()).shape, bounds(Masks.none()).shape) == ((0,), (0, 4))


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_bitmaps_there_and_back(height: int, width: int, data: st.DataObject) -> None:
    pixels = np.array(data.draw(st.lists(st.booleans(), min_size=36, max_size=36)))
    pixels = pixels[: height * width].reshape(height, width)
    mask, expected = from_bitmap(pixels), masks_of([pixels])
    assert mask.counts.tolist() == expected.counts.tolist()
    assert mask.size.tolist() == [[height, width]]
    assert (bitmaps(mask)[0] == pixels).all()


def test_from_runs() -> None:
    # Of four masks 2 high and 3 wide: two runs; none; one up to the end; all.
    size = np.array([[2, 3]] * 4)
    masks = from_runs(np.array([0, 0, 2, 3]), np.array([1, 3, 4, 0]), np.array([2, 5, 6, 6]), size)
    assert [part.tolist() for part in np.split(masks.counts, masks.starts[1:-1])] == [
        [1, 1, 1, 2, 1],
        [6],
        [4, 2],
        [0, 6],
    ]
