"""Label scores by row, dense or sparse, and their concatenation.

A row lists labels in an order, each once, with a score; labels that are not listed have score 0.
Both representations have the same methods. They work in blocks of rows that fit the processor's
cache, so that no operation makes a second copy of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from valor_cli.kernels.ranking.dense_scores import DenseScores
from valor_cli.kernels.ranking.score_answers import UNLISTED, Best
from valor_cli.kernels.ranking.sparse_scores import SparseScores, joined_sparse

__all__ = ["UNLISTED", "Best", "DenseScores", "Scores", "SparseScores", "joined_scores"]

Scores: TypeAlias = DenseScores | SparseScores


def joined_scores(parts: Sequence[Scores]) -> Scores:
    """Concatenate rows.

    They stay dense if all list the same labels in the same order.
    """
    dense = [part for part in parts if isinstance(part, DenseScores)]
    if len(dense) == len(parts) and all(
        np.array_equal(part.label, dense[0].label) for part in dense
    ):
        return DenseScores(dense[0].label, np.concatenate([part.score for part in dense]))
    return joined_sparse([part.sparse() for part in parts])
