"""Break up tied rows so that copies of a resampled unit rank correctly.

A unit drawn twice is in the resample as two copies. Its rows of one label and score are tied and
come copy after copy: a, b, a, b. Weighting each row in place would rank them a, a, b, b, which is
a different order where a is right and b is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import places_in_runs, spread

Rows = NDArray[np.int64]


class BrokenTies(NamedTuple):
    """Ranked rows in which some units have a row per copy.

    Attributes:
        row: (n,) which of the rows each is.
        copy: (n,) which copy of its unit it stands for, from 0; -1 for all of them.
    """

    row: Rows
    copy: Rows


def tied_groups(columns: Sequence[NDArray[Any]], concerned: Rows) -> Rows:
    """(n,) group number of rows tied with a neighbour; -1 for others.

    Args:
        columns: (n,) each; rows are tied that have the same in all of them.
        concerned: Rows; groups without any of these stay out.
    """
    length = len(columns[0])
    begins = np.zeros(length, bool)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    group = np.cumsum(begins) - 1
    there = np.zeros(length, bool)
    there[group[concerned]] = True
    there &= np.bincount(group, minlength=length) > 1
    return np.where(there[group], group, -1)


def break_ties(group: Rows, most: int) -> BrokenTies:
    """Rows of a group, one copy after the other.

    Args:
        group: (n,) the group of neighbours that are tied, -1 for rows that are not.
        most: How often a unit may occur in a resample.
    """
    alone = group < 0
    begins = np.flatnonzero((np.diff(group, prepend=-2) != 0) | alone)
    sizes = np.diff(begins, append=len(group))
    times = np.where(alone[begins], 1, most)
    row = spread(np.repeat(begins, times), np.repeat(sizes, times))
    number = np.where(np.repeat(alone[begins], times), -1, places_in_runs(np.repeat(begins, times)))
    return BrokenTies(row, np.repeat(number, np.repeat(sizes, times)))
