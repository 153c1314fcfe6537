"""The compiled kernel's matching and ranking: the bits of numpy's.

What numpy computes is held against pycocotools and the obvious loops in the tests of each kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import by_both, kernel, needs_kernel
from valor_cli.kernels.geometry.boxes import Pairs
from valor_cli.kernels.ranking.matching import match, shared_cells
from valor_cli.kernels.ranking.precision_recall import (
    ELEVEN_RECALLS,
    RECALLS,
    Hits,
    interpolate,
    order_hits,
)

pytestmark = needs_kernel

thorough = settings(derandomize=True, deadline=None, max_examples=100)
seeds = st.integers(0, 2**32 - 1)


def assert_same(mine: Any, other: Any) -> None:
    """Equal columns of equal types, bit for bit."""
    assert len(mine) == len(other)
    for one, two in zip(mine, other, strict=True):
        if isinstance(one, np.ndarray):
            assert one.dtype == two.dtype
            assert one.shape == two.shape
            assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(two).tobytes()
        else:
            assert one == two


@thorough
@given(seeds, st.sampled_from([1, 3, 4]), st.sampled_from([1, 2, 10, 21, 70]), st.booleans())
def test_matching(seed: int, areas: int, thresholds: int, turned: bool) -> None:
    drawn = np.random.default_rng(seed)
    cells, n, m = 4, int(drawn.integers(0, 40)), int(drawn.integers(1, 20))
    cell, gt_cell = np.sort(drawn.integers(0, cells, n)), np.sort(drawn.integers(0, cells, m))
    near = (cell[:, None] == gt_cell) & (drawn.random((n, m)) < 0.6)
    detection, truth = np.nonzero(near)
    iou = drawn.random(len(detection)).round(1)
    at = drawn.random(thresholds).round(2)
    kept = iou >= at.min()
    pairs = Pairs(detection[kept], truth[kept], iou[kept])
    regular, crowd = drawn.random((areas, m)) < 0.7, drawn.random(m) < 0.3
    remember = drawn.permutation(thresholds)[: drawn.integers(0, min(thresholds, 3) + 1)]
    turn = None
    if turned:
        turn = np.concatenate([drawn.permutation((cell == one).sum()) for one in range(cells)])
    assert_same(
        *by_both(lambda: match(pairs, regular, crowd, at, remember=remember.tolist(), turn=turn))
    )


@thorough
@given(seeds, st.booleans())
def test_true_positives_in_order(seed: int, limited: bool) -> None:
    drawn = np.random.default_rng(seed)
    n, labels, thresholds = int(drawn.integers(0, 60)), 5, int(drawn.integers(1, 4))
    label = np.sort(drawn.integers(0, labels, n))
    candidate = np.flatnonzero(drawn.random(n) < 0.5)
    codes = drawn.integers(0, 3, (thresholds, len(candidate))).astype(np.uint8)
    outside = drawn.random(n) < 0.3
    kept = drawn.random(n) < 0.7 if limited else None
    mine, other = by_both(lambda: order_hits(label, candidate, codes, outside, kept, labels))
    assert_same(mine, other)


@thorough
@given(seeds)
def test_who_shares_a_cell(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    n, m, images = int(drawn.integers(0, 50)), int(drawn.integers(0, 30)), int(drawn.integers(1, 9))
    label, image = np.sort(drawn.integers(0, 6, n)), drawn.integers(0, images, n)
    gt_label, gt_image = drawn.integers(0, 7, m), drawn.integers(0, images, m)
    mine, other = by_both(lambda: shared_cells(label, image, gt_label, gt_image, images))
    assert_same(mine, other)
    assert (np.diff(mine.rows) > 0).all()
    for row, first, size in zip(mine.rows, mine.first, mine.size, strict=True):
        truths = mine.truths[first : first + size]
        assert set(gt_label[truths]) == {label[row]}
        assert set(gt_image[truths]) == {image[row]}
        assert size == ((gt_label == label[row]) & (gt_image == image[row])).sum()


@thorough
@given(seeds, st.sampled_from([RECALLS, ELEVEN_RECALLS, np.array([0.0, 1.0])]))
def test_precision_at_recalls(seed: int, recalls: np.ndarray) -> None:
    drawn = np.random.default_rng(seed)
    segments, h = int(drawn.integers(1, 8)), int(drawn.integers(0, 60))
    segment = np.sort(drawn.integers(0, segments, h))
    copies = drawn.integers(0, 3, h) if seed % 2 else np.ones(h, np.int64)
    seen = np.zeros(h, np.int64)
    truths = np.zeros(segments, np.int64)
    for one in range(segments):
        own = segment == one
        seen[own] = np.cumsum(copies[own] * drawn.integers(1, 4, own.sum()))
        truths[one] = copies[own].sum() + drawn.integers(0, 4)
    starts = np.searchsorted(segment, np.arange(segments + 1))
    hits = Hits(starts, copies if seed % 2 else None, seen)
    assert_same(*by_both(lambda: interpolate(hits, truths, recalls)))


OUTSIDE = [np.array(numbers) for numbers in ([0, 1, 99], [-1, 0, 1], [2**62] * 3)]


def calls(wrong: np.ndarray) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Functions, what they say, and columns one of which has such numbers."""
    ints, zeros, ones = np.arange(3), np.zeros(3, int), np.ones(3, int)
    flags, floats, boxes = np.zeros(3, bool), np.zeros(3), np.zeros((3, 4))
    into = np.zeros(9, int), np.zeros(9, int), np.zeros(9)
    for rows, first, count in ((ints, wrong, ones), (wrong, zeros, zeros), (ints, zeros, wrong)):
        columns = (boxes, rows, boxes, flags, first, count)
        yield "overlapping_boxes", "boxes", (*columns, *into, 0.5)
    yield "ranked", "rows", (zeros, floats, wrong, zeros.copy())
    code, taken = np.zeros((1, 1, 3), np.uint8), np.zeros((1, 0, 3), int)
    start = np.arange(4)
    for begins, truth, turns in (
        (start, wrong, ints),
        (start, ints, wrong),
        (np.append(wrong, 3), ints, ints),
    ):
        columns = (begins, truth, floats, turns, flags, flags)
        yield "match", "outside", (*columns, floats[:1], zeros[:0], code, taken)
    hits = (np.zeros(size, int) for size in (3, 2, 3, 3, 1, 3, 1, 3))
    yield "order_hits", "outside", (zeros, wrong, np.ones((1, 3), np.uint8), flags, flags, *hits)
    for image, truth_image in ((wrong, zeros), (zeros, wrong)):
        met = (zeros.copy() for _ in range(4))
        yield "meet", "cells", (zeros, image, zeros, truth_image, *met, 2)
    best = np.zeros((1, 2)), np.zeros((2, 1), int)
    yield "interpolate", "segments", (wrong, zeros, zeros, np.ones(2, int), floats[:1], *best)
    yield "reaching", "groups", (floats, wrong, floats[:1], np.zeros((1, 2), int))


@pytest.mark.parametrize("numbers", OUTSIDE, ids=["beyond", "below", "far"])
def test_numbers_that_lead_outside_a_column_are_refused(numbers: np.ndarray) -> None:
    for name, message, columns in calls(numbers):
        with pytest.raises(ValueError, match=message):
            getattr(kernel(), name)(*columns)


def test_too_little_room_is_refused() -> None:
    boxes, flags = np.array([[0.0, 0, 2, 2], [0, 0, 2, 2]]), np.zeros(2, bool)
    two, one = np.zeros(2, int), np.zeros(1, int)
    asked = (boxes, np.arange(2), boxes, flags, two, two + 2)
    with pytest.raises(ValueError, match="no room"):
        kernel().overlapping_boxes(*asked, one, one.copy(), np.zeros(1), 0.5)
    hits = (np.zeros(size, int) for size in (1, 2, 1, 1, 1, 1, 1, 1))
    with pytest.raises(ValueError, match="outside"):
        kernel().order_hits(two, np.arange(2), np.ones((1, 2), np.uint8), flags, flags, *hits)
