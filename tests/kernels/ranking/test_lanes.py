"""Sums of weights of many resamples at once, against sums of one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.ranking import lanes as module
from valor_cli.kernels.ranking.lanes import WORD, Lanes


def test_by_hand() -> None:
    # Unit 1 stands twice in the first resample, units 0 and 2 once each in the second.
    lanes = Lanes.of(np.array([[0, 2, 0], [1, 0, 1]]))
    assert (lanes.width, lanes.count, lanes.units, lanes.most) == (WORD, 2, 3, 2)
    # Unit 1 twice, then units 0 and 2.
    sums = lanes.sums(np.array([1, 1, 0, 2]), np.array([0, 2]))
    assert sums[:, :2].tolist() == [[4, 0], [0, 2]]
    assert not sums[:, 2:].any()
    assert lanes.table[3].tolist() == [0] * WORD
    assert lanes.table[4:7, 0].tolist() == [0, -2, 0]
    assert lanes.tallies(np.array([1, 1, 3]), np.array([0, 1, 2]), 4)[:2].tolist() == [
        [0, 2, 0, 0],
        [0, 1, 0, 1],
    ]


@given(
    seed=st.integers(0, 1000),
    most=st.sampled_from([0, 1, 17, 127, 128, 255, 40_000, 10**6]),
    count=st.integers(1, 20),
)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_sums_that_outgrow_a_byte_are_as_exact(seed: int, most: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, most + 1, (count, 7))
    unit = rng.integers(0, 7, 90)
    starts = np.unique(np.append(0, rng.integers(0, 90, 8)))
    sums = Lanes.of(weights).sums(unit, starts)
    expected = [weights[:, part].sum(axis=1) for part in np.split(unit, starts[1:])]
    assert np.array_equal(sums[:, :count], expected)


def test_pieces_longer_than_what_is_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 4)
    weights = np.arange(10).reshape(2, 5)
    unit = np.array([0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
    sums = Lanes.of(weights).sums(unit, np.array([0, 6, 7, 9]))
    # Units 0 to 4 and 0, then 1, then 2 and 3, then 4.
    assert sums[:, :2].tolist() == [[10, 40], [1, 6], [5, 15], [4, 9]]


def test_nothing_to_add() -> None:
    lanes = Lanes.of(np.ones((3, 2), np.int64))
    nothing = np.zeros(0, np.int64)
    assert lanes.sums(nothing, nothing).shape == (0, WORD)
    assert not lanes.tallies(nothing, nothing, 2).any()
