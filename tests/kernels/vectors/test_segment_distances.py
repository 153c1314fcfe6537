"""Reaches of points by hand, and against a search through all segments."""

from __future__ import annotations

from math import dist, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.vectors.cosines import (
    distances,
    median_distance,
    nearest_within,
    three_segments,
)

Points = list[tuple[int, ...]]


def reach(points: Points) -> float:
    array = np.array(points, float).reshape(len(points), -1)
    return three_segments(distances(array, array))


def searched(points: Points) -> float:
    """The definition, with every pair tried."""
    pairs = [(a, b) for a in range(len(points)) for b in range(a)]
    if not pairs:
        return 0.0
    longest = max(dist(points[a], points[b]) for a, b in pairs)
    best = 0.0
    for a, b in pairs:
        if dist(points[a], points[b]) == longest:
            rest = [point for at, point in enumerate(points) if at not in (a, b)]
            more = [max((dist(points[end], one) for one in rest), default=0.0) for end in (a, b)]
            best = max(best, sum(more))
    return longest + best


def test_by_hand() -> None:
    # 0 and 10 are furthest apart; furthest from 0 then is 7, furthest from 10 is 3: 10 + 7 + 7.
    assert reach([(0,), (10,), (3,), (7,)]) == 24
    # A right triangle with legs 3 and 4: its hypotenuse, and from both ends to the third corner.
    assert reach([(0, 0), (3, 0), (0, 4)]) == 12
    assert reach([(0, 0), (3, 4)]) == 5
    assert reach([(1, 1)]) == 0
    assert three_segments(np.empty((0, 0))) == 0


def test_points_on_one_another() -> None:
    assert reach([(2, 2)] * 4) == 0
    # From either end of the one segment there is nothing but the other's twin.
    assert reach([(0,), (1,), (0,), (1,)]) == 3


def test_of_equally_long_segments_that_with_more_behind_it_counts() -> None:
    # Both diagonals of a rectangle are 10. From the ends of one the furthest others are at 8 and
    # at sqrt 65, from those of the other at 8 and at sqrt 89.
    points: Points = [(0, 0), (8, 0), (8, 6), (0, 6), (8, 1)]
    assert reach(points) == pytest.approx(10 + 8 + sqrt(89), abs=1e-12)


@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=9))
def test_against_a_search(points: Points) -> None:
    # math.dist and numpy may differ in the last digit, and so in which segments tie.
    assert reach(points) == pytest.approx(searched(points), abs=1e-12)


def test_distances() -> None:
    ones = np.array([[0.0, 0.0], [1.0, 1.0]])
    others = np.array([[3.0, 4.0], [1.0, 1.0], [0.0, 1.0]])
    assert distances(ones, others) == pytest.approx(
        np.array([[5.0, sqrt(2), 1.0], [sqrt(13), 0.0, 1.0]]), abs=1e-12
    )
    assert distances(ones[:0], others).shape == (0, 3)


def test_median_of_pairs() -> None:
    # 1, 3, 6, 2, 5, 3 in order: 1 2 3 3 5 6.
    points = np.array([[0.0], [1.0], [3.0], [6.0]])
    assert median_distance(distances(points, points)) == 3


def test_nearest_within_reach() -> None:
    apart = np.array([[2.0, 1.0, 1.0], [3.0, 2.5, 4.0], [2.0, 2.0, 9.0]])
    assert nearest_within(apart, 2.0).tolist() == [1, -1, 0]
    assert nearest_within(apart[:0], 2.0).tolist() == []
