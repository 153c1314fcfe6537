"""Cosines, centroids and distances: by hand, against every relabelling and every segment."""

from __future__ import annotations

from itertools import permutations
from math import dist, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.vectors.cosines import (
    centroid,
    centroid_drift,
    cosines,
    distances,
    distances_from,
    median_distance,
    nearest_within,
    permutation_p,
    permuted_drifts,
    three_segments,
    units,
)


def test_cosines_by_hand() -> None:
    # (3, 4) has length 5. With (4, 3): 24 / 25; with (-3, -4): -1; with (-4, 3): 0.
    others = np.array([[4.0, 3.0], [-3.0, -4.0], [-4.0, 3.0], [6.0, 8.0], [0.0, 0.0]])
    assert cosines(np.array([3.0, 4.0]), others) == pytest.approx([0.96, -1, 0, 1, 0], abs=1e-15)


@pytest.mark.parametrize("size", [1e-200, 1e-3, 1e200])
def test_length_does_not_matter(size: float) -> None:
    one = np.array([3.0, 4.0]) * size
    found = cosines(one, np.array([[4.0, 3.0], [3.0, 4.0]]) * size)
    assert found == pytest.approx([0.96, 1], abs=1e-15)
    assert found.max() <= 1


def test_never_beyond_one() -> None:
    vectors = np.random.default_rng(0).normal(size=(300, 7))
    for vector in vectors:
        (same, opposite) = cosines(vector, np.array([vector, -vector]))
        assert same <= 1
        assert opposite >= -1


def test_a_vector_of_zeros_and_none_at_all() -> None:
    assert cosines(np.zeros(2), np.ones((2, 2))).tolist() == [0, 0]
    assert cosines(np.ones(2), np.ones((0, 2))).shape == (0,)


def test_centroids_by_hand() -> None:
    # (1, 0) and (0, 1) have their centroid at 45 degrees, (1, 0) twice at 0: 1 - cos 45.
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    assert centroid_drift(vectors, 2) == pytest.approx(1 - 1 / sqrt(2), abs=1e-12)
    assert centroid_drift(vectors, 1) == pytest.approx(1 - 2 / sqrt(5), abs=1e-12)
    assert distances_from(np.array([1.0, 0.0]), vectors) == pytest.approx([0, 1, 0, 0])


def test_groups_without_a_centroid() -> None:
    vectors = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert centroid_drift(vectors, 2) is None
    assert centroid_drift(vectors, 3) is None
    assert centroid(vectors[3:]) is None
    # Its length does not count.
    one = centroid(vectors[[0, 2, 3]])
    assert one is not None
    assert one == pytest.approx([1 / sqrt(2), 1 / sqrt(2)])


def test_opposite_groups_are_as_far_as_can_be() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert centroid_drift(vectors, 2) == 2.0


def test_chance_against_all_relabellings() -> None:
    # Of 720 orders every group of two out of six comes equally often.
    vectors = units(np.random.default_rng(0).normal(size=(6, 3)))
    every = [centroid_drift(vectors[list(order)], 2) for order in permutations(range(6))]
    drawn = permuted_drifts(vectors, 2, 20_000, seed=1)
    assert np.isin(drawn.round(9), np.round(np.array(every, float), 9)).all()
    assert drawn.mean() == pytest.approx(np.mean(np.array(every, float)), abs=0.01)


@pytest.mark.parametrize("count", [1, 99, 100, 101, 250])
def test_more_permutations_begin_with_the_same(count: int) -> None:
    vectors = units(np.random.default_rng(0).normal(size=(12, 4)))
    many = permuted_drifts(vectors, 5, 300, seed=7)
    assert permuted_drifts(vectors, 5, count, seed=7) == pytest.approx(many[:count], abs=1e-12)
    assert not np.allclose(permuted_drifts(vectors, 5, 300, seed=8), many)


def test_a_drawn_group_without_a_centroid_is_at_right_angles() -> None:
    vectors = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    drawn = permuted_drifts(vectors, 2, 50, seed=0)
    # Both of the first two on one side: 1; else each side has one of them: 1 - cos 90 = 1.
    assert drawn == pytest.approx(1.0)


def test_p_by_hand() -> None:
    # Two of four are 0.5 and more; with what was found, three of five.
    assert permutation_p(0.5, np.array([0.4, 0.5, 0.6, 0.1])) == 3 / 5
    assert permutation_p(0.7, np.array([0.4, 0.5, 0.6, 0.1])) == 1 / 5


def test_equal_vectors_do_not_drift() -> None:
    vectors = np.tile(units(np.array([[0.1, 0.7, 0.3]])), (11, 1))
    drift = centroid_drift(vectors, 4)
    assert drift == pytest.approx(0, abs=1e-15)
    assert drift is not None
    assert permutation_p(drift, permuted_drifts(vectors, 4, 100, seed=0)) == 1.0


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


def test_three_segments_by_hand() -> None:
    # 0 and 10 are furthest apart; furthest from 0 then is 7, furthest from 10 is 3: 10 + 7 + 7.
    assert reach([(0,), (10,), (3,), (7,)]) == 24
    # A right triangle with legs 3 and 4: its hypotenuse, and from both ends to the third corner.
    assert reach([(0, 0), (3, 0), (0, 4)]) == 12
    assert reach([(0, 0), (3, 4)]) == 5
    assert reach([(1, 1)]) == 0
    assert three_segments(np.empty((0, 0))) == 0


@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=9))
def test_three_segments_against_a_search(points: Points) -> None:
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
