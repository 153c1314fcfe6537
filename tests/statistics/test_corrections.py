"""Holm's correction against statsmodels, by hand, and what holds of any family."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics.stored import stored
from valor_cli.statistics.corrections import holm

FAMILY = st.lists(st.none() | st.floats(0, 1), max_size=8)


def test_by_hand() -> None:
    # Smallest first: 0.005 · 4, 0.01 · 3, 0.03 · 2, then 0.04 · 1, which may not be below 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_tests_that_were_not_made_do_not_count() -> None:
    assert holm([None, 0.01, None, 0.04]) == [None, 0.02, None, 0.04]
    assert holm([None]) == [None]
    assert holm([]) == []


@pytest.mark.parametrize("case", stored("holm"), ids=lambda case: str(len(case["p"])))
def test_statsmodels(case: dict[str, list[float]]) -> None:
    assert holm(case["p"]) == pytest.approx(case["adjusted"], rel=1e-12)


@given(FAMILY)
def test_order_is_kept_and_no_test_gets_surer(family: list[float | None]) -> None:
    adjusted = holm(family)
    pairs = [
        (one, other)
        for one, other in zip(family, adjusted, strict=True)
        if one is not None and other is not None
    ]
    assert [one is None for one in adjusted] == [one is None for one in family]
    assert all(one <= other <= 1 for one, other in pairs)
    ranked = [other for _, other in sorted(pairs)]
    assert ranked == sorted(ranked)
    assert holm(family[::-1]) == adjusted[::-1]
