"""Ordering, grouping and looking up, against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.columns import grouping as columns
from valor_cli.kernels.columns.grouping import (
    equal_keys,
    grouped,
    nulls,
    positions_of,
    quotient,
    ranked,
    reaching,
    spread,
    summed,
    tallies,
)

rows = st.lists(
    st.tuples(
        st.integers(0, 3), st.sampled_from([0.0, 0.25, 0.5, 0.5000001, 1.0]), st.integers(0, 4)
    ),
    max_size=40,
)


def test_spread_concatenates_ranges() -> None:
    # 3..4, nothing, 7..9
    assert spread(np.array([3, 5, 7]), np.array([2, 0, 3])).tolist() == [3, 4, 7, 8, 9]


def test_quotient_puts_the_stand_in_where_the_whole_is_zero() -> None:
    assert quotient(np.array([1, 2, 3]), np.array([2, 0, 4]), -7.0).tolist() == [0.5, -7.0, 0.75]


def test_nulls_stand_for_what_is_not_a_number() -> None:
    assert nulls(np.array([0.5, np.nan, 0.0, -np.inf])) == [0.5, None, 0.0, -np.inf]
    whole = nulls(np.array([3, 0]))
    assert (whole, [type(one) for one in whole]) == ([3, 0], [int, int])
    assert nulls(np.zeros(0)) == []


@pytest.mark.parametrize(
    ("amounts", "sums"),
    [
        ([5, -1, 7, 2], [7, 0, 6, 0]),
        ([True, False, True, True], [2, 0, 1, 0]),
        # 2**53 - 1 is the last whole number below it; adding 1s gets there without a loss.
        ([1, 2**53 - 2, 1, 0], [1, 0, 2**53 - 1, 0]),
        (None, [2, 0, 2, 0]),
    ],
)
def test_sums_of_groups_are_whole(amounts: list[int] | None, sums: list[int]) -> None:
    given_amounts = None if amounts is None else np.array(amounts)
    found = summed(np.array([0, 2, 2, 0]), given_amounts, 4)
    assert found.tolist() == sums
    assert found.dtype == np.int64
    nothing = summed(np.zeros(0, np.int64), None if amounts is None else np.zeros(0), 2)
    assert nothing.tolist() == [0, 0]
    assert nothing.dtype == np.int64


def test_tallies_of_several_replicas() -> None:
    values = np.array([2, 0, 2])
    assert tallies(values, 4).tolist() == [[1, 0, 2, 0]]
    weights = np.array([[1, 0, 5], [0, 3, 0]])
    assert tallies(values, 4, weights).tolist() == [[0, 0, 6, 0], [3, 0, 0, 0]]


@pytest.mark.parametrize("dense", [True, False])
def test_positions_of_numbers(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "DENSE_LOOKUP", 8 if dense else 0)
    keys = np.array([2, 5, 9])
    assert positions_of(np.array([9, 2, 4, -3, 5, 10]), keys).tolist() == [2, 0, -1, -1, 1, -1]
    assert positions_of(np.array([1]), keys[:0]).tolist() == [-1]


def test_positions_of_text() -> None:
    keys = np.array(["ant", "bee"])
    assert positions_of(np.array(["bee", "cat", "ant"]), keys).tolist() == [1, -1, 0]


@given(rows)
@settings(derandomize=True, deadline=None)
def test_ranked_is_a_stable_sort(table: list[tuple[int, float, int]]) -> None:
    label, score, image = (
        (np.array(column) for column in zip(*table, strict=True))
        if table
        else (
            np.zeros(0, int),
            np.zeros(0),
            np.zeros(0, int),
        )
    )
    expected = sorted(range(len(table)), key=lambda at: (label[at], -score[at], image[at], at))
    assert ranked(label, score, image).tolist() == expected
    order, starts = grouped(label * 5 + image)
    cells = [(label[at], image[at]) for at in order.tolist()]
    assert cells == sorted(cells)
    assert len(starts) == len(set(cells)) + 1
    assert all(len(set(cells[low:high])) == 1 for low, high in pairwise(starts.tolist()))


def test_ranked_within_an_image_by_a_given_order() -> None:
    same = np.zeros(3, int)
    assert ranked(same, np.ones(3), same, within=np.array([2, 0, 1])).tolist() == [1, 2, 0]


def test_reaching_equals_counting_one_by_one() -> None:
    rng = np.random.default_rng(5)
    values, group = rng.integers(0, 6, 40) / 5, rng.integers(0, 4, 40)
    levels = np.array([0.2, 0.6, 1.0])
    assert reaching(values, group, levels, 5).tolist() == [
        [int(((values >= level) & (group == one)).sum()) for one in range(5)] for level in levels
    ]


@pytest.mark.parametrize("count", [0, 1, 5, 1023, 1024, 50_000])
@pytest.mark.parametrize("distinct", [1, 40, 10**6, 2**62])
def test_equal_keys(count: int, distinct: int) -> None:
    keys = np.random.default_rng(count).integers(-distinct, distinct, count)
    places = equal_keys(keys)
    assert np.array_equal(keys[places], keys)
    assert len(np.unique(places)) == len(np.unique(keys))


def test_equal_keys_that_never_have_a_slot_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_ROUNDS", 1)
    keys = np.repeat(np.arange(5000), 2)
    assert np.array_equal(keys[equal_keys(keys)], keys)
