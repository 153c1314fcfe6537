"""Distance between the centroids of two groups of vectors, with a permutation test."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.vectors.cosines import cosines, units

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
