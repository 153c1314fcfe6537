"""Student's distribution against scipy, over its whole range."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from valor_cli.statistics.student import student_below


def test_by_hand() -> None:
    # With 2 degrees of freedom it is 1/2 + t / (2 √(2 + t²)): at -√2, 1/2 - √2 / (2 · 2).
    assert student_below(-np.sqrt(2), 2) == pytest.approx(0.5 - 1 / np.sqrt(8), abs=1e-12)


@pytest.mark.parametrize("freedom", [0.5, 1, 2, 7.3, 198, 202, 5e3, 1e6])
def test_student_s_distribution(freedom: float) -> None:
    for t in (-40.0, -5.0, -1.96, -0.1, 0.0, 1e-3, 0.7, 1.96, 12.0, 1e10):
        assert student_below(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), abs=1e-11)


@pytest.mark.parametrize("t", [-1e6, -3.0, -1e-9, 1e-12, 0.4, 50.0])
def test_one_degree_of_freedom_is_cauchy_s_distribution(t: float) -> None:
    assert student_below(t, 1) == pytest.approx(0.5 + np.arctan(t) / np.pi, abs=1e-15)
