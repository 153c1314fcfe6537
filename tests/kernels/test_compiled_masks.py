"""The compiled kernel's masks: the bits of numpy's, and of pycocotools where it defines them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from tests.engines import by_both, needs_kernel
from tests.oracles.coco_masks import (
    coco_annotations,
    masks_of,
    polygons_of,
    random_bitmaps,
    reference_rles,
)
from valor_cli.kernels import engine
from valor_cli.kernels.geometry import mask_overlaps, rle
from valor_cli.kernels.geometry.masks import bounds, intersections
from valor_cli.kernels.geometry.raster import raster_boxes, raster_polygons
from valor_cli.kernels.geometry.rle import decoded, encoded
from valor_cli.kernels.geometry.shapes import Masks

KERNEL: Any = engine.ENGINE.kernel
pytestmark = needs_kernel

INT64 = np.iinfo(np.int64)
SIDES = [0, 1, 2, 3, 7, 640, rle.LARGEST_SIDE, rle.LARGEST_SIDE + 1, -1, INT64.max, INT64.min]
COORDINATES = [-1e5, -7.5, -0.7, -0.5, -0.1, 0.0, 0.1, 0.5, 0.9, 1.0, 2.5, 4.3, 6.0, 9.9, 12.0, 1e5]


def assert_same_masks(mine: Masks, other: Masks) -> None:
    assert mine.counts.dtype == other.counts.dtype
    np.testing.assert_array_equal(mine.counts, other.counts)
    np.testing.assert_array_equal(mine.starts, other.starts)
    np.testing.assert_array_equal(mine.size, other.size)
    assert (mine.foreground is None) == (other.foreground is None)
    if mine.foreground is not None and other.foreground is not None:
        np.testing.assert_array_equal(mine.foreground, other.foreground)


def assert_same_decoded(strings: list[bytes], sizes: np.ndarray) -> np.ndarray:
    """Whether each is valid, which both say."""
    (mine, valid), (other, expected) = by_both(lambda: decoded(strings, sizes))
    assert_same_masks(mine, other)
    assert valid.dtype == bool
    np.testing.assert_array_equal(valid, expected)
    return np.asarray(valid)


def flat(ring: Any) -> list[float]:
    return [float(number) for number in np.ravel(ring)]


def assert_drawn(rings: list[list[float]], sizes: np.ndarray) -> None:
    """Masks of single rings are the same of both, and those of pycocotools."""
    polygons = polygons_of([[[ring]] for ring in rings])
    mine, other = by_both(lambda: raster_polygons(polygons, sizes))
    assert_same_masks(mine, other)
    drawn = [
        coco.frPyObjects([ring], height, width)[0]["counts"].decode()
        for ring, (height, width) in zip(rings, sizes.tolist(), strict=True)
    ]
    assert encoded(mine) == drawn


def many_masks(seed: int, count: int) -> tuple[Masks, list[dict]]:
    """Masks in images of one size, and as pycocotools encodes them."""
    bitmaps = random_bitmaps(seed, count, (40, 31))
    return masks_of(bitmaps), reference_rles(bitmaps)


# Strings


def test_strings_by_hand() -> None:
    # 1, 3, 2 are a mask of 2 by 3; one pixel too many; inside a number; an illegal character;
    # a negative count (O is -1); nothing, which is a mask of no pixels alone.
    strings = [b"132", b"133", b"13R", b"1 2", b"1O6", b"", b""]
    sizes = np.array([[2, 3]] * 6 + [[0, 3]])
    valid = assert_same_decoded(strings, sizes)
    assert valid.tolist() == [True, False, False, False, False, False, True]


def test_numbers_of_many_characters() -> None:
    # Seven characters, the first six with "more", are the most that are read: P is 0 and "more".
    strings = [b"P" * 6 + b"0", b"P" * 7 + b"0", b"P" * 40 + b"0", b"o" * 6 + b"0", b"o" * 6 + b"O"]
    for sizes in (np.zeros((5, 2), np.int64), np.full((5, 2), 1 << 15), np.full((5, 2), 1 << 20)):
        assert_same_decoded(strings, sizes)
    assert assert_same_decoded([b"P" * 6 + b"0"], np.array([[0, 0]])).all()
    # "1" as the seventh character is 2 ** 30, as many pixels as a count of 32 bits may have; "@" is
    # the sign.
    whole = b"P" * 6 + b"1"
    assert assert_same_decoded([whole], np.array([[1 << 15, 1 << 15]])).all()
    assert not assert_same_decoded([whole], np.array([[1 << 15, (1 << 15) + 1]])).any()
    assert not assert_same_decoded([b"P" * 6 + b"@"], np.array([[1 << 20, 1 << 14]])).any()


def test_random_strings_are_those_of_the_reference() -> None:
    bitmaps = random_bitmaps(3, 500)
    strings = [one["counts"] for one in reference_rles(bitmaps)]
    sizes = np.array([one.shape for one in bitmaps])
    assert assert_same_decoded(strings, sizes).all()
    # In a larger image, counts have 64 bits, and none adds up.
    assert not assert_same_decoded(strings, sizes + rle.LARGEST_SIDE // 2).any()


def test_broken_strings_are_refused_alike() -> None:
    rng = np.random.default_rng(4)
    bitmaps = random_bitmaps(5, 300)
    strings = []
    for one in reference_rles(bitmaps):
        letters = bytearray(one["counts"])
        change = rng.integers(4)
        if change == 0:
            letters = letters[: rng.integers(len(letters) + 1)]
        elif change == 1:
            letters[rng.integers(len(letters))] = rng.integers(256)
        elif change == 2:
            letters.insert(int(rng.integers(len(letters))), int(rng.integers(48, 112)))
        strings.append(bytes(letters))
    valid = assert_same_decoded(strings, np.array([one.shape for one in bitmaps]))
    assert 0.2 < valid.mean() < 0.9


@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.binary(max_size=12),
                st.lists(st.integers(48, 111), max_size=30).map(bytes),
                st.lists(st.integers(48, 63), max_size=12).map(bytes),
            ),
            st.sampled_from(SIDES),
            st.sampled_from(SIDES),
        ),
        max_size=6,
    )
)
def test_any_strings_and_sizes(rows: list[tuple[bytes, int, int]]) -> None:
    sizes = np.array([row[1:] for row in rows], np.int64).reshape(-1, 2)
    assert_same_decoded([row[0] for row in rows], sizes)


@given(st.lists(st.integers(0, 1 << 36), max_size=12), st.sampled_from([0, 1, -1]))
def test_any_counts_as_strings(counts: list[int], more: int) -> None:
    many = Masks(np.array(counts, np.int64), np.array([0, len(counts)]), np.zeros((1, 2), np.int64))
    pixels = sum(counts) + more
    width = max(-(-pixels // rle.LARGEST_SIDE), 1)
    assert_same_decoded(
        [text.encode() for text in encoded(many)], np.array([[pixels // width, width]])
    )


# Polygons and boxes


def test_real_rings_are_drawn_as_the_reference_does() -> None:
    rings, sizes = [], []
    for annotation, size in coco_annotations():
        if isinstance(annotation["segmentation"], list):
            rings += annotation["segmentation"]
            sizes += [size] * len(annotation["segmentation"])
    assert len(rings) > 500
    assert_drawn(rings, np.array(sizes))


@pytest.mark.parametrize("scale", [1.0, 3.0, 40.0, 3000.0])
@pytest.mark.parametrize("step", [0.0, 0.1, 0.5, 1.0])
def test_random_rings_are_drawn_as_the_reference_does(scale: float, step: float) -> None:
    rng = np.random.default_rng(6)
    rings, sizes = [], []
    for _ in range(300):
        points = rng.normal(scale / 2, scale, (rng.integers(3, 9), 2))
        if step:
            points = np.round(points / step) * step
        if rng.random() < 0.3:
            points = np.repeat(points, rng.integers(1, 3, len(points)), axis=0)
        rings.append(flat(points))
        sizes.append(rng.integers(1, 2 + int(scale * rng.choice([0.3, 1, 2])), 2))
    assert_drawn(rings, np.array(sizes))


@given(
    st.lists(
        st.tuples(st.sampled_from(COORDINATES), st.sampled_from(COORDINATES)),
        min_size=3,
        max_size=12,
    ),
    st.integers(1, 13),
    st.integers(1, 13),
)
def test_any_ring(points: list[tuple[float, float]], height: int, width: int) -> None:
    assert_drawn([flat(points)], np.array([[height, width]]))


@given(st.lists(st.floats(-3, 15, width=32), min_size=6, max_size=16), st.integers(1, 13))
def test_any_fractions(numbers: list[float], side: int) -> None:
    assert_drawn([numbers[: len(numbers) // 2 * 2]], np.array([[side, 13 - side + 1]]))


def test_an_outline_that_crosses_a_column_often() -> None:
    # 400 edges to and fro: more crossings than are sorted by insertion.
    number = np.arange(400)
    ring = flat(np.column_stack([np.where(number % 2, 1.3, 9.0), number * 0.7]))
    assert_drawn([ring, ring], np.array([[300, 10], [90, 4]]))


def test_parts_and_holes() -> None:
    rng = np.random.default_rng(7)
    objects = [
        [
            [flat(rng.uniform(-3, 33, (rng.integers(2, 6), 2))) for _ in range(rng.integers(1, 4))]
            for _ in range(rng.integers(1, 4))
        ]
        for _ in range(200)
    ]
    sizes = np.tile([30, 25], (200, 1))
    assert_same_masks(*by_both(lambda: raster_polygons(polygons_of(objects), sizes)))


def test_boxes_are_drawn_as_the_reference_does() -> None:
    rng = np.random.default_rng(8)
    box = np.vstack(
        [
            rng.uniform(-5, 40, (300, 4)),
            np.round(rng.uniform(-5, 40, (300, 4))),
            rng.choice(COORDINATES, (300, 4)),
            [[-1e300, -1e300, 2e300, 2e300], [3, 3, 1e300, 1], [3, 3, -2, -2]],
        ]
    )
    sizes = rng.integers(1, 40, (len(box), 2))
    mine, other = by_both(lambda: raster_boxes(box, sizes))
    assert_same_masks(mine, other)
    assert_same_masks(*by_both(lambda: raster_boxes(box[:0], sizes[:0])))


@pytest.mark.parametrize("size", [(1 << 20, 3), (3, 1 << 20), ((1 << 20) + 1, 3), (3, 1 << 21)])
def test_images_with_a_long_side(size: tuple[int, int]) -> None:
    ring = polygons_of([[[[0, 0, 0, 9, 9, 9, 9, 0]]]])
    assert_same_masks(*by_both(lambda: raster_polygons(ring, np.array([size]))))


def test_images_with_too_many_pixels() -> None:
    def drawn() -> None:
        with pytest.raises(ValueError, match="cannot make a mask: an image has"):
            raster_boxes(np.ones((2, 4)), np.array([[9, 9], [1 << 13, 1 << 13]]))

    by_both(drawn)


# Bounds and overlaps


def test_bounds() -> None:
    bitmaps = random_bitmaps(9, 400)
    masks = masks_of(bitmaps)
    expected = [coco.toBbox(one).tolist() for one in reference_rles(bitmaps)]
    assert bounds(masks).tolist() == expected
    rows = np.random.default_rng(1).integers(0, 400, 600)
    for some in (rows, rows[::2], rows[:0]):
        np.testing.assert_array_equal(*by_both(lambda some=some: bounds(masks, some)))
    narrow = Masks(masks.counts.astype(np.int32), masks.starts, masks.size)
    np.testing.assert_array_equal(bounds(narrow), bounds(masks))


@given(st.integers(1, 9), st.lists(st.integers(0, 12), max_size=20))
def test_bounds_of_any_runs(height: int, counts: list[int]) -> None:
    counts = [*counts, -sum(counts) % height]
    size = np.array([[height, sum(counts) // height]])
    masks = Masks(np.array(counts), np.array([0, len(counts)]), size)
    np.testing.assert_array_equal(*by_both(lambda: bounds(masks)))


@pytest.mark.parametrize("least", [1e-10, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("at_once", [1, 50, 1 << 20])
def test_overlaps(least: float, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mask_overlaps, "PAIRS_AT_ONCE", at_once)
    detections, mine = many_masks(10, 60)
    truths, theirs = many_masks(11, 50)
    rng = np.random.default_rng(12)
    crowd = rng.random(50) < 0.3
    rows = rng.integers(0, 60, 80)
    first = rng.integers(0, 51, 80)
    count = (rng.random(80) * (51 - first)).astype(np.int64)
    narrow = Masks(truths.counts.astype(np.int32), truths.starts, truths.size)
    iou = coco.iou(mine, theirs, crowd.astype(np.uint8).tolist())
    for ground_truths in (truths, narrow):
        found, other = by_both(
            lambda ground_truths=ground_truths: mask_overlaps.overlapping_masks(
                detections, rows, ground_truths, crowd, first, count, least
            )
        )
        for column, expected in zip(found, other, strict=True):
            assert column.dtype == expected.dtype
            np.testing.assert_array_equal(column, expected)
        kept = [
            (d, g)
            for d in range(80)
            for g in range(first[d], first[d] + count[d])
            if iou[rows[d], g] >= least
        ]
        assert list(zip(found.detection.tolist(), found.ground_truth.tolist(), strict=True)) == kept
        assert found.iou.tolist() == [iou[rows[d], g] for d, g in kept]


@given(
    st.lists(st.lists(st.integers(0, 7), max_size=9), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.sampled_from([1e-9, 0.3, 0.5]),
)
def test_overlaps_of_any_runs(runs: list[list[int]], crowd: list[bool], least: float) -> None:
    runs = [[*counts, 70 - sum(counts)] for counts in runs]
    starts = np.cumsum([0, *map(len, runs)])
    n = len(runs)
    size = np.tile([7, 10], (n, 1))
    size[-1] = [10, 7]
    masks = Masks(np.concatenate(runs), starts, size)
    every, whole = np.arange(n), np.full(n, n)
    found, other = by_both(
        lambda: mask_overlaps.overlapping_masks(
            masks, every, masks, np.array(crowd[:n]), every * 0, whole, least
        )
    )
    for column, expected in zip(found, other, strict=True):
        np.testing.assert_array_equal(column, expected)
    bits = [np.repeat(np.arange(len(one)) % 2, one).astype(bool) for one in runs]
    d, g = found.detection, found.ground_truth
    shared = [int((bits[i] & bits[j]).sum()) for i, j in zip(d.tolist(), g.tolist(), strict=True)]
    assert intersections(masks, masks, d, g).tolist() == shared


def test_overlaps_of_huge_masks() -> None:
    side = rle.LARGEST_SIDE
    half = side * side // 2
    counts = np.array([0, side * side, half, half, half - 1, 2, half - 1, side * side])
    masks = Masks(counts, np.array([0, 2, 4, 7, 8]), np.full((4, 2), side))
    every = np.arange(4)
    crowd = np.array([False, True, False, True])
    found, other = by_both(
        lambda: mask_overlaps.overlapping_masks(
            masks, every, masks, crowd, every * 0, every * 0 + 4, 1e-13
        )
    )
    for column, expected in zip(found, other, strict=True):
        np.testing.assert_array_equal(column, expected)
    assert len(found.iou) == 9


# What numbers cannot do


def column(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def pairs_of(**changed: Any) -> Any:
    """A call about two masks that is sound, but for what is changed."""
    counts, starts, size = column(1, 2, 1, 0, 4), column(0, 3, 5), column(2, 2, 2, 2)
    given_columns: dict[str, Any] = {
        "a": counts,
        "a_starts": starts,
        "a_size": size,
        "b": counts,
        "b_starts": starts,
        "b_size": size,
        "rows": column(0, 1),
        "first": column(0, 0),
        "count": column(2, 2),
        "own": np.array([2.0, 4.0]),
        "other": np.array([2.0, 4.0]),
        "crowd": np.zeros(2, bool),
        "d": column(0, 0, 0, 0),
        "g": column(0, 0, 0, 0),
        "iou": np.zeros(4),
        "least": 0.1,
    }
    return KERNEL.overlapping_masks(*{**given_columns, **changed}.values())


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": column(0, 2)},
        {"rows": column(-1, 0)},
        {"first": column(0, 1)},
        {"first": column(-1, 0)},
        {"first": column(INT64.max, 0)},
        {"count": column(2, 3)},
        {"count": column(-1, 2)},
        {"count": column(INT64.max, 2)},
        {"a_starts": column(0, 6, 5)},
        {"a_starts": column(0, 3, 6)},
        {"a_starts": column(-1, 3, 5)},
        {"a_starts": column()},
        {"b_starts": column(3, 0, 5)},
        {"b_starts": column(0, 3, INT64.max)},
        {"a_size": column(2, 2)},
        {"b_size": column(2, 2, 2)},
        {"own": np.zeros(1)},
        {"other": np.zeros(3)},
        {"crowd": np.zeros(1, bool)},
        {"d": column(0, 0, 0)},
        {"g": column(0)},
        {"iou": np.zeros(3)},
    ],
)
def test_pairs_outside_columns_are_refused(changed: dict[str, Any]) -> None:
    assert pairs_of() == 4
    with pytest.raises(ValueError, match="masks, rows and ranges"):
        pairs_of(**changed)


def test_pairs_of_other_types_are_refused() -> None:
    for changed in ({"a": np.zeros(5)}, {"a": np.zeros(5, np.int16)}, {"least": "much"}):
        with pytest.raises(TypeError):
            pairs_of(**changed)
    read_only = np.zeros(4)
    read_only.setflags(write=False)
    with pytest.raises((ValueError, BufferError)):
        pairs_of(iou=read_only)


@given(st.lists(st.integers(INT64.min, INT64.max), min_size=5, max_size=5), st.integers())
def test_counts_that_are_no_mask_break_nothing(counts: list[int], height: int) -> None:
    size = column(*[max(min(height, INT64.max), INT64.min), 2] * 2)
    hostile = column(*counts)
    assert 0 <= pairs_of(a=hostile, b=hostile, a_size=size, b_size=size, least=-1.0) <= 4
    box = np.zeros(8)
    assert KERNEL.bounded(hostile, column(0, 3, 5), size, column(1, 0), box) is None


def test_counts_of_some_masks() -> None:
    masks = masks_of(random_bitmaps(13, 50))
    rows = np.random.default_rng(14).integers(0, 50, 80)
    expected = np.concatenate([masks.counts[masks.starts[r] : masks.starts[r + 1]] for r in rows])
    for width in (np.int32, np.int64):
        counts = masks.counts.astype(width)
        taken = np.empty(len(expected), width)
        KERNEL.taken_counts(counts, masks.starts, masks.size, rows, taken)
        np.testing.assert_array_equal(taken, expected)
        for wrong in (
            taken[:-1],
            np.append(taken, taken[:1]),
            taken.astype(">i8"),
            taken.view("i2"),
        ):
            with pytest.raises((ValueError, TypeError)):
                KERNEL.taken_counts(counts, masks.starts, masks.size, rows, wrong)
        for row in (-1, 50):
            with pytest.raises(ValueError, match="room for their counts"):
                KERNEL.taken_counts(counts, masks.starts, masks.size, rows * 0 + row, taken)
    with pytest.raises(ValueError, match="room for their counts"):
        KERNEL.taken_counts(counts.astype(np.int32), masks.starts, masks.size, rows, taken)


def test_bounds_outside_columns_are_refused() -> None:
    counts, starts, size, box = column(1, 2, 1), column(0, 3), column(2, 2), np.zeros(4)
    for rows, changed in ((column(1), starts), (column(-1), starts), (column(0), column(0, 4))):
        with pytest.raises(ValueError, match="a box for each"):
            KERNEL.bounded(counts, changed, size, rows, box)
    with pytest.raises(ValueError, match="a box for each"):
        KERNEL.bounded(counts, starts, size, column(0, 0), box)


def test_strings_outside_columns_are_refused() -> None:
    def told(letters: bytes, lengths: np.ndarray, room: int, size: np.ndarray) -> int:
        n = len(lengths)
        counts, starts = np.empty(room, np.int32), np.empty(n + 1, np.int64)
        foreground, valid = np.empty(n, np.int64), np.empty(n, bool)
        return int(KERNEL.decoded_counts(letters, lengths, size, counts, starts, foreground, valid))

    size = column(2, 3, 2, 3)
    assert told(b"132132", column(3, 3), 8, size) == 6
    for case in (
        (b"132132", column(3, 4), 8, size),
        (b"132132", column(7, -1), 8, size),
        (b"132132", column(INT64.max, INT64.max), 8, size),
        (b"132132", column(3, 3), 7, size),
        (b"132132", column(3, 3), 8, size[:2]),
        # So many pixels do not fit 32 bits.
        (b"132132", column(3, 3), 8, column(2, 3, 1 << 16, 1 << 16)),
    ):
        with pytest.raises(ValueError, match="room for them"):
            told(*case)


def test_rings_outside_columns_are_refused() -> None:
    points, rings, size = np.array([0.0, 0, 0, 4, 4, 4]), column(0, 3), column(5, 5)
    foreground, starts = column(0), column(0, 0)
    room = KERNEL.drawn_room(points, rings, size)
    # Four columns are crossed above and below, and one count is behind.
    assert room == 9
    counts = np.zeros(room, np.int32)
    assert KERNEL.drawn_counts(points, rings, size, counts, starts, foreground) <= room
    with pytest.raises(ValueError, match="room for all"):
        KERNEL.drawn_counts(points, rings, size, counts[:-1], starts, foreground)
    with pytest.raises(ValueError, match="room for all"):
        KERNEL.drawn_counts(
            points, rings, column(1 << 16, 1 << 16), np.zeros(1 << 10, np.int32), starts, foreground
        )
    for number in (np.nan, np.inf, -np.inf, 1e300):
        with pytest.raises(ValueError, match="near points"):
            KERNEL.drawn_room(np.array([number, 0.0, 0, 4, 4, 4]), rings, size)
    for changed in (column(0, 4), column(-1, 3), column(3, 0), column(), column(0, 1, 3)):
        with pytest.raises(ValueError, match="near points"):
            KERNEL.drawn_room(points, changed, size)
    for changed in (column(5, 0), column(-5, 5), column(5, INT64.max), column(5)):
        with pytest.raises(ValueError, match="near points"):
            KERNEL.drawn_room(points, rings, changed)
