"""Cosine similarity of vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cosines(one: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of a vector with each of several, -1 to 1; 0 for zero vectors.

    Args:
        one: (dimensions,) finite.
        others: (n, dimensions) finite.

    Returns:
        (n,) the cosines.
    """
    found: NDArray[np.float64] = similarities(units(one[None, :]), units(others))[0]
    return found


def similarities(ones: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of each pair of two sets of vectors, -1 to 1.

    Args:
        ones: (m, dimensions) of length 1, or zeros.
        others: (n, dimensions) likewise.

    Returns:
        (m, n) the cosines; 0 with a vector of zeros.
    """
    return np.asarray(np.clip(ones @ others.T, -1.0, 1.0), np.float64)


def units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit vectors; zero vectors are unchanged.

    Args:
        vectors: (n, dimensions) finite.
    """
    # Squares of very large and very small numbers leave the range of floats.
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return np.asarray(scaled / np.where(length > 0, length, 1.0), np.float64)
