"""Cosines: worked by hand, and far from 1."""

from __future__ import annotations

import numpy as np
import pytest

from valor_cli.kernels.vectors.cosines import cosines


def test_worked_by_hand() -> None:
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
