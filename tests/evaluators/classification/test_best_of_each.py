"""The best rows of each group, against sorting them all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.evaluators.classification.metrics.confusion_matrix import best_of_each


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


@pytest.mark.parametrize("seed", range(3))
def test_of_many_rows_some_are_looked_at_first(seed: int) -> None:
    # One group in four rows of five, one in a few, one in rows that no sample may meet.
    rng = np.random.default_rng(seed)
    group = rng.choice(4, 20_000, p=[0.8, 0.19, 0.0095, 0.0005]).astype(np.int32)
    score, number = rng.random(20_000).round(3), rng.permutation(20_000)
    # Sorted, so that evenly spaced rows are nothing like all of them.
    order = np.argsort(score)
    group, score = group[order], score[order]
    found = best_of_each(group, score, number, 3)
    ordered = np.lexsort((number, -score, group))
    expected = [at for one in range(4) for at in ordered[group[ordered] == one][:3]]
    assert found.tolist() == expected


def test_nothing() -> None:
    none = np.zeros(0, np.int64)
    assert best_of_each(none, np.zeros(0), none, 3).tolist() == []
