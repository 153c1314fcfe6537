"""Greedy token matching of BERTScore.

Zhang et al., BERTScore: Evaluating Text Generation with BERT, ICLR 2020.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import fsum, log

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.vectors.cosines import similarities

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ONE_THREAD = 1 << 18
"""Multiplications up to which OpenBLAS does not call other threads. For two texts of 40 tokens and
384 dimensions these double the time on two idle cores, and take a hundred times as long on busy
ones."""
_SMALL = 1 << 22


def best_matches(ones: Floats, others: Floats) -> tuple[Floats, Floats]:
    """For each token of either text, its highest cosine with a token of the other.

    Args:
        ones: (m, dimensions) of length 1.
        others: (n, dimensions) likewise.

    Returns:
        (m,) and (n,) cosines, -1 to 1; -1 where the other text has no token.
    """
    alike = _similarities(ones, others)
    # A text may have no token at all.
    return alike.max(axis=1, initial=-1.0), alike.max(axis=0, initial=-1.0)


def _similarities(ones: Floats, others: Floats) -> Floats:
    """The cosines, for texts of some sentences in parts that one thread computes."""
    if not _ONE_THREAD < len(ones) * others.size <= _SMALL:
        return similarities(ones, others)
    rows = max(1, _ONE_THREAD // others.size)
    parts = [similarities(ones[at : at + rows], others) for at in range(0, len(ones), rows)]
    return np.concatenate(parts)


def weighted_mean(values: Floats, weights: Floats) -> float | None:
    """Weighted mean; None if all weights are zero.

    Args:
        values: (n,) finite.
        weights: (n,) not negative.
    """
    total = float(weights.sum())
    return fsum(values * weights) / total if total > 0 else None


def harmonic_mean(one: float, other: float) -> float:
    """Harmonic mean of two numbers; 0 if their signs differ."""
    return 2 * one * other / (one + other) if one * other > 0 else 0.0


class DocumentFrequencies:
    """Number of texts that contain each token."""

    def __init__(self, documents: Iterable[Ints]) -> None:
        """Count the texts that contain each token.

        Args:
            documents: The ids of the tokens of each text; a duplicate text counts twice.
        """
        self._texts: Counter[int] = Counter()
        self._count = 0
        for ids in documents:
            self._texts.update(np.unique(ids).tolist())
            self._count += 1

    def inverse(self, ids: Ints) -> Floats:
        """(tokens,) log((texts + 1) / (texts with the token + 1)), non-negative."""
        return np.array([log((self._count + 1) / (self._texts[one] + 1)) for one in ids.tolist()])
