"""Areas and bounds of masks, and masks of bitmaps and runs: both engines, against pycocotools."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from tests.engines import by_both, kernel, needs_kernel
from tests.oracles.coco_masks import bitmaps, masks_of, random_bitmaps, reference_rles
from valor_cli.kernels.geometry import masks as module
from valor_cli.kernels.geometry.masks import areas, from_bitmap, from_runs
from valor_cli.kernels.geometry.shapes import Masks, joined_masks


def one_mask(counts: list[int], height: int, width: int) -> Masks:
    return Masks(np.array(counts), np.array([0, len(counts)]), np.array([[height, width]]))


def bounds(masks: Masks, rows: np.ndarray | None = None) -> list[list[float]]:
    """Those of both engines."""
    mine, other = by_both(lambda: module.bounds(masks, rows))
    assert mine.tolist() == other.tolist()
    return mine.tolist()


def test_by_hand() -> None:
    # 3 high, 4 wide; two of background, five of foreground: the last pixel of the first column,
    # all of the second, the first of the third. Five pixels, columns 0 to 2, all three rows.
    mask = one_mask([2, 5, 5], 3, 4)
    assert areas(mask).tolist() == [5]
    assert bounds(mask) == [[0, 0, 3, 3]]
    assert bitmaps(mask)[0].astype(int).tolist() == [[0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0]]
    # The middle row of columns 1 and 2.
    assert bounds(one_mask([4, 1, 2, 1, 4], 3, 4)) == [[1, 1, 2, 1]]


def test_equals_the_reference() -> None:
    pixels = random_bitmaps(3, 300)
    masks, rles = masks_of(pixels), reference_rles(pixels)
    # One by one: of more than 255, the reference fails with numpy 2.
    assert areas(masks).tolist() == [coco.area(one) for one in rles]
    expected = coco.toBbox(rles)
    assert bounds(masks) == expected.tolist()
    assert bounds(replace(masks, counts=masks.counts.astype(np.int32))) == expected.tolist()
    rows = np.random.default_rng(14).integers(0, 300, 600)
    for some in (rows, rows[::2], rows[:0]):
        assert bounds(masks, some) == expected[some].tolist()
    assert all((one == two).all() for one, two in zip(bitmaps(masks), pixels, strict=True))


@given(st.integers(1, 9), st.lists(st.integers(0, 12), max_size=20))
def test_bounds_of_any_runs_are_the_same_of_both_engines(height: int, counts: list[int]) -> None:
    counts = [*counts, -sum(counts) % height]
    bounds(one_mask(counts, height, sum(counts) // height))


def test_runs_of_no_length_change_nothing() -> None:
    # Foreground 1 to 3 as two runs with nothing between, with empty runs around; none at all.
    for counts in ([1, 1, 0, 2, 2], [0, 0, 1, 3, 2, 0], [1, 3, 1, 0, 1], [1, 0, 0, 3, 2, 0, 0]):
        assert areas(one_mask(counts, 2, 3)).tolist() == [3]
        assert bounds(one_mask(counts, 2, 3)) == [[0, 0, 2, 2]]
    empty = joined_masks([one_mask([], 2, 3), one_mask([6], 2, 3), one_mask([], 0, 3)])
    assert areas(empty).tolist() == [0, 0, 0]
    assert bounds(empty) == [[0, 0, 0, 0]] * 3


def test_known_areas_stay_with_their_masks() -> None:
    known = Masks(np.array([1, 3, 2, 0, 6]), np.array([0, 3, 5]), np.array([[2, 3]] * 2))
    known = replace(known, foreground=np.array([3, 6]))
    rows = np.array([1, 0, 1])
    assert areas(known.take(rows)).tolist() == [6, 3, 6]
    assert areas(joined_masks([known, Masks.none(), known])).tolist() == [3, 6, 3, 6]
    # Not known of one part: counted of all.
    other = one_mask([2, 4], 2, 3)
    assert areas(joined_masks([known, other]).take(np.array([2, 0]))).tolist() == [4, 3]


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
    found = [part.tolist() for part in np.split(masks.counts, masks.starts[1:-1])]
    assert found == [[1, 1, 1, 2, 1], [6], [4, 2], [0, 6]]


@needs_kernel
def test_bounds_outside_columns_are_refused() -> None:
    counts, starts, size = np.array([1, 2, 1]), np.array([0, 3]), np.array([2, 2])
    for rows, changed in ([1], starts), ([-1], starts), ([0], starts + [0, 1]), ([0, 0], starts):
        with pytest.raises(ValueError, match="a box for each"):
            kernel().bounded(counts, changed, size, np.array(rows), np.zeros(4))


@needs_kernel
def test_counts_of_some_masks() -> None:
    masks = masks_of(random_bitmaps(13, 50))
    rows = np.random.default_rng(14).integers(0, 50, 80)
    expected = np.concatenate([masks.counts[masks.starts[r] : masks.starts[r + 1]] for r in rows])
    for width, another in ((np.int32, np.int64), (np.int64, np.int32)):
        columns = masks.counts.astype(width), masks.starts, masks.size
        taken = np.empty(len(expected), width)
        kernel().taken_counts(*columns, rows, taken)
        np.testing.assert_array_equal(taken, expected)
        longer, views = np.append(taken, taken[:1]), (taken.astype(">i8"), taken.view("i2"))
        for wrong in (taken[:-1], longer, taken.astype(another), *views):
            with pytest.raises((ValueError, TypeError)):
                kernel().taken_counts(*columns, rows, wrong)
        for row in (-1, 50):
            with pytest.raises(ValueError, match="room for their counts"):
                kernel().taken_counts(*columns, rows * 0 + row, taken)
