"""Whether one mean is lower than another, from moments."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import stats

from valor_cli.statistics.lower_means import Floats, Moments, lower_means


def moments(*sets: list[float]) -> Moments:
    values = [np.array(one, np.float64) for one in sets]
    columns = (
        [float(len(one)) for one in values],
        [one.sum() for one in values],
        [(one**2).sum() for one in values],
    )
    return Moments(*(np.array(one) for one in columns))


def p(inside: list[float], outside: list[float], below: float = 1.0) -> float:
    (found,) = lower_means(moments(inside), moments(outside), below=below)
    return float(found)


def test_by_hand() -> None:
    # Means 1 and 3, variances 1 and 1, three values each: t = -2 / sqrt(1/3 + 1/3) = -2.4495 with
    # 4 degrees of freedom in both tests, whose lower tail is
    # 1/2 - 3/8 * (x + x * (4 - x^2) ...): of Student's distribution with 4 degrees,
    # F(t) = 1/2 + 3/8 * u * (1 - u^2 / 12) with u = t / sqrt(1 + t^2 / 4) = -1.549193.
    u = -2.449489742783178 / (1 + 6 / 4) ** 0.5
    assert p([0, 1, 2], [2, 3, 4]) == pytest.approx(0.5 + 3 / 8 * u * (1 - u**2 / 12), abs=1e-12)


def test_the_larger_of_welchs_and_of_students() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        inside = rng.normal(-0.3, rng.uniform(0.1, 3), rng.integers(2, 40))
        outside = rng.normal(0, 1, rng.integers(2, 40))
        both = [
            stats.ttest_ind(inside, outside, equal_var=equal, alternative="less").pvalue
            for equal in (False, True)
        ]
        found = p(inside.tolist(), outside.tolist())
        assert found == pytest.approx(max(both) if max(both) < 1 else 1, abs=1e-10)


def test_a_part_that_fails_wholly_is_not_sure_of_itself() -> None:
    # 30 failures beside 970 samples of which a tenth pass. Chance alone has 30 failures in
    # C(900, 30) / C(1000, 30) = 4 % of all draws; Welch's test says 1e-23.
    inside, outside = [0.0] * 30, [1.0] * 100 + [0.0] * 870
    chance = comb(900, 30) / comb(1000, 30)
    assert p(inside, outside) == pytest.approx(chance, abs=0.02)
    assert stats.ttest_ind(inside, outside, equal_var=False, alternative="less").pvalue < 1e-20


def test_two_single_values_are_parted_by_chance_in_one_way() -> None:
    # Of 5 values 2 are drawn: one way of 10 takes the two zeros.
    assert p([0, 0], [1, 1, 1]) == pytest.approx(0.1)
    # Nothing is lower where all are equal, or where inside is higher.
    assert p([0.1, 0.1], [0.1, 0.1, 0.1]) == 1
    assert p([1, 1], [0, 0, 0]) == 1


def test_fewer_than_two_values_are_no_test() -> None:
    assert np.isnan(p([1], [2, 3]))
    assert np.isnan(p([1, 2], []))


def test_what_is_not_below_the_limit_is_1() -> None:
    rng = np.random.default_rng(1)
    sets = [(rng.normal(-0.5, 1, 9).tolist(), rng.normal(0, 1, 9).tolist()) for _ in range(60)]
    inside, outside = (moments(*side) for side in zip(*sets, strict=True))
    every: Floats = lower_means(inside, outside, below=1.0)
    some = lower_means(inside, outside, below=0.1)
    assert 0 < (every < 0.1).sum() < 60
    assert np.array_equal(some, np.where(every < 0.1, every, 1))
