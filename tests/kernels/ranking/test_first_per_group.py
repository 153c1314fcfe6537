"""The first of each group at each level, and the highest scores, against the obvious loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.ranking.first_per_group import first_per_group, highest


def test_by_hand() -> None:
    # Group 0: the second row is first until the row before it joins at level 2.
    # Group 1: its only row never joins.
    group, joins = np.array([0, 0, 1, 0]), np.array([2, 0, 3, 1])
    found = first_per_group(group, joins, 3, 1)
    assert (found.row.tolist(), found.begin.tolist(), found.end.tolist()) == (
        [0, 1],
        [2, 0],
        [3, 2],
    )


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=40),
    st.integers(1, 4),
)
@settings(max_examples=100, deadline=None)
def test_equals_the_obvious_loop(rows: list[tuple[int, int]], most: int) -> None:
    levels = 5
    expected: dict[int, list[int]] = {}
    for level in range(levels):
        for wanted in range(4):
            there = [
                at for at, (group, joins) in enumerate(rows) if group == wanted and joins <= level
            ]
            for at in there[:most]:
                expected.setdefault(at, []).append(level)
    group, joins = np.array(rows, np.int64).reshape(-1, 2).T
    found = first_per_group(group, joins, levels, most)
    shown = {
        row: list(range(begin, end))
        for row, begin, end in zip(*(column.tolist() for column in found), strict=True)
    }
    assert shown == expected
    assert found.row.tolist() == sorted(expected, key=lambda at: (rows[at][0], at))


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.9]), max_size=20), st.integers(0, 6))
def test_highest(scores: list[float], most: int) -> None:
    expected = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:most]
    assert highest(np.array(scores, np.float64), most).tolist() == expected
