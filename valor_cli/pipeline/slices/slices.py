"""Slices: their conditions, those of a config, their evidence, and which samples are in them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.config import RunConfig
from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.metric import METADATA, Evidence, Loaded, Wing, written
from valor_cli.pipeline.stored_evidence import plain_ids
from valor_cli.results import Scalar, SlicesResult

MOST_VALUES = 100
"""Distinct values of a metadata column that still make sensible slices."""

Metadata: TypeAlias = Mapping[str, Sequence[Any]]

QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST = 40
"""Characters of a number that is written out."""


class Range(Struct, frozen=True):
    """Numbers from `low` to below `high`; the last range includes `high`."""

    low: float
    high: float
    last: bool = False

    def holds(self, value: Scalar) -> bool:
        """Whether a value is in the range."""
        number = number_of(value)
        if number is None:
            return False
        return self.low <= number and (number <= self.high if self.last else number < self.high)

    def __str__(self) -> str:
        return f"[{_said(self.low)}, {_said(self.high)}{']' if self.last else ')'}"


def number_of(value: Scalar) -> float | None:
    """The finite number in a value or its text; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and (len(value) > _LONGEST or not _NUMBER.fullmatch(value)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def quartile_ranges(numbers: Sequence[float]) -> list[Range]:
    """The ranges between the quartiles, in order; fewer if some quartiles are equal.

    The bounds are numbers that occur: of an even number of them, the lower of the two in the
    middle is the median.
    """
    column = np.array(numbers, np.float64)
    edges = np.unique(np.quantile(column, QUARTILES, method="inverted_cdf")).tolist()
    if len(edges) == 1:
        return [Range(edges[0], edges[0], last=True)]
    ranges = [Range(low, high) for low, high in pairwise(edges)]
    return [*ranges[:-1], Range(ranges[-1].low, ranges[-1].high, last=True)]


def _said(number: float) -> str:
    """A number as YAML writes it, whole ones without a point."""
    whole = float(number).is_integer() and abs(number) < 2**53
    return str(int(number)) if whole else repr(number)


class Column(Struct, frozen=True):
    """A metadata column by its distinct values, so that each of these is looked at once.

    Attributes:
        values: The distinct ones; of equal ones of another kind (1, true) each.
        codes: (units,) the position of each unit's value among them.
    """

    values: Sequence[Scalar]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, values: Iterable[Scalar]) -> Column:
        """The column of the units' values."""
        seen: dict[tuple[type, Scalar], int] = {}
        codes = [seen.setdefault((type(one), one), len(seen)) for one in values]
        return cls([one for _, one in seen], np.array(codes, np.intp))

    def where(self, holds: Callable[[Scalar], bool]) -> NDArray[np.bool_]:
        """(units,) whether something holds of the unit's value."""
        return np.array([holds(one) for one in self.values], np.bool_)[self.codes]


class Columns:
    """The metadata columns of a model, each made when it is first asked for."""

    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata
        self._columns: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = Column.of(self._metadata[name])
        return self._columns[name]


class Condition(Struct, frozen=True):
    """The condition of a slice: a value of its key, or a range."""

    key: str
    value: Scalar | Range

    @property
    def name(self) -> str:
        """Key and value, as written in YAML."""
        value = str(self.value) if isinstance(self.value, Range) else written(self.value)
        return f"{self.key}={value}"

    def units(self, columns: Columns) -> NDArray[np.bool_]:
        """(units,) whether the condition holds."""
        column, wanted = columns[self.key.removeprefix(METADATA)], self.value
        if isinstance(wanted, Range):
            return column.where(wanted.holds)
        text = written(wanted)
        return column.where(lambda one: one is not None and written(one) == text)


