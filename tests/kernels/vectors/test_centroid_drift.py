"""Centroids by hand; what chance does, against each relabelling."""

from __future__ import annotations

from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.vectors.cosines import (
    centroid,
    centroid_drift,
    distances_from,
    permutation_p,
    permuted_drifts,
    units,
)


def test_by_hand() -> None:
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


@given(st.integers(2, 30), st.integers(0, 5))
def test_bounds(count: int, seed: int) -> None:
    vectors = units(np.random.default_rng(seed).normal(size=(count, 3)))
    drift = centroid_drift(vectors, count // 2)
    assert drift is not None
    assert 0 <= drift <= 2
    drawn = permuted_drifts(vectors, count // 2, 20, seed)
    assert ((drawn >= 0) & (drawn <= 2)).all()
    assert 1 / 21 <= permutation_p(drift, drawn) <= 1
