"""Scores of labels, row by row, for all labels or for some; rows of several parts made one.

A row lists labels in an order, each once, with a score; a label that it does not list has score 0.
Both kinds of rows answer the same questions. They work in blocks of rows that fit the processor's
cache, so that a question costs no second copy of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from valor_cli.kernels.ranking.dense_scores import DenseScores
from valor_cli.kernels.ranking.score_answers import UNLISTED, Best
from valor_cli.kernels.ranking.sparse_scores import SparseScores, starts

__all__ = ["UNLISTED", "Best", "DenseScores", "Scores", "SparseScores", "joined_scores"]

Scores: TypeAlias = DenseScores | SparseScores


def joined_scores(parts: Sequence[Scores]) -> Scores:
    """The rows of several parts, one part after the other.

    They stay dense if all list the same labels in the same order.
    """
    dense = [part for part in parts if isinstance(part, DenseScores)]
    if len(dense) == len(parts) and all(
        np.array_equal(part.label, dense[0].label) for part in dense
    ):
        return DenseScores(dense[0].label, np.concatenate([part.score for part in dense]))
    rows = [part.sparse() for part in parts]
    return SparseScores(
        starts(np.concatenate([np.diff(part.start) for part in rows])),
        np.concatenate([part.label for part in rows]),
        np.concatenate([part.score for part in rows]),
    )
