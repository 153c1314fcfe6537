"""Decisions in; the best-scored rows of each cell of a confusion matrix out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.decisions import decide
from valor_cli.evaluators.classification.plan import ScoreThreshold
from valor_cli.evaluators.classification.scored import Scored
from valor_cli.kernels.columns import places_in_runs
from valor_cli.kernels.texts import order_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class CellExamples(NamedTuple):
    """The best rows of each pair of labels that occurs: by pair, by score, then by sample id.

    Attributes:
        most: How many a pair has, at most.
        truth: (c,) the true label.
        positive: (c,) the positive label; -1 for none.
        score: (c,) its score; where there is none, the highest of the row.
        sample_id: (c,) as in `Scored`.
        number: (c,) the row in the whole dataset.
    """

    most: int
    truth: Ints
    positive: Ints
    score: Floats
    sample_id: NDArray[Any]
    number: Ints

    @staticmethod
    def merged(parts: Sequence[CellExamples]) -> CellExamples:
        """The best of all parts: they are among the best of their own."""
        _, *columns = zip(*parts, strict=True)
        truth, positive, score, ids, number = (np.concatenate(column) for column in columns)
        place = np.empty(len(ids), np.int64)
        place[order_of(ids)] = np.arange(len(ids))
        pair = truth * (int(positive.max(initial=-1)) + 2) + positive + 1
        most = parts[0].most
        at = best_of_each(pair, score, place, most)
        return CellExamples(most, truth[at], positive[at], score[at], ids[at], number[at])


def best_of_cells(
    scored: Scored,
    score_threshold: ScoreThreshold,
    most: int,
    *,
    hardmax: bool,
    wanted: NDArray[np.bool_] | None = None,
) -> CellExamples:
    """The best-scored rows of each pair of a true and a positive label.

    Args:
        scored: Rows of one label key, which has one of a sample.
        score_threshold, hardmax: As for `decide`.
        most: How many of a pair, at most; not 0.
        wanted: (p,) of the pairs that occur, which to look at; None for all.
    """
    found = decide(scored, score_threshold, hardmax=hardmax)
    pair, score, row = found.pair, found.score, found.row
    if wanted is None or wanted.all():
        at = best_of_each(pair, score, row, most)
    else:
        # To sort the rows of pairs that show none costs more than to leave them out.
        some = np.flatnonzero(wanted[pair])
        at = some[best_of_each(pair[some], score[some], row[some], most)]
    return CellExamples(
        most,
        found.truth[pair[at]],
        found.positive[pair[at]],
        score[at],
        scored.sample_ids[scored.unit[row[at]]],
        scored.number[row[at]],
    )


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
