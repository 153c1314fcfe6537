"""How often, on simulated data, intervals hold the truth and tests find what is not there.

A share of 2,000 independent simulations is known to 0.5 percentage points (its standard error at
95 %): bounds are the theory's share, give or take three of these.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from tests.oracles.sacrebleu_significance import sacrebleu_p
from valor_cli.statistics.bootstrap import mean_intervals, resample_weights
from valor_cli.statistics.paired import bootstrap_p, sign_permutation

TIMES = 2000
NOISE = 3 * sqrt(0.05 * 0.95 / TIMES)


def covered(data: np.ndarray, truth: float, clusters: np.ndarray | None = None) -> float:
    """How many of the columns have a 95 % interval of their mean that holds the truth."""
    found = mean_intervals(data, resamples=500, level=0.95, seed=11, clusters=clusters)
    return float(np.mean([one is not None and one[0] <= truth <= one[1] for one in found]))


def test_means_of_normal_values() -> None:
    n = 50
    data = np.random.default_rng(n).normal(3, 2, (n, TIMES))
    # The ends are 1.96 standard errors away, in which the sum of squares is divided by n.
    expected = 2 * stats.t.cdf(1.96 * sqrt((n - 1) / n), n - 1) - 1
    assert covered(data, 3) == pytest.approx(expected, abs=NOISE)


def test_means_of_skewed_values() -> None:
    n = 50
    data = np.random.default_rng(n).exponential(1, (n, TIMES))
    # The skewness of 2 costs about 1 / n more (Hall, The Bootstrap and Edgeworth Expansion, 1992).
    assert 0.95 - 1.2 / n - NOISE <= covered(data, 1) <= 0.95 + NOISE


def test_units_that_belong_together_need_the_bootstrap_of_clusters() -> None:
    random = np.random.default_rng(5)
    clusters = np.repeat(np.arange(60), 5)
    shared = random.normal(0, 2, (60, TIMES))[clusters]
    data = shared + random.normal(0, 1, (300, TIMES))
    expected = 2 * stats.t.cdf(1.96 * sqrt(59 / 60), 59) - 1
    assert covered(data, 0, clusters) == pytest.approx(expected, abs=NOISE)
    # Correlated to 0.8, five units say as much as 1.2: intervals are 2 times too narrow.
    spread = sqrt((4 + 1 / 5) / 60) / sqrt(5 / 300)
    assert covered(data, 0) == pytest.approx(2 * stats.norm.cdf(1.96 / spread) - 1, abs=4 * NOISE)


@pytest.mark.parametrize("n", [12, 30])
def test_models_that_are_alike_have_uniform_p_values(n: int) -> None:
    differences = np.random.default_rng(n).laplace(0, 1, (n, TIMES))
    p = sign_permutation(differences, seed=0)
    for level in (0.01, 0.05, 0.2, 0.5, 0.8):
        # Four: there are ten of these shares.
        within = 4 * sqrt(level * (1 - level) / TIMES)
        assert (p <= level).mean() == pytest.approx(level, abs=within)


def test_signs_find_what_student_s_test_finds() -> None:
    differences = np.random.default_rng(2).normal(0.4, 1, (50, TIMES))
    critical = stats.t.ppf(0.975, 49)
    power = stats.nct.sf(critical, 49, 0.4 * sqrt(50))
    found = float((sign_permutation(differences, seed=0) <= 0.05).mean())
    assert found == pytest.approx(power, abs=3 * sqrt(power * (1 - power) / TIMES) + 0.01)


def test_samples_that_belong_together_need_the_signs_of_clusters() -> None:
    random = np.random.default_rng(9)
    clusters = np.repeat(np.arange(20), 5)
    differences = random.normal(0, 2, (20, TIMES))[clusters] + random.normal(0, 1, (100, TIMES))
    p = sign_permutation(differences, seed=0, clusters=clusters)
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=NOISE)
    assert (sign_permutation(differences, seed=0) <= 0.05).mean() > 0.25


def test_the_paired_bootstrap_and_that_of_sacrebleu() -> None:
    # Models that are alike: bootstrap_p tells one pair in twenty apart, sacrebleu's one in ten.
    differences = np.random.default_rng(4).normal(0, 1, (100, TIMES))
    weights = np.array([resample_weights(100, 0, number) for number in range(400)])
    resampled, observed = weights @ differences / 100, differences.mean(0)
    pairs = list(zip(resampled.T, observed.tolist(), strict=True))
    for tested, expected in ((bootstrap_p, 0.05), (sacrebleu_p, 0.1)):
        told = [tested(column, one) for column, one in pairs]
        alarms = float(np.mean([one is not None and one <= 0.05 for one in told]))
        # 400 resamples know an end less well than the theory: 1 percentage point more.
        assert alarms == pytest.approx(expected, abs=0.01 + 3 * sqrt(expected * 0.9 / TIMES))
