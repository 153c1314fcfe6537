"""The best rows of each group, against sorting them all."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.best_of_each import best_of_each


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]))),
    st.integers(1, 4),
)
def test_against_sorting(rows: list[tuple[int, float]], most: int) -> None:
    # 40 times the rows, so that most of them are worth no sort.
    rows = rows * 40
    number = np.random.default_rng(len(rows)).permutation(len(rows))
    group = np.array([group for group, _ in rows], np.int64)
    score = np.array([score for _, score in rows])
    expected = []
    for one in sorted(set(group.tolist())):
        members = [at for at in range(len(rows)) if group[at] == one]
        members.sort(key=lambda at: (-score[at], number[at]))
        expected += members[:most]
    assert best_of_each(group, score, number, most).tolist() == expected


def test_nothing() -> None:
    none = np.zeros(0, np.int64)
    assert best_of_each(none, np.zeros(0), none, 3).tolist() == []
