"""Scored rows of groups in, the few best of each group out."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns import places_in_runs

Ints = NDArray[np.int64]

LANES_PER_ROW: Final = 0.5
"""So many lanes for each row are worth a pass over the rows that spares most of them a sort."""

DEALT: Final = 32
"""Rows for each lane that are dealt, evenly spaced, where there are more."""


def best_of_each(
    group: NDArray[Any], score: NDArray[np.float64], row: NDArray[Any], most: int
) -> Ints:
    """Positions of the best of each group: group after group, by score, then by row.

    Args:
        group: (n,) whole numbers from 0.
        score: (n,) the higher, the better.
        row: (n,) what decides between equal scores: the lower first.
        most: How many of a group, at most; not 0.
    """
    at = _hopeful(group, score, most)
    at = at[np.lexsort((row[at], -score[at], group[at]))]
    return np.asarray(at[places_in_runs(group[at]) < most])


def _hopeful(group: NDArray[Any], score: NDArray[np.float64], most: int) -> Ints:
    """Positions that may be among the best, for a pass over them all is cheaper than a sort.

    Rows of a group are dealt to lanes. The best of `most` lanes are `most` rows, so that whatever
    is below the worst of them is not among the best.
    """
    groups, lanes = int(group.max(initial=-1)) + 1, 4 * most
    if groups * lanes > LANES_PER_ROW * len(group):
        return np.arange(len(group))
    dealt = slice(None, None, max(len(group) // max(groups * lanes * DEALT, 1), 1))
    lane = group[dealt].astype(np.int64) * lanes
    lane += np.arange(len(lane)) % lanes
    best = np.full(groups * lanes, -np.inf)
    np.maximum.at(best, lane, score[dealt])
    least = np.partition(best.reshape(groups, lanes), lanes - most, axis=1)[:, lanes - most]
    return np.flatnonzero(score >= least[group])
