"""Find the slices of the data on which a model does worst.

Every slice is compared with the rest of the data, and p-values are corrected for the number of
slices: a reported slice is worse than the worst of so many would be by chance. Chung et al., Slice
Finder: Automated Data Slicing for Model Validation, 2019, spends its level on one slice after the
other; here all slices count (Holm), so that the order of the columns does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.config import SliceSearch
from valor_cli.pipeline.slices.columns import SliceColumn
from valor_cli.pipeline.slices.slices import Metadata, Slice
from valor_cli.pipeline.slices.subsets import Flags, Floats, Ints, Part, Parts, Units, parts_of
from valor_cli.statistics.corrections import holm
from valor_cli.statistics.lower_means import lower_means

NEARLY_SAME = 0.9
"""Overlap of two slices above which only the worse one is reported."""

MOST_LOOKED_AT = 2000
"""Maximum number of significantly worse slices kept; those with the worst means."""


class WorstSlice(Struct, frozen=True):
    """A slice that the search reports; fields as in `FoundSlice`."""

    slice: Slice
    n: int
    value: float
    rest: float
    p: float
    p_adjusted: float


class _Judged(Struct, frozen=True):
    """The parts, and how sure it is that each is worse than the rest.

    Attributes:
        mean, rest: (k,) of the samples in each part and outside it, as `Units.goods` has them.
        p, adjusted: (k,) 1 where there was no test.
        number: The position of each part.
    """

    parts: Parts
    mean: Floats
    rest: Floats
    p: Floats
    adjusted: Floats
    number: dict[Part, int]

    def part(self, at: int) -> Part:
        return Part(*self.parts.which[at].tolist())


def worst_slices(
    values: Floats,
    *,
    lower: bool,
    columns: Sequence[SliceColumn],
    metadata: Metadata,
    clusters: Ints | None,
    asked: SliceSearch,
) -> tuple[int, list[WorstSlice]]:
    """The number of slices compared with the rest, and the significantly worse ones, worst first.

    Args:
        values: (units,) of each sample; NaN where it has none.
        lower: Whether lower values are better.
        columns: Where to look.
        metadata: By name, a value of each unit.
        clusters: (units,) the cluster of each, whose means are then what is tested; None: each
            stands alone.
        asked: How large parts must be, and how sure.
    """
    known = ~np.isnan(values)
    if not known.any():
        return 0, []
    signed = -values[known] if lower else values[known]
    order = np.argsort(signed, kind="stable")
    middle = float(signed[order].mean())
    units = Units(
        signed[order] - middle,
        tuple(column.codes(metadata)[known][order] for column in columns),
        tuple(len(column.conditions) for column in columns),
        None if clusters is None else clusters[known][order],
    )
    judged = _judge(units, asked)

    found, exact = [], values[known][order]
    for at in _chosen(units, judged, asked):
        inside = judged.part(at).units(units)
        found.append(
            WorstSlice(
                _slice(judged.part(at), columns),
                int(judged.parts.size[at]),
                float(exact[inside].mean()),
                float(exact[~inside].mean()),
                float(judged.p[at]),
                float(judged.adjusted[at]),
            )
        )
    return len(judged.parts), found


def _slice(part: Part, columns: Sequence[SliceColumn]) -> Slice:
    conditions = [columns[part.column].conditions[part.condition]]
    if part.column2 >= 0:
        conditions.append(columns[part.column2].conditions[part.condition2])
    return Slice(tuple(conditions))


def _judge(units: Units, asked: SliceSearch) -> _Judged:
    parts = parts_of(units, depth=asked.depth, min_size=asked.min_size)
    p = np.nan_to_num(lower_means(parts.inside, parts.outside, below=1 - asked.level), nan=1.0)
    mean = parts.total / parts.size
    rest = (units.goods.sum() - parts.total) / (len(units.goods) - parts.size)
    adjusted = np.array([1.0 if one is None else one for one in holm(p.tolist())])
    # Clusters may weigh the other way than samples do.
    adjusted[mean >= rest] = 1.0
    number = {Part(*one): at for at, one in enumerate(parts.which.tolist())}
    return _Judged(parts, mean, rest, p, adjusted, number)


def _chosen(units: Units, judged: _Judged, asked: SliceSearch) -> Iterator[int]:
    """Positions of the slices to report, worst first.

    A part of two conditions must be clearly worse than what else meets one of them, where that is
    clearly worse as it is: else the one condition says it all. A part with worse ones in it must
    be clearly worse without them.
    """
    worse = np.flatnonzero(judged.adjusted < 1 - asked.level)
    difference = judged.mean[worse] - judged.rest[worse]
    ranked = worse[np.lexsort((worse, difference))][:MOST_LOOKED_AT].tolist()
    nested = _pairs_within(judged)
    told: list[Flags] = []
    for at in ranked:
        part = judged.part(at)
        if not all(_worse_than(units, judged, at, one, nested, asked) for one in part.parents):
            continue
        inside = part.units(units)
        if any(_alike(inside, one) for one in told):
            continue
        within = [one for one in told if not (one & ~inside).any()]
        if within and not _still_worse(units, inside, within, asked):
            continue
        told.append(inside)
        yield at
        if len(told) == asked.most:
            return


def _pairs_within(judged: _Judged) -> dict[Part, int]:
    """How many parts of two conditions each part of one has."""
    counts: dict[Part, int] = {}
    for row in judged.parts.which[judged.parts.which[:, 2] >= 0].tolist():
        for parent in Part(*row).parents:
            counts[parent] = counts.get(parent, 0) + 1
    return counts


def _worse_than(
    units: Units,
    judged: _Judged,
    at: int,
    parent: Part,
    nested: dict[Part, int],
    asked: SliceSearch,
) -> bool:
    """Whether a part is worse than one that it lies in; clearly, if that is clearly bad itself."""
    own = judged.part(at).units(units)
    outer = parent.units(units)
    if units.goods[own].mean() >= units.goods[outer].mean():
        return False
    number = judged.number.get(parent)
    if number is None or judged.adjusted[number] >= 1 - asked.level:
        return True
    # The worst of so many parts is worse than the others by chance alone.
    p = _p(units, own, outer & ~own, asked)
    return p * nested[parent] < 1 - asked.level


def _alike(inside: Flags, other: Flags) -> bool:
    """Whether a part lies in one that is worse, or has nearly the same samples."""
    both = int((inside & other).sum())
    either = int((inside | other).sum())
    return both == int(inside.sum()) or both > NEARLY_SAME * either


def _still_worse(units: Units, inside: Flags, within: Sequence[Flags], asked: SliceSearch) -> bool:
    """Whether a part is clearly worse than the rest without the worse ones in it."""
    without = inside & ~np.logical_or.reduce(within)
    return _p(units, without, ~inside, asked) < 1 - asked.level


def _p(units: Units, inside: Flags, outside: Flags, asked: SliceSearch) -> float:
    """One-sided p-value that some samples are no worse than others; 1 if undefined."""
    found: NDArray[np.float64] = lower_means(
        units.moments(inside), units.moments(outside), below=1 - asked.level
    )
    return 1.0 if np.isnan(found[0]) else float(found[0])
