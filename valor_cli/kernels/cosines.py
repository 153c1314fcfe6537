"""Vectors in; the cosine of the angle between them out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cosines(one: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cosine of a vector with each of several, -1 to 1; 0 with a vector of zeros.

    Args:
        one: (dimensions,) finite.
        others: (n, dimensions) finite.

    Returns:
        (n,) the cosines.
    """
    found = _units(others) @ _units(one[None, :])[0]
    return np.asarray(np.clip(found, -1.0, 1.0), np.float64)


def _units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same directions with length 1; zeros stay."""
    # Squares of very large and very small numbers leave the range of floats.
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return np.asarray(scaled / np.where(length > 0, length, 1.0), np.float64)
