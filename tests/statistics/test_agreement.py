"""Agreement of raters against scikit-learn, worked examples and slow definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from valor_cli.statistics.agreement import (
    Weights,
    alpha_interval,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    kappa_interval,
    krippendorff_alpha,
    spearman,
)


def test_kappa_worked_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no of 50: observed 0.7;
    # chance (25 * 30 + 25 * 20) / 2500 = 0.5; kappa = (0.7 - 0.5) / 0.5.
    matrix = np.array([[20, 5], [10, 15]])
    assert cohen_kappa(matrix) == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(20))
def test_kappa_is_that_of_scikit_learn(seed: int, weights: Weights) -> None:
    random = np.random.default_rng(seed)
    categories = int(random.integers(2, 6))
    first, second = random.integers(0, categories, (2, int(random.integers(5, 60))))
    mine = cohen_kappa(confusion(first, second, categories), weights)
    theirs = cohen_kappa_score(first, second, weights=weights, labels=range(categories))
    assert mine == pytest.approx(theirs, abs=1e-12)


def test_kappa_of_one_category_alone_is_undefined() -> None:
    assert cohen_kappa(np.array([[7, 0], [0, 0]])) is None
    assert cohen_kappa(np.zeros((2, 2))) is None


def test_the_interval_holds_kappa_and_is_the_same_twice() -> None:
    random = np.random.default_rng(3)
    first = random.integers(0, 2, 200)
    second = np.where(random.random(200) < 0.8, first, 1 - first)
    kappa = cohen_kappa(confusion(first, second, 2))
    found = kappa_interval(first, second, 2)
    assert found is not None
    assert kappa is not None
    assert found[0] < kappa < found[1]
    assert found == kappa_interval(first, second, 2)
    empty = np.array([], np.int64)
    assert kappa_interval(empty, empty, 2) is None


def test_fleiss_worked_example() -> None:
    # The ten patients, five categories and fourteen raters of Fleiss (1971): 0.210.
    counts = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ]
    )
    assert fleiss_kappa(counts) == pytest.approx(0.20993, abs=1e-5)
    assert fleiss_kappa(np.array([[3, 0], [3, 0]])) is None
    assert fleiss_kappa(np.zeros((0, 2), np.int64)) is None


def slow_alpha(values: np.ndarray, *, nominal: bool = False) -> float:
    """From the definition: ordered pairs within units against ordered pairs of all values."""
    apart = (lambda a, b: float(a != b)) if nominal else (lambda a, b: (a - b) ** 2)
    units = [[v for v in column if not np.isnan(v)] for column in values.T]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [v for unit in units for v in unit]
    observed = sum(
        sum(apart(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    ) / len(pooled)
    expected = sum(apart(a, b) for a, b in permutations(pooled, 2)) / (
        len(pooled) * (len(pooled) - 1)
    )
    return 1 - observed / expected


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_alpha_is_that_of_its_definition(seed: int, nominal: bool) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(1, 6, (int(random.integers(2, 5)), 12)).astype(float)
    values[random.random(values.shape) < 0.2] = np.nan
    found = krippendorff_alpha(values, nominal=nominal)
    assert found == pytest.approx(slow_alpha(values, nominal=nominal), abs=1e-12)


def test_alpha_of_krippendorffs_example() -> None:
    # Krippendorff, Computing Krippendorff's alpha-reliability, 2011, example C: four observers,
    # twelve units, missing data; nominal 0.743, interval 0.849.
    rows = ("1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3")
    rows += (". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .")
    values = np.array([[np.nan if x == "." else float(x) for x in row.split()] for row in rows])
    for nominal, expected in ((True, 0.743), (False, 0.849)):
        assert krippendorff_alpha(values, nominal=nominal) == pytest.approx(expected, abs=5e-4)
        low, high = alpha_interval(values, nominal=nominal) or (1, 0)
        assert low < expected < high
        assert alpha_interval(values, nominal=nominal) == (low, high)
        assert alpha_interval(values[:, :0], nominal=nominal) is None


def test_alpha_without_variation_is_undefined() -> None:
    assert krippendorff_alpha(np.full((2, 3), 4.0)) is None
    assert krippendorff_alpha(np.array([[1.0, np.nan], [np.nan, 2.0]])) is None


def test_spearman_worked_by_hand() -> None:
    # Ranks 1 2.5 2.5 4 and 1 2 4 3: covariance 3 / sqrt(4.5 * 5).
    found = spearman(np.array([1.0, 2, 2, 9]), np.array([5.0, 6, 8, 7]))
    assert found == pytest.approx(3 / np.sqrt(22.5), abs=1e-12)
    assert spearman(np.array([1.0, 1]), np.array([1.0, 2])) is None
    assert spearman(np.array([1.0]), np.array([1.0])) is None
