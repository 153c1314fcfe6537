"""Matches in; the same, with rows of their own for the tied detections of copies of images, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.memo import Memo
from valor_cli.kernels.columns import places_in_runs, spread

if TYPE_CHECKING:
    from valor_cli.evaluators.detection.matches import Matches


def tied_of(matches: Matches) -> NDArray[np.int64] | None:
    """(n,) numbers of the groups of tied detections that may be right; None without any."""
    columns = [matches.label, matches.score, matches.image]
    if matches.nearest is not None:
        columns.append(matches.nearest)
    groups = tied_groups(columns, matches.candidate)
    return groups if (groups >= 0).any() else None


def stood_apart(
    matches: Matches, groups: NDArray[np.int64], images: NDArray[np.int64], most: int
) -> Matches:
    """The matches with room for copies of images, which stand behind all images.

    Args:
        matches: Without weights.
        groups: (n,) from `tied_of`.
        images: Those that have tied detections, ascending.
        most: Copies of each that there is room for.
    """
    row, copy = copies_apart(groups, most)
    stands = matches.unit_count + np.searchsorted(images, matches.image[row]) * most + copy
    place = np.full(len(matches.label), -1)
    place[matches.candidate] = np.arange(len(matches.candidate))
    candidate = np.flatnonzero(place[row] >= 0)
    chosen = place[row[candidate]]
    return replace(
        matches,
        image_ids=np.arange(matches.unit_count + len(images) * most),
        image=np.where(copy < 0, matches.image[row], stands),
        label=matches.label[row],
        score=matches.score[row],
        number=matches.number[row],
        rank=matches.rank[row],
        outside=matches.outside[:, row],
        candidate=candidate,
        codes=matches.codes[:, :, chosen],
        taken=matches.taken[:, :, chosen],
        encounters=None,
        nearest=None if matches.nearest is None else matches.nearest[row],
        weights=None,
        replica=0,
        _shared=Memo(),
        _known=Memo(),
    )


Rows = NDArray[np.int64]


class Apart(NamedTuple):
    """Ranked rows in which those of some units stand for single copies.

    Attributes:
        row: (n,) which of the rows each is.
        copy: (n,) which copy of its unit it stands for, from 0; -1 for all of them.
    """

    row: Rows
    copy: Rows


def tied_groups(columns: Sequence[NDArray[Any]], concerned: Rows) -> Rows:
    """(n,) for rows that are tied with a neighbour the number of their group; -1 for others.

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


def copies_apart(group: Rows, most: int) -> Apart:
    """Rows of the same group, copy after copy.

    Args:
        group: (n,) the group of neighbours that are tied, -1 for rows that are not.
        most: How often a unit may stand in a resample.
    """
    alone = group < 0
    begins = np.flatnonzero((np.diff(group, prepend=-2) != 0) | alone)
    sizes = np.diff(begins, append=len(group))
    times = np.where(alone[begins], 1, most)
    row = spread(np.repeat(begins, times), np.repeat(sizes, times))
    number = np.where(np.repeat(alone[begins], times), -1, places_in_runs(np.repeat(begins, times)))
    return Apart(row, np.repeat(number, np.repeat(sizes, times)))
