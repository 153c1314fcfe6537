"""Units and their clusters in; which of them a resample holds, and how often, out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.results import Scalar
from valor_cli.statistics.bootstrap import cluster_weights, resample_weights

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Draws:
    """The resamples of some units.

    Attributes:
        units: How many there are.
        resamples, seed: As the config has them.
        clusters: (units,) the cluster of each, from 0; None: each is drawn by itself.
    """

    units: int
    resamples: int
    seed: int
    clusters: Ints | None = None

    @property
    def drawn_count(self) -> int:
        """How many things are drawn in each resample: units, or clusters."""
        if self.clusters is None:
            return self.units
        return int(self.clusters.max()) + 1 if len(self.clusters) else 0

    def weights(self, number: int) -> Ints:
        """(units,) how often each unit stands in one resample."""
        if self.clusters is None:
            return resample_weights(self.units, self.seed, number)
        return cluster_weights(self.clusters, self.seed, number)

    def within(self, units: NDArray[np.bool_]) -> Draws:
        """Those of some of the units alone."""
        if self.clusters is None:
            return Draws(int(units.sum()), self.resamples, self.seed)
        _, own = np.unique(self.clusters[units], return_inverse=True)
        return Draws(int(units.sum()), self.resamples, self.seed, own)

    def digest(self, unit_ids: Sequence[Any]) -> str:
        """SHA-256 of which units are drawn how often; the same of two runs makes them pairs."""
        names = [one.decode() if isinstance(one, bytes) else str(one) for one in unit_ids]
        clusters = None if self.clusters is None else self.clusters.tolist()
        said = json.dumps([self.resamples, self.seed, names, clusters])
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def clusters_of(groups: Sequence[Scalar]) -> Ints:
    """The cluster of each unit, numbered as they first stand; one without a group is its own."""
    numbers: dict[object, int] = {}
    keys = ((True, one) if one is not None else (False, at) for at, one in enumerate(groups))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
