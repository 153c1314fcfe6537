"""Vectors of sentences, and of those of several texts, in; how near each text comes out."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.cosines import similarities

AT_ONCE: Final = 4_000_000
"""Cosines that are held at once, at most: 32 MB, however long the texts are."""


def nearest_of_each(
    ones: NDArray[np.float64], others: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The highest cosine of each of some vectors with the vectors of each of several texts.

    Args:
        ones: (m, dimensions) of length 1, or zeros.
        others: (n, dimensions) likewise; text after text, and of each one vector at least.
        starts: (texts,) where the vectors of each text begin; the first begins at 0.

    Returns:
        (m, texts) the cosines, -1 to 1.
    """
    rows = max(AT_ONCE // len(others), 1)
    if len(ones) <= rows:
        return _highest(ones, others, starts)
    parts = [_highest(ones[at : at + rows], others, starts) for at in range(0, len(ones), rows)]
    return np.concatenate(parts)


def _highest(
    ones: NDArray[np.float64], others: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    found = np.maximum.reduceat(similarities(ones, others), starts, axis=1)
    return np.asarray(found, np.float64)
