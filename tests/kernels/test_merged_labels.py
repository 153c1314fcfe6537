"""Labels that become one: their scores are added, where the first of them stood."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.ranking.scores import DenseScores, Scores, SparseScores

# Labels 0 and 3 both become 1, label 1 becomes 0, label 2 leaves.
CODES = np.array([1, 0, -1, 1])


def test_rows_that_list_some_labels() -> None:
    scores = SparseScores(
        np.array([0, 3, 3, 5, 6]),
        np.array([3, 1, 0, 2, 0, 2], np.int32),
        np.array([0.5, 0.25, 0.125, 0.75, 1.0, 1.0]),
    )
    found = scores.relabelled(CODES)
    assert isinstance(found, SparseScores)
    # Row 0: 3 and 0 are one, 0.5 + 0.125, where 3 stood. Row 2 keeps 0; row 3 has nothing left.
    assert found.start.tolist() == [0, 2, 2, 3, 3]
    assert found.label.tolist() == [1, 0, 1]
    assert found.label.dtype == np.int32
    assert found.score.tolist() == [0.625, 0.25, 1.0]


def test_rows_that_all_list_the_same() -> None:
    scores = DenseScores(np.array([3, 1, 2, 0]), np.array([[0.5, 0.25, 0.0, 0.125]]))
    found = scores.relabelled(CODES)
    assert isinstance(found, DenseScores)
    assert found.label.tolist() == [1, 0]
    assert found.score.tolist() == [[0.625, 0.25]]


def test_nothing_is_copied_where_labels_stay_distinct() -> None:
    scores = DenseScores(np.array([1, 0]), np.array([[0.5, 0.25]]))
    found = scores.relabelled(np.array([7, 5, 3]))
    assert found.score is scores.score
    assert isinstance(found, DenseScores)
    assert found.label.tolist() == [5, 7]


def row_by_row(scores: Scores, codes: list[int]) -> list[list[tuple[int, float]]]:
    """The plain way: a dictionary per row."""
    rows = scores.sparse()
    found = []
    for begin, end in zip(rows.start[:-1].tolist(), rows.start[1:].tolist(), strict=True):
        row: dict[int, float] = {}
        for at in range(begin, end):
            code = codes[rows.label[at]]
            if code >= 0:
                row[code] = row.get(code, 0.0) + float(rows.score[at])
        found.append(list(row.items()))
    return found


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(-1, 3), min_size=6, max_size=6),
    st.booleans(),
)
def test_against_a_dictionary_per_row(seed: int, codes: list[int], wide: bool) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 6))
    scores: Scores
    if wide:
        width = int(rng.integers(1, 7))
        scores = DenseScores(rng.permutation(6)[:width], rng.random((count, width)))
    else:
        rows = [rng.permutation(6)[: rng.integers(0, 7)] for _ in range(count)]
        label = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int32)
        scores = SparseScores(np.cumsum([0, *map(len, rows)]), label, rng.random(len(label)))
    found = scores.relabelled(np.array(codes)).sparse()
    pairs = list(zip(found.label.tolist(), found.score.tolist(), strict=True))
    ends = found.start.tolist()
    got = [pairs[begin:end] for begin, end in pairwise(ends)]
    for ours, theirs in zip(got, row_by_row(scores, codes), strict=True):
        assert [label for label, _ in ours] == [label for label, _ in theirs]
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs])
