"""Wilson's interval against statsmodels, by hand, and how often it holds the true proportion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tests.statistics.stored import stored
from valor_cli.statistics.proportions import wilson_interval


def test_by_hand() -> None:
    # z = 1.959964, z² = 3.841459. Of 5 of 20: middle (0.25 + 3.841459 / 40) / 1.192073 = 0.290281,
    # half 1.959964 / 1.192073 · √(0.1875 / 20 + 3.841459 / 1600) = 0.178413.
    assert wilson_interval(5, 20, 0.95) == pytest.approx((0.111868, 0.468694), abs=1e-5)


def test_without_trials_there_is_none() -> None:
    assert wilson_interval(0, 0, 0.95) is None


@pytest.mark.parametrize("case", stored("wilson"), ids=lambda case: f"{case['n']}-{case['level']}")
def test_statsmodels(case: dict[str, Any]) -> None:
    interval = wilson_interval(case["successes"], case["n"], case["level"])
    assert interval == pytest.approx(case["interval"], abs=1e-12)


@given(st.integers(1, 10**6), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_it_holds_the_proportion_and_stays_within_0_and_1(
    n: int, part: float, level: float
) -> None:
    successes = round(part * n)
    interval = wilson_interval(successes, n, level)
    assert interval is not None
    assert 0 <= interval[0] <= successes / n <= interval[1] <= 1


def covered(n: int, share: float, level: float) -> float:
    """How often the interval holds the true share: added up over all outcomes, not simulated."""
    outcomes = range(n + 1)
    ends = [wilson_interval(successes, n, level) for successes in outcomes]
    inside = [end is not None and end[0] <= share <= end[1] for end in ends]
    return float(binom.pmf(outcomes, n, share)[inside].sum())


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [10, 100])
def test_coverage_is_the_level_on_average_over_shares(n: int, level: float) -> None:
    # Counts come in steps, so that the coverage of one share lies above or below the level
    # (Brown, Cai and DasGupta, Interval estimation for a binomial proportion, 2001).
    found = [covered(n, share, level) for share in np.linspace(0.01, 0.99, 99)]
    assert np.mean(found) == pytest.approx(level, abs=0.01)


@pytest.mark.parametrize(
    ("n", "share"), [(50, 0.2), (50, 0.5), (200, 0.05), (200, 0.9), (1000, 0.5)]
)
def test_coverage_of_a_share(n: int, share: float) -> None:
    assert covered(n, share, 0.95) == pytest.approx(0.95, abs=0.02)
