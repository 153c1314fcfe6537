"""Distances, nearest neighbours and longest segments of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def distances(ones: Floats, others: Floats) -> Floats:
    """(m, n) Euclidean distances of points (m, dimensions) from points (n, dimensions)."""
    squares = np.zeros((len(ones), len(others)))
    # Dimension by dimension: they are few, and points are many.
    for mine, theirs in zip(ones.T, others.T, strict=True):
        squares += np.subtract.outer(mine, theirs) ** 2
    return np.asarray(np.sqrt(squares))


def median_distance(apart: Floats) -> float:
    """Median pairwise distance.

    Args:
        apart: (n, n) the distances, n at least 2.
    """
    return float(np.median(apart[np.triu_indices(len(apart), 1)]))


def nearest_within(apart: Floats, reach: float) -> Ints:
    """(m,) index of the nearest other point, the first if tied; -1 if none is in reach.

    Args:
        apart: (m, n) the distances, n at least 1.
        reach: How far away it may be; that far is near enough.
    """
    nearest = apart.argmin(axis=1)
    near = np.take_along_axis(apart, nearest[:, None], axis=1)[:, 0] <= reach
    return np.where(near, nearest, -1)


def three_segments(apart: Floats) -> float:
    """Length of the longest segment between two points, extended by one more at either end.

    The first segment joins the two points a and b that are furthest apart. The second leads from a
    to the point furthest from it other than b, the third from b to the point furthest from it other
    than a; both may lead to the same point. Of pairs that are equally far apart that one is taken
    which makes the sum largest. Two points have one segment, one point has none.

    Args:
        apart: (n, n) the distances of the points from each other.
    """
    if len(apart) < 2:
        return 0.0
    longest = float(apart.max())
    ends, others = np.nonzero(np.triu(apart == longest, 1))
    most = 0.0
    for a, b in zip(ends.tolist(), others.tolist(), strict=True):
        rest = np.ones(len(apart), bool)
        rest[[a, b]] = False
        more = float(apart[a, rest].max(initial=0.0) + apart[b, rest].max(initial=0.0))
        most = max(most, more)
    return longest + most
