"""The compiled kernel's sorting, overlaps, matching and counting: the bits of numpy's.

What numpy computes is held against pycocotools and the obvious loops in the tests of each kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import by_both, kernel, needs_kernel
from valor_cli.kernels.columns.grouping import grouped, ranked, reaching
from valor_cli.kernels.geometry.boxes import Pairs, overlapping_boxes
from valor_cli.kernels.ranking.cells import shared_cells
from valor_cli.kernels.ranking.matching import match
from valor_cli.kernels.ranking.precision_recall import ELEVEN_RECALLS, RECALLS, Hits, interpolate
from valor_cli.kernels.ranking.ranking import order_hits

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
@given(seeds, st.sampled_from([0, 1, 2, 50, 3000]), st.sampled_from([1, 5, 300, 2**40]))
def test_rows_by_group(seed: int, rows: int, groups: int) -> None:
    cell = np.random.default_rng(seed).integers(0, groups, rows)
    assert_same(*by_both(lambda: grouped(cell)))


SCORES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, -5e-324, 1e308, -1e308, np.inf, -np.inf])


@thorough
@given(seeds, st.sampled_from([0, 1, 2, 60, 3000]), st.sampled_from([1, 4, 500]), st.booleans())
def test_rows_by_label_score_and_image(seed: int, rows: int, labels: int, within: bool) -> None:
    drawn = np.random.default_rng(seed)
    label, image = drawn.integers(0, labels, rows), drawn.integers(0, 9, rows)
    number = drawn.permutation(rows) if within else None
    kinds = (SCORES, drawn.random(rows + 1), drawn.random(rows + 1).round(1), -drawn.random(3))
    score = drawn.choice(kinds[seed % 4], rows)
    assert_same(*by_both(lambda: [ranked(label, score, image, number)]))


def test_many_labels_of_few_rows_and_one_of_many() -> None:
    drawn = np.random.default_rng(5)
    label = np.concatenate([np.zeros(5000, np.int64), drawn.integers(0, 3000, 4000)])
    score = drawn.random(9000).astype(np.float32).astype(float)
    image = np.sort(drawn.integers(0, 50, 9000))
    assert_same(*by_both(lambda: [ranked(label, score, image)]))


@thorough
@given(seeds, st.sampled_from([0, 1, 40]), st.sampled_from([0, 1, 3, 70]))
def test_counts_at_levels(seed: int, rows: int, levels: int) -> None:
    drawn = np.random.default_rng(seed)
    values, group = drawn.random(rows).round(1), drawn.integers(0, 5, rows)
    at = np.unique(drawn.random(levels).round(1))
    assert_same(*by_both(lambda: [reaching(values, group, at, 5)]))


def boxes_of(drawn: np.random.Generator, count: int) -> np.ndarray:
    boxes = drawn.uniform(0, 12, (count, 4)).round(int(drawn.integers(0, 3)))
    boxes[drawn.random(count) < 0.1, 2:] = 0
    return boxes


@thorough
@given(seeds, st.sampled_from([1e-300, 0.1, 0.5, 1.0]))
def test_overlaps_of_boxes(seed: int, least: float) -> None:
    drawn = np.random.default_rng(seed)
    n, m = drawn.integers(0, 25, 2)
    first = drawn.integers(0, m + 1, n)
    count = (drawn.random(n) * (m - first + 1)).astype(np.int64)
    crowd = drawn.random(m) < 0.2
    mine, truths = boxes_of(drawn, n), boxes_of(drawn, m)
    rows = drawn.integers(0, n, n) if n and seed % 2 else None
    assert_same(*by_both(lambda: overlapping_boxes(mine, truths, crowd, first, count, least, rows)))


def test_overlaps_of_huge_and_tiny_boxes() -> None:
    sides = [0.0, 5e-324, 1e-160, 1.0, 1e75, 1e150]
    boxes = np.array([[x, x, w, h] for x in sides for w in sides for h in sides])
    n = len(boxes)
    with np.errstate(over="ignore", invalid="ignore"):
        both = by_both(
            lambda: overlapping_boxes(
                boxes, boxes, np.arange(n) % 5 == 0, np.zeros(n, int), np.full(n, n), 0.1
            )
        )
    assert_same(*both)


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


INTS = np.arange(3)
FAR = np.array([0, 1, 99])


@pytest.mark.parametrize("numbers", [FAR, np.array([-1, 0, 1]), np.full(3, 2**62)])
def test_numbers_that_lead_outside_a_column_are_refused(numbers: np.ndarray) -> None:
    compiled, flags, floats = kernel(), np.zeros(3, bool), np.zeros(3)
    boxes, pairs = np.zeros((3, 4)), (np.zeros(9, int), np.zeros(9, int), np.zeros(9))
    zeros = np.zeros(3, int)
    with pytest.raises(ValueError, match="boxes"):
        compiled.overlapping_boxes(boxes, INTS, boxes, flags, numbers, np.ones(3, int), *pairs, 0.5)
    with pytest.raises(ValueError, match="boxes"):
        compiled.overlapping_boxes(boxes, numbers, boxes, flags, zeros, zeros, *pairs, 0.5)
    with pytest.raises(ValueError, match="boxes"):
        compiled.overlapping_boxes(boxes, INTS, boxes, flags, zeros, numbers, *pairs, 0.5)
    with pytest.raises(ValueError, match="rows"):
        compiled.ranked(zeros, floats, numbers, zeros.copy())
    code, taken = np.zeros((1, 1, 3), np.uint8), np.zeros((1, 0, 3), int)
    start = np.arange(4)
    for truth, turns in ((numbers, INTS), (INTS, numbers)):
        with pytest.raises(ValueError, match="outside"):
            compiled.match(
                start, truth, floats, turns, flags, flags, floats[:1], zeros[:0], code, taken
            )
    with pytest.raises(ValueError, match="outside"):
        compiled.match(
            np.append(numbers, 3),
            INTS,
            floats,
            INTS,
            flags,
            flags,
            floats[:1],
            zeros[:0],
            code,
            taken,
        )
    with pytest.raises(ValueError, match="outside"):
        compiled.order_hits(
            *(zeros, numbers, np.ones((1, 3), np.uint8), flags, flags),
            *(np.zeros(size, int) for size in (3, 2, 3, 3, 1, 3, 1, 3)),
        )
    with pytest.raises(ValueError, match="cells"):
        compiled.meet(zeros, numbers, zeros, zeros, *(zeros.copy() for _ in range(4)), 2)
    with pytest.raises(ValueError, match="cells"):
        compiled.meet(zeros, zeros, zeros, numbers, *(zeros.copy() for _ in range(4)), 2)
    with pytest.raises(ValueError, match="segments"):
        compiled.interpolate(
            numbers,
            zeros,
            zeros,
            np.ones(2, int),
            floats[:1],
            np.zeros((1, 2)),
            np.zeros((2, 1), int),
        )
    with pytest.raises(ValueError, match="groups"):
        compiled.reaching(floats, numbers, floats[:1], np.zeros((1, 2), int))


def test_too_little_room_is_refused() -> None:
    boxes = np.array([[0.0, 0, 2, 2], [0, 0, 2, 2]])
    ints = np.zeros(1, int)
    with pytest.raises(ValueError, match="no room"):
        kernel().overlapping_boxes(
            *(boxes, np.arange(2), boxes, np.zeros(2, bool), np.zeros(2, int), np.full(2, 2)),
            *(ints, ints.copy(), np.zeros(1), 0.5),
        )
    two = np.zeros(2, int)
    with pytest.raises(ValueError, match="outside"):
        kernel().order_hits(
            *(two, np.arange(2), np.ones((1, 2), np.uint8), *(np.zeros(2, bool),) * 2),
            *(np.zeros(size, int) for size in (1, 2, 1, 1, 1, 1, 1, 1)),
        )
