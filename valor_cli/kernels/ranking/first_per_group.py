"""Select the first rows of each group at several levels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import grouped, places_in_runs

Ints = NDArray[np.int64]


class Standing(NamedTuple):
    """The first rows of each group, by group, then in order of preference.

    Attributes:
        row: (k,) which rows.
        begin, end: (k,) at which levels: begin … end - 1.
    """

    row: Ints
    begin: Ints
    end: Ints


def first_per_group(group: Ints, joins: Ints, levels: int, most: int) -> Standing:
    """Select the first `most` rows of each group at each level.

    A row is in its group from its level on. Once enough rows before it have joined it is never
    again among the first.

    Args:
        group: (n,) from 0; rows of a group in order of preference.
        joins: (n,) the level from which on a row is there; from `levels` on, never.
        levels: How many levels there are.
        most: Rows of a group at a level.
    """
    rows = np.flatnonzero(joins < levels)
    order, _ = grouped(group[rows] * levels + joins[rows])
    # Of those that join together, no more than the first can ever be among the first.
    rows = rows[order]
    rows = np.sort(rows[places_in_runs(group[rows] * levels + joins[rows]) < most])
    rows = rows[grouped(group[rows])[0]]
    begin, of = joins[rows], group[rows]
    end = begin.copy()
    for level in range(levels):
        there = np.flatnonzero(begin <= level)
        end[there[places_in_runs(of[there]) < most]] = level + 1
    stood = end > begin
    return Standing(rows[stood], begin[stood], end[stood])


def highest(score: NDArray[np.float64], most: int) -> Ints:
    """Positions of the highest scores, descending, ties in order; all if few."""
    if len(score) <= most:
        chosen = np.arange(len(score))
    elif not most:
        return np.zeros(0, np.int64)
    else:
        bar = np.partition(score, len(score) - most)[len(score) - most]
        above = np.flatnonzero(score > bar)
        chosen = np.append(above, np.flatnonzero(score == bar)[: most - len(above)])
    return np.asarray(chosen[np.lexsort((chosen, -score[chosen]))])
