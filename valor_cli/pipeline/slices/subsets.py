"""Enumerate candidate slices with the moments of the values inside and outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.statistics.lower_means import Moments

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

_MARKS = 1 << 32
"""Bound of the random numbers of samples. Sums of a million of them are whole in a float."""

_MOST_COUNTED = 4_000_000
"""Pairs of a cluster and a cell that are counted in columns; more are sorted."""


class Units(Struct, frozen=True):
    """The samples that have a value, sorted by value.

    That order makes sums the same to the last bit whatever the order of the files.

    Attributes:
        goods: (n,) the values with higher as better, minus their mean.
        codes: For each column (n,) which of its conditions a sample meets; -1: none.
        sizes: How many conditions each column has.
        clusters: (n,) the cluster of each; None if there are none.
    """

    goods: Floats
    codes: tuple[Ints, ...]
    sizes: tuple[int, ...]
    clusters: Ints | None = None

    def moments(self, units: Flags) -> Moments:
        """Moments of some samples: of single values, or of the means of clusters."""
        values = self.goods[units]
        if self.clusters is not None and len(values):
            _, own = np.unique(self.clusters[units], return_inverse=True)
            values = np.sort(np.bincount(own, values) / np.bincount(own))
        sums = (len(values), values.sum(), (values**2).sum())
        return Moments(*(np.array([one], np.float64) for one in sums))


class Part(NamedTuple):
    """A candidate slice: positions of one or two columns and their conditions; -1 for none."""

    column: int
    condition: int
    column2: int
    condition2: int

    @property
    def parents(self) -> tuple[Part, ...]:
        """The slices of one condition that contain it."""
        if self.column2 < 0:
            return ()
        return (
            Part(self.column, self.condition, -1, -1),
            Part(self.column2, self.condition2, -1, -1),
        )

    def units(self, units: Units) -> Flags:
        """(n,) the samples in it."""
        own: Flags = units.codes[self.column] == self.condition
        if self.column2 >= 0:
            own &= units.codes[self.column2] == self.condition2
        return own


class Parts(Struct, frozen=True):
    """Candidate slices, no two with the same samples.

    Attributes:
        which: (k, 4) the fields of `Part`.
        size: (k,) samples in each.
        total: (k,) sum of their values.
        inside, outside: Of the samples, or of the means of clusters, in each and in no part of it.
    """

    which: Ints
    size: Ints
    total: Floats
    inside: Moments
    outside: Moments

    def __len__(self) -> int:
        return len(self.size)


class _Cells(NamedTuple):
    """What is known of all combinations of the conditions of some columns, (cells,) each."""

    size: Ints
    total: Floats
    inside: Moments
    outside: Moments
    marks: tuple[Floats, Floats]


def parts_of(units: Units, *, depth: int, min_size: int) -> Parts:
    """The slices with enough samples inside and outside, those of one condition first.

    Args:
        units: The samples.
        depth: 2 for those of two conditions too.
        min_size: The fewest samples in a part, and outside it.
    """
    seen: set[tuple[int, float, float]] = set()
    found: list[tuple[Ints, _Cells]] = []
    clusters, marks = _clusters(units), _marks(len(units.goods))
    for columns in _columns(len(units.codes), depth):
        cells = _cells(units, columns, clusters, marks)
        rest = len(units.goods) - cells.size
        enough = (cells.size >= min_size) & (rest >= min_size)
        enough &= (cells.inside.n >= 2) & (cells.outside.n >= 2)
        kept = []
        for at in np.flatnonzero(enough).tolist():
            key = (int(cells.size[at]), float(cells.marks[0][at]), float(cells.marks[1][at]))
            if key not in seen:
                seen.add(key)
                kept.append(at)
        numbers = np.array(kept, np.int64)
        found.append((_which(columns, units.sizes, numbers), _taken(cells, numbers)))
    return _joined(found)


def _columns(count: int, depth: int) -> Iterator[tuple[int, ...]]:
    for number in range(1, depth + 1):
        yield from combinations(range(count), number)


def _cells(
    units: Units, columns: Sequence[int], clusters: _Clusters | None, marks: Floats
) -> _Cells:
    cell = np.zeros(len(units.goods), np.int64)
    inside = np.ones(len(units.goods), bool)
    for at in columns:
        cell = cell * units.sizes[at] + units.codes[at]
        inside &= units.codes[at] >= 0
    count = int(np.prod([units.sizes[at] for at in columns]))
    cell, goods = cell[inside], units.goods[inside]
    size = np.bincount(cell, minlength=count)
    total = _sums(cell, goods, count)
    first, second = (_sums(cell, one[inside], count) for one in marks)
    if clusters is None:
        squares = _sums(cell, goods**2, count)
        own = Moments(size.astype(np.float64), total, squares)
        whole = (len(units.goods), units.goods.sum(), (units.goods**2).sum())
        rest = Moments(*(one - part for one, part in zip(whole, own, strict=True)))
    else:
        own, rest = _of_clusters(units, clusters, cell, inside, count)
    return _Cells(size, total, own, rest, (first, second))


def _marks(count: int) -> Floats:
    """(2, count) random whole numbers, by whose sums sets of samples are known again."""
    return np.random.default_rng(0).integers(_MARKS, size=(2, count)).astype(np.float64)


class _Clusters(NamedTuple):
    """The clusters of samples, numbered by their means; `who` (n,) is that of each sample."""

    who: Ints
    size: Ints
    total: Floats
    mean: Floats


def _clusters(units: Units) -> _Clusters | None:
    if units.clusters is None:
        return None
    _, who = np.unique(units.clusters, return_inverse=True)
    size = np.bincount(who)
    total = _sums(who, units.goods, len(size))
    order = np.argsort(total / size, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return _Clusters(place[who], size[order], total[order], (total / size)[order])


def _of_clusters(
    units: Units, clusters: _Clusters, cell: Ints, inside: Flags, count: int
) -> tuple[Moments, Moments]:
    """Moments of the means of clusters, of what of them is in each cell and of what is not."""
    key = cell * len(clusters.size) + clusters.who[inside]
    met, own_size, own_total = _grouped(key, units.goods[inside], count * len(clusters.size))
    cells, who = met // len(clusters.size), met % len(clusters.size)
    rest_size = clusters.size[who] - own_size
    left = rest_size > 0
    rest = (clusters.total[who] - own_total)[left] / rest_size[left]
    within = _summed(cells, own_total / own_size, count)
    touched = _summed(cells, clusters.mean[who], count)
    outside = _summed(cells[left], rest, count)
    mean = clusters.mean
    whole = (float(len(mean)), mean.sum(), (mean**2).sum())
    return within, Moments(*(w - t + o for w, t, o in zip(whole, touched, outside, strict=True)))


def _grouped(key: Ints, values: Floats, bound: int) -> tuple[Ints, Ints, Floats]:
    """The keys that occur, ascending, how often, and the sum of the values of each."""
    if bound <= _MOST_COUNTED:
        size = np.bincount(key, minlength=bound)
        met = np.flatnonzero(size)
        return met, size[met], _sums(key, values, bound)[met]
    met, at = np.unique(key, return_inverse=True)
    return met, np.bincount(at, minlength=len(met)), _sums(at, values, len(met))


def _summed(cells: Ints, values: Floats, count: int) -> Moments:
    """Moments of the values of each cell, added in the order of the values."""
    order = np.argsort(values)
    cells, values = cells[order], values[order]
    return Moments(
        np.bincount(cells, minlength=count).astype(np.float64),
        _sums(cells, values, count),
        _sums(cells, values**2, count),
    )


def _sums(cells: Ints, values: Floats, count: int) -> Floats:
    """(count,) the sum of the values of each cell, 0 where there are none."""
    return np.bincount(cells, values, minlength=count).astype(np.float64)


def _which(columns: Sequence[int], sizes: Sequence[int], cells: Ints) -> Ints:
    """(k, 4) the parts that cells are."""
    none = np.full(len(cells), -1)
    if len(columns) == 1:
        return np.stack([np.full(len(cells), columns[0]), cells, none, none], axis=1)
    first, second = np.divmod(cells, sizes[columns[1]])
    whose = (np.full(len(cells), at) for at in columns)
    return np.stack([next(whose), first, next(whose), second], axis=1)


def _taken(cells: _Cells, at: Ints) -> _Cells:
    own, rest = (Moments(*(column[at] for column in one)) for one in (cells.inside, cells.outside))
    return _Cells(cells.size[at], cells.total[at], own, rest, cells.marks)


def _joined(found: Sequence[tuple[Ints, _Cells]]) -> Parts:
    if not found:
        none = np.zeros(0)
        empty = Moments(none, none, none)
        return Parts(np.zeros((0, 4), np.int64), none.astype(np.int64), none, empty, empty)
    cells = [one for _, one in found]
    inside, outside = (
        Moments(*map(np.concatenate, zip(*side, strict=True)))
        for side in ([one.inside for one in cells], [one.outside for one in cells])
    )
    return Parts(
        np.concatenate([which for which, _ in found]),
        np.concatenate([one.size for one in cells]),
        np.concatenate([one.total for one in cells]),
        inside,
        outside,
    )
