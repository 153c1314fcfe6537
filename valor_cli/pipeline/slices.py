"""Named subsets of the data: which there are, and the evidence of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.config import RunConfig
from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.metric import METADATA, Evidence, Loaded, Wing, written
from valor_cli.results import Scalar

MOST_VALUES = 100
"""Distinct values of a metadata column that still make sensible slices."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One subset: `name` is as results show it ("metadata.camera=front")."""

    key: str
    value: Scalar

    @property
    def name(self) -> str:
        """Key and value, the value as YAML writes it."""
        return f"{self.key}={written(self.value)}"

    def units(self, metadata: Mapping[str, Sequence[Any]]) -> NDArray[np.bool_] | None:
        """(units,) whether each lies in this slice; None where slices are not of whole units."""
        if not self.key.startswith(METADATA):
            return None
        values = metadata[self.key.removeprefix(METADATA)]
        mine = [value is not None and written(value) == written(self.value) for value in values]
        return np.array(mine, bool)

    def of(
        self, evidence: Evidence, wing: Wing[Any, Any], metadata: Mapping[str, Sequence[Any]]
    ) -> Evidence | None:
        """The part of the evidence that lies in this slice; None if the wing cannot cut so."""
        units = self.units(metadata)
        if units is not None:
            return evidence.select(units)
        if self.key in wing.slices:
            part: Evidence = wing.slices[self.key][1](evidence, str(self.value))
            return part
        return None


def metadata_names(config: RunConfig) -> list[str]:
    """The metadata columns that the config's slices and intervals need."""
    keys = [request.key for request in config.slices]
    if config.interval is not None and config.interval.group is not None:
        keys.append(config.interval.group)
    named = (key.removeprefix(METADATA) for key in keys if key.startswith(METADATA))
    return list(dict.fromkeys(named))


def resolve_slices(
    config: RunConfig, wings: Sequence[Wing[Any, Any]], loaded: Loaded[Any]
) -> list[Slice]:
    """Every slice that the config asks for, in its order.

    Raises:
        ConfigError: A value does not occur, or a column has too many values for slices.
    """
    slices: list[Slice] = []
    problems: list[Problem] = []
    for at, request in enumerate(config.slices):
        if request.key.startswith(METADATA):
            name = request.key.removeprefix(METADATA)
            present = _distinct([v for own in loaded.metadata.values() for v in own[name]])
        else:
            present = [v for wing in wings for v in wing.slices.get(request.key, ((),))[0]]
        wanted = present if request.values is None else list(request.values)
        place = config.place("slices", at)
        there = set(map(written, present))
        if not present and not request.key.startswith(METADATA):
            message = f"none of the metrics can be sliced by {request.key}"
            problems.append(Problem(place, message))
            continue
        for value in wanted:
            if written(value) not in there:
                near = did_you_mean(str(value), map(str, present))
                problems.append(Problem(place, f"no {request.key} is {value!r}{near}"))
        if len(wanted) > MOST_VALUES:
            message = f"{request.key} has {len(wanted):,} values; list the ones to slice by"
            problems.append(Problem(place, message))
        by_name = {written(value): value for value in wanted}
        slices += [Slice(request.key, value) for value in by_name.values()]
    if problems:
        raise ConfigError(problems)
    return slices


def _distinct(values: Sequence[Scalar]) -> list[Scalar]:
    """Values that occur, in order; a unit without a value belongs to no slice.

    Results know a slice by its name alone, so values that read the same are the same.
    """
    seen = {written(value): value for value in values if value is not None}
    return sorted(seen.values(), key=lambda value: (isinstance(value, str), value))
