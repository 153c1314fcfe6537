"""Paired tests and effect sizes: by hand, against scipy and statsmodels, and what must hold."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracles.sacrebleu_significance import sacrebleu_p
from tests.statistics.stored import stored
from valor_cli.statistics import paired
from valor_cli.statistics.paired import (
    ALL_SIGNS,
    LEAST_DRAWS,
    bootstrap_p,
    cohens_d,
    cohens_g,
    mcnemar,
    sign_permutation,
)


def test_mcnemar_by_hand() -> None:
    # At most one of four heads, or at most one of four tails: 2 (1 + 4) / 16.
    assert mcnemar(1, 3) == mcnemar(3, 1) == pytest.approx(10 / 16, abs=1e-15)
    assert mcnemar(2, 2) == 1
    assert mcnemar(0, 0) == 1


@pytest.mark.parametrize("case", stored("mcnemar"), ids=lambda case: f"{case['wins']}")
def test_mcnemar_of_statsmodels(case: dict[str, Any]) -> None:
    assert mcnemar(case["wins"], case["losses"]) == pytest.approx(case["p"], rel=1e-11)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_scipy_s_binomial_test(wins: int, losses: int) -> None:
    trials = wins + losses
    theirs = stats.binomtest(wins, trials).pvalue if trials else 1.0
    assert mcnemar(wins, losses) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize(("wins", "losses"), [(50_000, 50_500), (1_000_000, 1_003_000)])
def test_mcnemar_of_many(wins: int, losses: int) -> None:
    assert mcnemar(wins, losses) == pytest.approx(
        stats.binomtest(wins, wins + losses).pvalue, rel=1e-9
    )
    assert mcnemar(3, 10**9) == 0


def test_effect_sizes_by_hand() -> None:
    # Mean 2, squared deviations 1 + 1 + 0 over 2.
    assert cohens_d(np.array([1.0, 3, 2, np.nan])) == pytest.approx(2.0)
    assert cohens_d(np.array([1.0])) is None
    assert cohens_d(np.array([0.1, 0.1, 0.1])) is None
    for unit in (5e-324, 1e-200, 1e200, 5e307):  # whose squares no double holds
        assert cohens_d(np.array([1.0, 3, 2]) * unit) == pytest.approx(2.0)
    assert cohens_g(3, 1) == 0.25
    assert cohens_g(0, 2) == -0.5
    assert cohens_g(0, 0) is None


def test_bootstrap_p_by_hand() -> None:
    # Mean 2; moved: -2, -1, 1, 2: one pair of four is as far as 2, all are as far as 1. One of
    # four is not above 0: 2 * 1.
    differences = np.array([0.0, 1, 3, 4, np.nan])
    assert bootstrap_p(differences, 2) == pytest.approx(3 / 5)
    assert bootstrap_p(differences, -1) == 1
    # As far as 2.5 is none; the one that is not above 0 counts all the same.
    assert bootstrap_p(differences, 2.5) == pytest.approx(3 / 5)
    assert bootstrap_p(differences + 1, 3.5) == pytest.approx(1 / 5)
    assert bootstrap_p(np.array([np.nan]), 1) is None
    # A model against itself.
    assert bootstrap_p(np.zeros(9), 0) == 1


def test_a_small_p_value_never_stands_beside_an_interval_that_holds_0() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        skewed = random.exponential(1, 999) * random.choice([-1, 1]) + random.normal(0, 1)
        p = bootstrap_p(skewed, float(random.normal(0, 2)))
        low, high = np.quantile(skewed, [0.025, 0.975])
        assert p is not None
        assert p >= 0.05 or not low <= 0 <= high


def test_sacrebleu_p_by_hand() -> None:
    # Absolute: 1, 1, 3, 3, mean 2; moved: -1, -1, 1, 1: none is further up than 1, two than 0.5.
    differences = np.array([-1.0, 1, 3, -3, np.nan])
    assert sacrebleu_p(differences, 1) == pytest.approx(1 / 5)
    assert sacrebleu_p(differences, -0.5) == pytest.approx(3 / 5)
    assert sacrebleu_p(np.array([np.nan]), 1) is None


def by_scipy(differences: np.ndarray) -> list[float]:
    """Every pattern of signs, by scipy."""
    return [
        float(
            stats.permutation_test(
                (column,),
                np.sum,
                permutation_type="samples",
                n_resamples=1 << 15,
                vectorized=False,
            ).pvalue
        )
        for column in differences.T
    ]


def test_signs_by_hand() -> None:
    # Sums of ±1 ±2 ±4 that are 5 from 0 and more: 7, 5, -5, -7 of 8.
    found = sign_permutation(np.array([[1.0], [-0.0], [np.nan], [-2], [-4]]), seed=0)
    # |1 - 2 - 4| = 5.
    assert found.tolist() == [0.5]


@pytest.mark.parametrize("seed", range(6))
def test_all_signs_are_those_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    differences = random.normal(0.3, 1, (int(random.integers(2, 10)), 3))
    # Ties: scores in steps of a tenth.
    differences[:, 1] = random.integers(-3, 4, len(differences)) / 10
    assert sign_permutation(differences, seed=0) == pytest.approx(by_scipy(differences), abs=1e-12)


def test_random_signs_are_near_all_signs() -> None:
    random = np.random.default_rng(1)
    differences = random.normal(0.3, 1, (15, 2))
    exact = np.array(by_scipy(differences))
    # Four standard errors of a share of 9,999 draws.
    within = 4 * np.sqrt(exact * (1 - exact) / 9_999) + 1e-4
    assert (np.abs(sign_permutation(differences, seed=3) - exact) <= within).all()


def test_ties_by_rounding_count() -> None:
    # 0.1 + 0.2 and 0.3 differ in their last digit: all eight sums are as far from 0 as |0|.
    found = sign_permutation(np.array([[0.1], [0.2], [-0.3]]), seed=0)
    assert found.tolist() == [1.0]


def test_many_equal_differences_with_ties() -> None:
    # Signs of 60 differences of 0.1 and 40 of -0.1: a binomial in steps; p = P(|2 X - 100| >= 20).
    differences = np.r_[np.full(60, 0.1), np.full(40, -0.1)][:, None]
    p = float(sign_permutation(differences, seed=0)[0])
    exact = mcnemar(60, 40)
    assert p == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / 9_999))


def test_columns_do_not_depend_on_each_other() -> None:
    random = np.random.default_rng(2)
    differences = random.normal(0.1, 1, (40, 3))
    differences[5:, 1] = 0
    together = sign_permutation(differences, seed=7)
    alone = [float(sign_permutation(differences[:, [at]], seed=7)[0]) for at in range(3)]
    assert together.tolist() == alone
    assert together.tolist() == sign_permutation(differences, seed=7).tolist()
    assert together[0] != sign_permutation(differences, seed=8)[0]
    # In units of another size, and of the other model, it is the same.
    assert sign_permutation(differences * -100, seed=7).tolist() == alone


def test_draws_do_not_depend_on_how_many_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(3).normal(0.05, 1, (100, 2))
    whole = sign_permutation(differences, seed=0)
    monkeypatch.setattr(paired, "_SIGNS_AT_ONCE", 1700)
    assert sign_permutation(differences, seed=0).tolist() == whole.tolist()


def test_clusters_change_sign_together() -> None:
    random = np.random.default_rng(4)
    clusters = np.repeat(np.arange(8), 5)
    differences = random.normal(0.2, 1, (40, 2))
    sums = np.array([differences[clusters == at].sum(0) for at in range(8)])
    found = sign_permutation(differences, seed=0, clusters=clusters)
    assert found == pytest.approx(by_scipy(sums), abs=1e-12)
    alone = sign_permutation(differences, seed=0, clusters=np.arange(40))
    assert alone.tolist() == sign_permutation(differences, seed=0).tolist()


def test_nothing_to_test() -> None:
    none = np.array([[0.0, np.nan], [0.0, np.nan]])
    found = sign_permutation(none, seed=0)
    assert found[0] == 1
    assert np.isnan(found[1])
    assert np.isnan(sign_permutation(np.zeros((0, 2)), seed=0)).all()
    empty = np.zeros(0, np.int64)
    assert np.isnan(sign_permutation(np.zeros((0, 2)), seed=0, clusters=empty)).all()


def test_of_many_samples_there_are_fewer_draws() -> None:
    # So clear a difference that no draw comes near: the smallest p there is.
    clear = np.ones((30_000, 1))
    assert sign_permutation(clear, seed=0).tolist() == [1 / (LEAST_DRAWS + 1)]
    assert sign_permutation(clear[:1000], seed=0).tolist() == [1 / 10_000]
    assert sign_permutation(clear[:ALL_SIGNS], seed=0).tolist() == [2 / 2**ALL_SIGNS]
