"""Tied rows, copy after copy, worked by hand."""

from __future__ import annotations

import numpy as np

from valor_cli.kernels.ranking.tie_breaking import break_ties, tied_groups

# Label 0 has scores 0.9, 0.8, 0.8, 0.8 in images 5, 5, 5, 6; label 1 has 0.8 in image 6 twice.
COLUMNS = [
    np.array([0, 0, 0, 0, 1, 1]),
    np.array([0.9, 0.8, 0.8, 0.8, 0.8, 0.8]),
    np.array([5, 5, 5, 6, 6, 6]),
]


def test_rows_of_one_label_score_and_unit_are_tied() -> None:
    assert tied_groups(COLUMNS, np.arange(6)).tolist() == [-1, 1, 1, -1, 3, 3]


def test_groups_without_anything_of_concern_stay_out() -> None:
    assert tied_groups(COLUMNS, np.array([0, 2])).tolist() == [-1, 1, 1, -1, -1, -1]


def test_each_copy_has_the_rows_of_a_group_for_itself() -> None:
    apart = break_ties(np.array([-1, 1, 1, -1, 3, 3]), 2)
    assert apart.row.tolist() == [0, 1, 2, 1, 2, 3, 4, 5, 4, 5]
    assert apart.copy.tolist() == [-1, 0, 0, 1, 1, -1, 0, 0, 1, 1]


def test_no_rows() -> None:
    nothing = np.zeros(0, np.int64)
    assert not len(tied_groups([nothing, nothing], nothing))
    assert not len(break_ties(nothing, 3).row)
