"""Draw bootstrap resamples of units or clusters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice
from operator import le
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.results import Scalar
from valor_cli.statistics.bootstrap import cluster_weights, resample_weights

Ints = NDArray[np.int64]


class Draws(Struct, frozen=True):
    """The resamples of some units.

    Attributes:
        units: How many there are.
        resamples, seed: As the config has them.
        clusters: (units,) the cluster of each, from 0; None: each is drawn by itself.
        ranks: (units,) the place of each in the order of drawing; None: the order of the units.
    """

    units: int
    resamples: int
    seed: int
    clusters: Ints | None = None
    ranks: Ints | None = None

    @staticmethod
    def of(
        unit_ids: Sequence[Any], resamples: int, seed: int, groups: Sequence[Scalar] | None = None
    ) -> Draws:
        """The draws of units, sorted by id so that file order does not matter.

        Args:
            unit_ids: (units,) which compare with each other.
            resamples, seed: As the config has them.
            groups: (units,) whose units are drawn together; None: each is drawn by itself.
        """
        # Where nothing is drawn there is no order of drawing.
        ids = unit_ids.tolist() if resamples and isinstance(unit_ids, np.ndarray) else unit_ids
        if not resamples or all(map(le, ids, islice(ids, 1, None))):
            clusters = None if groups is None else clusters_of(groups)
            return Draws(len(unit_ids), resamples, seed, clusters)
        ranks, clusters = _ranks(ids), None
        if groups is not None:
            order = np.argsort(ranks).tolist()
            clusters = clusters_of([groups[at] for at in order])[ranks]
        return Draws(len(unit_ids), resamples, seed, clusters, ranks)

    @property
    def drawn_count(self) -> int:
        """Number of items drawn in each resample: units or clusters."""
        if self.clusters is None:
            return self.units
        return int(self.clusters.max()) + 1 if len(self.clusters) else 0

    def weights(self, number: int) -> Ints:
        """(units,) count of each unit in one resample."""
        if self.clusters is not None:
            return cluster_weights(self.clusters, self.seed, number)
        drawn = resample_weights(self.units, self.seed, number)
        return drawn if self.ranks is None else drawn[self.ranks]

    def within(self, units: NDArray[np.bool_]) -> Draws:
        """The draws restricted to some units, as if there were no others."""
        ranks = None if self.ranks is None else _ranks(self.ranks[units].tolist())
        clusters = None
        if self.clusters is not None:
            own = self.clusters[units]
            order = np.arange(len(own)) if ranks is None else np.argsort(ranks)
            numbered = clusters_of(own[order].tolist())
            clusters = np.empty_like(numbered)
            clusters[order] = numbered
        return Draws(int(units.sum()), self.resamples, self.seed, clusters, ranks)

    def digest(self, unit_ids: Sequence[Any]) -> str:
        """SHA-256 of the draws; if two runs share it, their resamples are paired."""
        order = np.arange(self.units) if self.ranks is None else np.argsort(self.ranks)
        told = (unit_ids[at] for at in order.tolist())
        names = [one.decode() if isinstance(one, bytes) else str(one) for one in told]
        clusters = None if self.clusters is None else self.clusters[order].tolist()
        said = json.dumps([self.resamples, self.seed, names, clusters])
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def clusters_of(groups: Sequence[Scalar]) -> Ints:
    """The cluster of each unit, numbered by first appearance; a unit without a group is its own."""
    numbers: dict[object, int] = {}
    keys = ((True, one) if one is not None else (False, at) for at, one in enumerate(groups))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _ranks(values: Sequence[Any]) -> Ints:
    """(n,) the place of each among all, from 0."""
    ranks = np.empty(len(values), np.int64)
    ranks[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values))
    return ranks
