"""How often, on simulated data, intervals hold the truth and tests find what is not there.

A share of 2,000 independent simulations is known to 0.5 percentage points (its standard error at
95 %): bounds are the theory's share, give or take three of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import pytest
from msgspec import structs
from scipy import stats

from tests.oracles.sacrebleu_significance import sacrebleu_p
from valor_cli.metric import Call, Metric, in_one_part
from valor_cli.pipeline.executor.executor import ThisProcess
from valor_cli.pipeline.intervals.intervals import intervals
from valor_cli.pipeline.intervals.resamples import Draws, clusters_of
from valor_cli.pipeline.intervals.resampling import findings_of
from valor_cli.results import Findings, MetricValue
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


@dataclass(frozen=True)
class Columns:
    """Evidence of many simulations at once: one value per unit and column, and its weights."""

    values: np.ndarray
    weights: np.ndarray

    @property
    def unit_count(self) -> int:
        return len(self.values)

    def select(self, units: np.ndarray) -> Columns:
        return Columns(self.values[units], self.weights[units])

    def resamples(self, weights: np.ndarray) -> Iterator[Columns]:
        for row in weights:
            yield replace(self, weights=row)


def means(columns: Columns) -> Findings:
    """The mean of each column."""
    found = columns.weights @ columns.values / columns.weights.sum()
    return Findings([MetricValue(one) for one in found.tolist()])


def rates(columns: Columns) -> Findings:
    """The same, said to be proportions of the units."""
    n = len(columns.values)
    return Findings([structs.replace(one, n=n, proportion=True) for one in means(columns).values])


def of_a_run(metric: Metric, data: np.ndarray, draws: Draws) -> list[tuple[float, float] | None]:
    """The intervals that a run gives."""
    numbers = Columns(data, np.ones(len(data), np.int64))
    calls = [Call(metric, {})]
    found = [findings_of(one, numbers, in_one_part) for one in calls]
    (around,) = intervals(
        calls,
        found,
        numbers,
        in_one_part,
        draws,
        level=0.95,
        workers=ThisProcess(),
        told=lambda done: None,
    )
    return [one.interval for one in around]


MEANS = Metric(name="means", compute=means, reference="-")
RATES = Metric(name="rates", compute=rates, reference="-")


def test_intervals_of_a_run_are_those_of_means() -> None:
    random = np.random.default_rng(8)
    data = random.exponential(1, (60, 40))
    groups = random.integers(0, 20, 60).tolist()
    alone, together = Draws(60, 200, 4), Draws(60, 200, 4, clusters_of(groups))
    for draws in (alone, together):
        expected = mean_intervals(data, resamples=200, level=0.95, seed=4, clusters=draws.clusters)
        found = of_a_run(MEANS, data, draws)
        assert found == [pytest.approx(one, abs=1e-12) for one in expected]


@pytest.mark.parametrize(("n", "share"), [(40, 0.9), (200, 0.3)])
def test_rates_of_a_run(n: int, share: float) -> None:
    data = (np.random.default_rng(n).random((n, TIMES)) < share).astype(float)
    found = of_a_run(RATES, data, Draws(n, 1, 0))
    inside = np.mean([one is not None and one[0] <= share <= one[1] for one in found])
    assert inside == pytest.approx(0.95, abs=0.02 + NOISE)


def test_rates_of_clusters_are_resampled() -> None:
    # Ten answers to each of 30 questions, all right or all wrong: Wilson's would hold as of 300.
    random = np.random.default_rng(1)
    data = (random.random((30, 300)) < 0.6).astype(float)[np.repeat(np.arange(30), 10)]
    draws = Draws(300, 300, 2, np.repeat(np.arange(30), 10))
    found = of_a_run(RATES, data, draws)
    inside = np.mean([one is not None and one[0] <= 0.6 <= one[1] for one in found])
    assert inside >= 0.9
    alone = of_a_run(RATES, data, Draws(300, 1, 0))
    assert np.mean([one is not None and one[0] <= 0.6 <= one[1] for one in alone]) <= 0.6


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
