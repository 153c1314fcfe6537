"""Counting pixels and boundaries: both engines, by hand and the slow way."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import by_both, kernel, needs_kernel
from tests.oracles.segmentation import boundary_pixels, cells, drawn
from valor_cli.kernels.geometry.label_maps import (
    IGNORED,
    UNKNOWN,
    LabelPairCounts,
    RawPair,
    UnexpectedValue,
    count_boundaries,
    count_pixels,
    unexpected_values,
)

KINDS = (np.uint8, np.uint16, np.uint32)


def pair_of(
    truth: np.ndarray, prediction: np.ndarray, kinds: tuple[type, type] = (np.uint8, np.uint8)
) -> RawPair:
    """Values 0 to 3 are labels, 4 no label, 5 ignored or no label, 6 and more unknown."""
    codes = np.full(300, UNKNOWN, np.int32)
    codes[:5] = np.arange(5)
    open_codes = codes.copy()
    codes[5], open_codes[5] = IGNORED, 4
    return RawPair(truth.astype(kinds[0]), prediction.astype(kinds[1]), codes, open_codes)


def counted(pair: RawPair) -> LabelPairCounts:
    """The counts of both engines, each pair of codes once, ascending."""
    found, other = by_both(lambda: count_pixels(pair))
    for mine, theirs in zip(found, other, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()
    pairs = list(zip(found.truth.tolist(), found.prediction.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert found.pixels.dtype == np.int64
    assert (found.pixels > 0).all()
    return found


def assert_counts_single_pixels(pair: RawPair) -> None:
    found = counted(pair)
    pairs = zip(found.truth.tolist(), found.prediction.tolist(), strict=True)
    assert Counter(dict(zip(pairs, found.pixels.tolist(), strict=True))) == cells(pair)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("kinds", list(product(KINDS, KINDS)))
def test_equals_a_count_of_single_pixels(kinds: tuple[type, type], smooth: bool) -> None:
    rng = np.random.default_rng(3)
    maps = rng.integers(0, 6, (2, 9, 12) if smooth else (2, 30, 40))
    if smooth:
        maps = maps.repeat(5, axis=1).repeat(20, axis=2)
    assert_counts_single_pixels(pair_of(maps[0], maps[1], kinds))


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 20))))
@settings(max_examples=80, deadline=None)
def test_equals_a_count_of_single_pixels_in_any_runs(runs: list[tuple[int, int, int]]) -> None:
    lengths = [length for *_, length in runs]
    sides = (np.repeat(np.array([run[side] for run in runs], int), lengths) for side in (0, 1))
    pair = pair_of(*sides)
    assert_counts_single_pixels(pair)
    compiled, plain = by_both(lambda: unexpected_values(pair))
    assert compiled == plain
    # All values of a byte, several of them one label, some below all others.
    codes = (np.arange(256) % 19 - 2).astype(np.int32)
    assert_counts_single_pixels(
        pair._replace(truth_codes=codes, prediction_codes=codes[::-1].copy())
    )


def test_worked_by_hand() -> None:
    # Ignored: the last pixel of the first row. The open prediction (5) is no label: 4.
    pair = pair_of(np.array([[0, 0, 5], [1, 4, 4]]), np.array([[0, 2, 0], [5, 4, 1]]))
    found = counted(pair)
    assert found.truth.tolist() == [0, 0, 1, 4, 4]
    assert found.prediction.tolist() == [0, 2, 4, 1, 4]
    assert found.pixels.tolist() == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("layout", ["transposed", "part of a larger one", "reversed"])
def test_maps_need_not_lie_in_one_piece(layout: str) -> None:
    maps = np.random.default_rng(5).integers(0, 6, (2, 20, 30)).astype(np.uint8)
    view = {
        "transposed": lambda one: one.T,
        "part of a larger one": lambda one: one[3:15, 4:20],
        "reversed": lambda one: one[::-1, ::-1],
    }[layout]
    pair = pair_of(maps[0], maps[1])
    pair = pair._replace(truth=view(pair.truth), prediction=view(pair.prediction))
    assert_counts_single_pixels(pair)


def test_values_that_cannot_be_need_no_codes() -> None:
    maps = np.array([[0, 1, 1], [2, 2, 2]], np.uint8)
    codes = np.array([3, 0, 1], np.int32)
    found = counted(RawPair(maps, maps[::-1], codes, codes))
    assert found.truth.tolist() == [0, 1, 1, 3]
    assert found.prediction.tolist() == [1, 0, 3, 1]
    assert found.pixels.tolist() == [2, 2, 1, 1]


def test_many_labels() -> None:
    rng = np.random.default_rng(4)
    codes = np.arange(65_536, dtype=np.int32)
    for values in (rng.integers(0, 65_536, (2, 40, 40)), rng.integers(0, 3, (2, 2, 900))):
        assert_counts_single_pixels(RawPair(*values.astype(np.uint16), codes, codes))


def test_stray_values_are_named_with_their_pixels() -> None:
    # Where the ground truth is ignored (5), the prediction may be anything.
    pair = pair_of(np.array([[9, 9, 5], [7, 0, 0]]), np.array([[0, 8, 250], [8, 8, 6]]))
    assert (count_pixels(pair).truth == UNKNOWN).any()
    assert unexpected_values(pair) == [
        UnexpectedValue(True, 7, 1),
        UnexpectedValue(True, 9, 2),
        UnexpectedValue(False, 6, 1),
        UnexpectedValue(False, 8, 3),
    ]
    assert unexpected_values(pair_of(np.zeros((2, 2)), np.zeros((2, 2)))) == []


@needs_kernel
def test_columns_that_do_not_fit_are_refused() -> None:
    maps, codes, none = np.zeros(9, np.uint8), np.zeros(256, np.int32), np.zeros(0, np.int32)
    expected = np.array([[0], [0], [9]]).tobytes()
    assert kernel().meetings(maps, maps, codes, codes) == expected
    assert kernel().meetings(maps, maps, none, none) == expected
    for columns in ((maps[1:], codes, codes), (maps, codes[1:], codes), (maps, codes, none)):
        with pytest.raises(ValueError, match="two label maps"):
            kernel().meetings(maps, *columns)
    with pytest.raises(ValueError, match="two label maps"):
        kernel().meetings(maps, maps, codes.astype(np.int64), codes)
    with pytest.raises(TypeError):
        kernel().meetings(maps.astype(np.int64), maps, codes, codes)


def boundaries(pair: RawPair, labels: int, ratio: float) -> list[list[int]]:
    return [side.tolist() for side in count_boundaries(pair, labels, ratio)]


def test_boundaries_worked_by_hand() -> None:
    # 5 rows of 6: a diagonal of 7.8, so that 0.02 of it rounds to 0 and 1 pixel is taken.
    # The inner pixels of the ground truth's a are those with a around: 3 rows of 2 of the 5 x 4.
    # Of the prediction's a, one column less: 3.
    dataset = drawn({"one": (["aaaabb"] * 5, ["aaabbb"] * 5)}, 3)
    # b: 5 x 2 without an inner pixel; 5 x 3 with 3, which are the ground truth's too: 10 - 3.
    # In both a: rows of aaa where neither is inner: columns 0 of all rows, 1 of the outer rows
    # (the inner ones are inner in both), 2 of all rows but the inner 3 of the ground truth.
    assert boundaries(dataset.read("one"), 3, 0.02) == [
        *([20 - 6, 10, 0], [15 - 3, 15 - 3, 0], [5 + 2 + 2, 7, 0]),
    ]


@pytest.mark.parametrize(
    ("truth", "prediction", "ratio", "pixels"),
    [
        # The border of the image is a boundary.
        (["aaaaa"] * 5, ["aaaaa"] * 5, 0.02, 16),
        # Ignored pixels end labels on both sides: the hole takes the only pixels inside.
        (["aaaaa", "aaaaa", "aa#aa", "aaaaa", "aaaaa"], ["aaaaa"] * 5, 0.02, 24),
        # A diagonal of 8.06: 0.2 of it is 2 pixels, and the square of 5 wider than the image.
        (["aaaaaaa"] * 4, ["aaaaaaa"] * 4, 0.2, 28),
    ],
)
def test_what_ends_a_label(
    truth: list[str], prediction: list[str], ratio: float, pixels: int
) -> None:
    pair = drawn({"one": (truth, prediction)}, 1).read("one")
    assert boundaries(pair, 1, ratio) == [[pixels]] * 3


@given(st.integers(1, 25), st.integers(1, 25), st.integers(0, 2**32 - 1), st.floats(0.01, 1))
@settings(max_examples=80, deadline=None)
def test_boundaries_equal_repeated_erosions(
    height: int, width: int, seed: int, ratio: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = ["".join(rng.choice(list("aaaaaaaab#-"), width)) for _ in range(height)]
    found = ["".join(rng.choice(list("aaaaaaaab-"), width)) for _ in range(height)]
    pair = drawn({"one": (rows, found)}, 2).read("one")
    reach = max(1, round(ratio * math.sqrt(height**2 + width**2)))
    expected = [boundary_pixels(pair, label, reach) for label in range(2)]
    assert boundaries(pair, 2, ratio) == [list(one) for one in zip(*expected, strict=True)]


def test_boundaries_of_more_labels_than_a_byte_holds() -> None:
    # 300 labels, the first and the last of them on 3 x 3 pixels each.
    values = np.repeat([[0, 299]], 3, axis=0).repeat(3, axis=1).astype(np.uint16)
    codes = np.arange(300, dtype=np.int32)
    counts = count_boundaries(RawPair(values, values, codes, codes), 300, 0.02)
    assert [int(side.sum()) for side in counts] == [16, 16, 16]
    assert counts.both[[0, 299]].tolist() == [8, 8]