class Slice(Struct, frozen=True):
    """A subset of the data, defined by conditions on its units.

    `name` is as results show it ("metadata.camera=rear & metadata.weather=rain").
    """

    conditions: tuple[Condition, ...]

    @classmethod
    def of_value(cls, key: str, value: Scalar) -> Slice:
        """The units with one value of a key."""
        return cls((Condition(key, value),))

    @property
    def name(self) -> str:
        """The joined conditions."""
        return " & ".join(one.name for one in self.conditions)

    def units(self, columns: Columns) -> NDArray[np.bool_] | None:
        """(units,) whether each is in the slice; None if slices are not of whole units."""
        if not all(one.key.startswith(METADATA) for one in self.conditions):
            return None
        masks = [one.units(columns) for one in self.conditions]
        return np.asarray(np.logical_and.reduce(masks), np.bool_)

    def of(self, evidence: Evidence, wing: Wing[Any, Any], columns: Columns) -> Evidence | None:
        """The evidence of this slice; None if the wing cannot select it."""
        units = self.units(columns)
        if units is not None:
            return evidence.select(units)
        (condition,) = self.conditions
        if condition.key in wing.slices:
            part: Evidence = wing.slices[condition.key][1](evidence, str(condition.value))
            return part
        return None


def metadata_names(config: RunConfig) -> list[str]:
    """The metadata columns that the config's slices and intervals name."""
    keys = [request.key for request in config.slices]
    if config.slice_search is not None:
        keys += config.slice_search.columns or ()
    if config.interval is not None and config.interval.group is not None:
        keys.append(config.interval.group)
    named = (key.removeprefix(METADATA) for key in keys if key.startswith(METADATA))
    return list(dict.fromkeys(named))


def resolve_slices(
    config: RunConfig, wings: Sequence[Wing[Any, Any]], loaded: Loaded[Any]
) -> list[Slice]:
    """Every slice listed in the config, in order, without those of searches.

    Raises:
        ConfigError: A value does not occur, or a column has too many values for slices.
    """
    slices: list[Slice] = []
    problems: list[Problem] = []
    for at, request in enumerate(config.slices):
        if request.search is not None:
            continue
        if request.key.startswith(METADATA):
            name = request.key.removeprefix(METADATA)
            present = distinct([v for own in loaded.metadata.values() for v in own[name]])
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
            if request.values is not None:
                message = f"{len(wanted):,} values of {request.key}; list at most {MOST_VALUES}"
            problems.append(Problem(place, message))
        by_name = {written(value): value for value in wanted}
        slices += [Slice.of_value(request.key, value) for value in by_name.values()]
    if problems:
        raise ConfigError(problems)
    return slices


def distinct(values: Sequence[Scalar]) -> list[Scalar]:
    """Distinct values, in order; a unit without a value is in no slice.

    Results know a slice by its name alone, so values that read the same are the same: the number,
    where there is one, whatever the order of the units.
    """
    seen: dict[str, Scalar] = {}
    for value in values:
        if value is None:
            continue
        text = written(value)
        if text not in seen or isinstance(seen[text], str):
            seen[text] = value
    return sorted(seen.values(), key=lambda value: (isinstance(value, str), value))


MOST_FLAGS: Final = 1 << 26
"""Samples times slices of a model, which take 8 MiB: later slices are left out."""


def memberships(
    loaded: Loaded[Any], slices: Sequence[Slice], columns: Mapping[str, Columns]
) -> list[SlicesResult]:
    """Of each model, the samples that are in each slice of whole samples.

    A part of samples, as objects of a size, is no such slice. `columns` are those of each model.
    """
    found = []
    for model, dataset in loaded.datasets.items():
        ids = dataset.unit_ids
        # Where data are read in pieces, ids that no metric needs are mere numbers.
        if model not in loaded.metadata or isinstance(ids, range):
            continue
        names: list[str] = []
        flags = []
        for cut in slices:
            if (len(names) + 1) * len(ids) > MOST_FLAGS:
                break
            units = cut.units(columns[model])
            if units is not None:
                names.append(cut.name)
                flags.append(units)
        if names:
            found.append(SlicesResult(model, names, plain_ids(ids), np.array(flags, bool)))
    return found
