"""Ordering, grouping and looking up, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import by_both
from valor_cli.kernels.columns import grouping as columns
from valor_cli.kernels.columns.grouping import (
    equal_keys,
    grouped,
    nulls,
    order_of_codes,
    positions_of,
    quotient,
    ranked,
    reaching,
    spread,
    summed,
    tallies,
)

thorough = settings(derandomize=True, deadline=None, max_examples=60)
seeds = st.integers(0, 2**32 - 1)
SCORES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, -5e-324, 1e308, -1e308, np.inf, -np.inf])


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


@thorough
@given(seeds, st.sampled_from([0, 1, 2, 50, 3000]), st.sampled_from([1, 5, 300, 2**40]))
def test_rows_by_group_keep_their_order(seed: int, rows: int, groups: int) -> None:
    cell = np.random.default_rng(seed).integers(0, groups, rows)
    expected = np.argsort(cell, kind="stable")
    new = np.flatnonzero(np.diff(cell[expected], prepend=-1))
    for order, starts in by_both(lambda: grouped(cell)):
        assert order.tolist() == expected.tolist()
        assert starts.tolist() == [*new.tolist(), rows]


@thorough
@given(seeds, st.sampled_from([0, 1, 2, 60, 3000]), st.sampled_from([1, 4, 500]), st.booleans())
def test_ranked_is_a_stable_sort(seed: int, rows: int, labels: int, within: bool) -> None:
    drawn = np.random.default_rng(seed)
    # Many labels of few rows, and one of many.
    label = drawn.integers(0, labels, rows) * (drawn.random(rows) < 0.7)
    image = drawn.integers(0, 9, rows)
    number = drawn.permutation(rows) if within else np.arange(rows)
    kinds = (SCORES, drawn.random(rows + 1), drawn.random(rows + 1).round(1), -drawn.random(3))
    score = drawn.choice(kinds[seed % 4], rows)
    columns = zip(label.tolist(), (-score).tolist(), image.tolist(), number.tolist(), strict=True)
    expected = [at for _, at in sorted((row, at) for at, row in enumerate(columns))]
    for order in by_both(lambda: ranked(label, score, image, number if within else None)):
        assert order.tolist() == expected


@thorough
@given(seeds, st.sampled_from([0, 1, 40]), st.sampled_from([0, 1, 3, 70]))
def test_reaching_equals_counting_one_by_one(seed: int, rows: int, levels: int) -> None:
    drawn = np.random.default_rng(seed)
    values, group = drawn.random(rows).round(1), drawn.integers(0, 4, rows)
    at = np.unique(drawn.random(levels).round(1))
    expected = [
        [int(((values >= level) & (group == one)).sum()) for one in range(5)] for level in at
    ]
    for found in by_both(lambda: reaching(values, group, at, 5)):
        assert found.tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 65_535, 65_536, 65_537, 100_000])
def test_equal_codes_keep_their_order(count: int) -> None:
    code = np.random.default_rng(count).integers(0, count, 500)
    code[:2] = count - 1, 0
    expected = sorted(range(500), key=lambda at: (code[at], at))
    assert order_of_codes(code, count).tolist() == expected
    assert order_of_codes(code[:0], count).tolist() == []


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
