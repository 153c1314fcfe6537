"""Weighted sums are exact: the order of summands, and who adds them, makes no difference."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest

from valor_cli.statistics.exact_sums import exact_parts, weighted_sums

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("scale", [1e-250, 1e-12, 1.0, 12345.678, 1e280])
def test_the_parts_add_up_to_the_values(scale: float) -> None:
    values = RNG.standard_normal((50, 3)) * scale
    parts = exact_parts(values)
    assert len(parts) == 3
    rows = zip(*(part.ravel().tolist() for part in parts), values.ravel().tolist(), strict=True)
    for *own, value in rows:
        assert fsum(own) == pytest.approx(value, rel=1e-16, abs=2.0**-71 * np.abs(values).max())


def test_whole_numbers_are_one_part() -> None:
    values = np.array([3.0, 0.0, 1.0])
    assert [part.tolist() for part in exact_parts(values)] == [[3.0, 0.0, 1.0]]
    assert [part.tolist() for part in exact_parts(np.zeros(0))] == [[]]
    assert weighted_sums(np.zeros(0), exact_parts(np.zeros(0))) == 0.0


@pytest.mark.parametrize("spread", [1, 1e3, 1e9])
def test_sums_are_those_of_fsum(spread: float) -> None:
    values = RNG.random(1000) ** 3 * spread ** RNG.random(1000)
    weights = RNG.poisson(1, 1000).astype(np.float64)
    repeated = np.repeat(values, weights.astype(np.int64))
    found = float(weighted_sums(weights, exact_parts(values)))
    assert found == pytest.approx(fsum(repeated), rel=2.3e-16)


def test_order_makes_no_difference() -> None:
    values = RNG.standard_normal((300, 4))
    weights = RNG.poisson(1, (5, 300)).astype(np.float64)
    order = RNG.permutation(300)
    found = weighted_sums(weights, exact_parts(values))
    again = weighted_sums(weights[:, order], exact_parts(values[order]))
    one_by_one = [
        [weighted_sums(row, exact_parts(column)) for column in values.T] for row in weights
    ]
    assert found.tolist() == again.tolist()
    assert np.allclose(found, one_by_one, rtol=1e-15, atol=0)
