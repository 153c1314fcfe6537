"""Exact sums: against fractions and math.fsum, over the whole range of floats, in any order."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.ranking import exact_sums as module
from valor_cli.kernels.ranking.exact_sums import (
    ExactSums,
    exact_parts,
    exact_sums,
    weighted_sums,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LEAST = Fraction(1, 2**1074)


def exactly(values: list[float]) -> Fraction:
    """Their sum, in the smallest of floats."""
    return sum(map(Fraction, values), Fraction(0)) / LEAST


def of_all_exponents(seed: int, count: int) -> np.ndarray:
    """Finite floats whose bits are drawn, subnormal ones among them."""
    rng = np.random.default_rng(seed)
    exponent = rng.integers(0, 2047, count).astype(np.uint64) << np.uint64(52)
    rest = rng.integers(0, 1 << 52, count, dtype=np.uint64)
    sign = rng.integers(0, 2, count, dtype=np.uint64) << np.uint64(63)
    return (exponent | rest | sign).view(np.float64)


def test_by_hand() -> None:
    # Added from the left, 1 is lost between 1e16 and -1e16.
    assert exact_sums(np.array([1e16, 1.0, -1e16])).rounded().tolist() == [1.0]
    # 0.1 is a little more than a tenth: ten of them round to 1, added one by one they do not.
    assert exact_sums(np.full(10, 0.1)).rounded().tolist() == [1.0]
    assert exact_sums(np.array([5e-324, 5e-324])).units == (2,)
    assert exact_sums(np.zeros(0)).rounded().tolist() == [0.0]
    assert exact_sums(np.zeros(0), np.zeros(0, np.int64), 3).rounded().tolist() == [0.0] * 3


@given(st.lists(FINITE, max_size=40))
@settings(max_examples=100, deadline=None)
def test_equals_fractions(values: list[float]) -> None:
    found = exact_sums(np.array(values, np.float64))
    assert found.units == (exactly(values),)
    try:
        assert found.rounded()[0] == math.fsum(values)
    except OverflowError:
        with pytest.raises(OverflowError):
            float(exactly(values) * LEAST)


@pytest.mark.parametrize("seed", range(4))
def test_equals_fractions_over_the_whole_range(seed: int) -> None:
    values = of_all_exponents(seed, 3000)
    assert exact_sums(values).units == (exactly(values.tolist()),)
    # Next to the largest and to the smallest of floats.
    assert exact_sums(values * 1e-290).units == (exactly((values * 1e-290).tolist()),)


@pytest.mark.parametrize("count", [1, 8191, 8192, 8193, 50_000])
def test_many_numbers(count: int) -> None:
    values = np.random.default_rng(count).exponential(1, count) * 37
    assert exact_sums(values).rounded()[0] == math.fsum(values)
    # As many as are cut together, all as large as they can be: their sum must not be rounded.
    largest = np.full(count, np.nextafter(2.0, 1))
    assert exact_sums(largest).units[0] == exactly([largest[0]]) * count


def test_the_sum_of_what_is_cut_fits_a_float() -> None:
    assert module.AT_ONCE * 2**module.BITS == 2**52


@given(st.lists(st.tuples(st.integers(0, 4), FINITE), max_size=60), st.integers(0, 9))
@settings(deadline=None)
def test_groups_and_parts_in_any_order(rows: list[tuple[int, float]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = np.array([at for at, _ in rows], np.int64)
    values = np.array([value for _, value in rows], np.float64)
    whole = exact_sums(values, group, 5)
    assert whole.units == tuple(exactly(values[group == at].tolist()) for at in range(5))
    of = rng.integers(0, 3, len(rows))
    parts = [exact_sums(values[of == at], group[of == at], 5) for at in rng.permutation(3)]
    assert ExactSums.merged(parts) == whole
    assert ExactSums.merged([parts[0], ExactSums.merged(parts[1:])]) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301 - made here


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        exact_sums(np.array([1.0, value]))


_RNG = np.random.default_rng(7)


@pytest.mark.parametrize("scale", [1e-290, 1e-12, 1.0, 12345.678, 1e280])
def test_the_parts_add_up_to_the_values(scale: float) -> None:
    values = _RNG.standard_normal((50, 3)) * scale
    parts = exact_parts(values)
    rows = zip(*(part.ravel().tolist() for part in parts), values.ravel().tolist(), strict=True)
    for *own, value in rows:
        assert math.fsum(own) == value


def test_whole_numbers_are_one_part() -> None:
    values = np.array([[3.0, 0.0, 1.0]])
    assert exact_parts(values).tolist() == [values.tolist()]
    nothing = exact_parts(np.zeros((2, 0)))
    assert nothing.tolist() == [[[], []]]
    assert weighted_sums(np.zeros((1, 0)), nothing).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("spread", [1, 1e3, 1e9, 1e280, 1e-280])
def test_sums_are_those_of_fsum(spread: float) -> None:
    values = _RNG.random((2, 1000)) ** 3 * spread ** _RNG.random((2, 1000))
    weights = _RNG.poisson(1, (3, 1000))
    found = weighted_sums(weights.astype(np.float64), exact_parts(values))
    assert found.tolist() == [
        [math.fsum(np.repeat(column, row).tolist()) for row in weights] for column in values
    ]
