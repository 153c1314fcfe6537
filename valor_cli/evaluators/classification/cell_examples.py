"""Decisions in; the best-scored rows of each cell of a confusion matrix out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.decisions import decide
from valor_cli.evaluators.classification.plan import ScoreThreshold
from valor_cli.evaluators.classification.scored import Scored
from valor_cli.kernels.best_of_each import best_of_each
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
