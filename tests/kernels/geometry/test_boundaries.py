"""Boundaries of labels: worked by hand, and against repeated erosions of every mask."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.label_map_problems import random_maps
from tests.oracles.segmentation import boundary, boundary_pixels, drawn
from valor_cli.kernels.geometry.label_maps import BoundaryCounts, count_boundaries


def listed(counts: BoundaryCounts) -> list[list[int]]:
    return [side.tolist() for side in counts]


def test_worked_by_hand() -> None:
    # 5 rows of 6: a diagonal of 7.8, so that 0.02 of it rounds to 0 and 1 pixel is taken.
    # The inner pixels of the ground truth's a are those with a around: 3 rows of 2 of the 5 x 4.
    # Of the prediction's a, one column less: 3.
    dataset = drawn({"one": (["aaaabb"] * 5, ["aaabbb"] * 5)}, 3)
    counts = count_boundaries(dataset.read("one"), 3, 0.02)
    # b: 5 x 2 without an inner pixel; 5 x 3 with 3, which are the ground truth's too: 10 - 3.
    # In both a: rows of aaa where neither is inner: columns 0 of all rows, 1 of the outer rows
    # (the inner ones are inner in both), 2 of all rows but the inner 3 of the ground truth.
    assert listed(counts) == [[20 - 6, 10, 0], [15 - 3, 15 - 3, 0], [5 + 2 + 2, 7, 0]]


def test_the_border_of_the_image_is_a_boundary() -> None:
    full = drawn({"one": (["aaaaa"] * 5, ["aaaaa"] * 5)}, 1)
    assert listed(count_boundaries(full.read("one"), 1, 0.02)) == [[16], [16], [16]]


def test_ignored_pixels_end_labels_on_both_sides() -> None:
    # The hole in the middle takes the only pixels that were inside.
    rows = ["aaaaa", "aaaaa", "aa#aa", "aaaaa", "aaaaa"]
    holed = drawn({"one": (rows, ["aaaaa"] * 5)}, 1)
    assert listed(count_boundaries(holed.read("one"), 1, 0.02)) == [[24], [24], [24]]


def test_a_square_wider_than_the_image_leaves_nothing_inside() -> None:
    full = drawn({"one": (["aaaaaaa"] * 4, ["aaaaaaa"] * 4)}, 1)
    # A diagonal of 8.06: 0.2 of it is 2 pixels, 5 for the square.
    assert listed(count_boundaries(full.read("one"), 1, 0.2)) == [[28], [28], [28]]


@pytest.mark.parametrize("ratio", [0.01, 0.02, 0.05, 0.1, 0.3, 1.0])
def test_equals_repeated_erosions(ratio: float) -> None:
    dataset = random_maps(2, images=4, labels=3)
    for name in dataset.sample_ids:
        pair = dataset.read(name)
        height, width = pair.truth.shape
        reach = max(1, round(ratio * math.sqrt(height**2 + width**2)))
        expected = [boundary_pixels(pair, label, reach) for label in range(3)]
        assert listed(count_boundaries(pair, 3, ratio)) == [
            list(one) for one in zip(*expected, strict=True)
        ]


@given(st.integers(1, 12), st.integers(1, 14), st.integers(0, 2**32 - 1), st.floats(0.01, 0.6))
@settings(max_examples=60, deadline=None)
def test_equals_repeated_erosions_of_masks_of_any_size(
    height: int, width: int, seed: int, ratio: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = ["".join(rng.choice(list("aaaaaaaab#-"), width)) for _ in range(height)]
    found = ["".join(rng.choice(list("aaaaaaaab-"), width)) for _ in range(height)]
    pair = drawn({"one": (rows, found)}, 2).read("one")
    reach = max(1, round(ratio * math.sqrt(height**2 + width**2)))
    expected = [boundary_pixels(pair, label, reach) for label in range(2)]
    assert listed(count_boundaries(pair, 2, ratio)) == [
        list(one) for one in zip(*expected, strict=True)
    ]


def test_more_labels_than_a_byte_holds() -> None:
    # 300 labels, the first and the last of them on 3 x 3 pixels each.
    values = np.repeat([[0, 299]], 3, axis=0).repeat(3, axis=1).astype(np.uint16)
    codes = np.arange(65_536, dtype=np.int32)
    pair = (
        random_maps(0)
        .read("image 0")
        ._replace(
            truth=values, prediction=values, truth_codes=codes[:300], prediction_codes=codes[:300]
        )
    )
    counts = count_boundaries(pair, 300, 0.02)
    assert [int(side.sum()) for side in counts] == [16, 16, 16]
    assert counts.both[[0, 299]].tolist() == [8, 8]


def test_the_oracle_erodes_by_a_square() -> None:
    mask = np.ones((7, 7), bool)
    assert (~boundary(mask, 2)).nonzero()[0].tolist() == [2, 2, 2, 3, 3, 3, 4, 4, 4]
