"""Cosine similarity of vectors, and distances of points and of centroids."""

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


Floats = NDArray[np.float64]

_NOISE = 1e-12
"""Cosines nearer than that are equal: rounding alone parts them."""

_AT_ONCE = 100
"""Relabellings whose centroids are computed together."""


def centroid(vectors: Floats) -> Floats | None:
    """(dimensions,) unit vector of the mean of vectors.

    Args:
        vectors: (n, dimensions) of length 1, or zeros.

    Returns:
        A vector of length 1; None where all are zeros, or they cancel each other out.
    """
    total = vectors.sum(axis=0)
    if np.abs(total).max(initial=0.0) <= _NOISE * len(vectors):
        return None
    return np.asarray(units(total[None, :])[0])


def distances_from(direction: Floats, vectors: Floats) -> Floats:
    """(n,) cosine distance of each vector from a direction, 0 to 2; 1 for zero vectors."""
    return np.asarray(1.0 - cosines(direction, vectors))


def centroid_drift(vectors: Floats, first: int) -> float | None:
    """Cosine distance between the centroids of two groups, 0 to 2.

    Args:
        vectors: (n, dimensions) of length 1, or zeros.
        first: How many make up the first group.

    Returns:
        The distance; None where a group has no centroid.
    """
    one, other = centroid(vectors[:first]), centroid(vectors[first:])
    if one is None or other is None:
        return None
    return float(distances_from(one, other[None, :])[0])


def permuted_drifts(vectors: Floats, first: int, permutations: int, seed: int) -> Floats:
    """(permutations,) distances for random assignments to the groups.

    A group without a centroid is at right angles to everything: 1.

    Args:
        vectors, first: As of `centroid_drift`.
        permutations: How often the groups are drawn.
        seed: Decides how; not how many at a time.
    """
    rng = np.random.default_rng(seed)
    total = vectors.sum(axis=0)
    found = np.empty(permutations)
    for at in range(0, permutations, _AT_ONCE):
        drawn = min(_AT_ONCE, permutations - at)
        mask = np.zeros((drawn, len(vectors)))
        for row in mask:
            row[rng.permutation(len(vectors))[:first]] = 1.0
        ones = mask @ vectors
        others = total - ones
        least = _NOISE * len(vectors)
        both = (np.abs(ones).max(axis=1) > least) & (np.abs(others).max(axis=1) > least)
        alike = (units(ones) * units(others)).sum(axis=1)
        found[at : at + drawn] = 1.0 - np.clip(np.where(both, alike, 0.0), -1.0, 1.0)
    return found


def permutation_p(found: float, by_chance: Floats) -> float:
    """Permutation p-value: the share of permutations at least as extreme, plus the observed one.

    Phipson and Smyth, Permutation P-values Should Never Be Zero, 2010.
    """
    as_much = int((by_chance >= found - _NOISE).sum())
    return (1 + as_much) / (1 + len(by_chance))


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
