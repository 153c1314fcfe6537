"""Correct means over labels in resamples that miss some labels.

A label with few units is missing from many resamples. Their mean is then over other labels than
that of all data, and is shifted: up where the missing labels are the worst, down where they are
the best. The average of these shifts over all resamples is subtracted from each of them. Their
spread is kept: filling in the missing labels would make the value of a label with one image look
certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.results import LabelMean, Resampled

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def joined(blocks: Sequence[Resampled], axis: int) -> Resampled:
    """Concatenate resamples (axis 0) or values (axis 1)."""
    return Resampled(*(np.concatenate(both, axis) for both in zip(*blocks, strict=True)))


def by_replica(values: NDArray[Any]) -> Sequence[Floats | None]:
    """(replicas, values) as a column for each value; None of a single replica."""
    if len(values) == 1:
        return [None] * values.shape[1]
    return list(np.ascontiguousarray(values.T, np.float64))


def first_and_all(
    column: Floats, none: str
) -> tuple[float | None, str | None, NDArray[np.float64] | None]:
    """Value, reason and replicas of a `MetricValue`, of (replicas,) numbers.

    Args:
        column: The number of each replica; NaN for none.
        none: Why the first has none.
    """
    value = float(column[0])
    replicas = column if len(column) > 1 else None
    return (None, none, replicas) if np.isnan(value) else (value, None, replicas)


def alike(seen: Bools) -> Iterator[tuple[Ints, Ints]]:
    """The rows of (n, labels) flags, those with as many set together.

    Yields:
        (k,) the rows, and (k, m) the numbers of the labels that each has set, m of them.
    """
    counts = np.count_nonzero(seen, axis=1)
    for count in sorted(set(counts.tolist())):
        rows = np.flatnonzero(counts == count)
        yield rows, np.nonzero(seen[rows])[1].reshape(len(rows), count)


def chosen(values: NDArray[Any], labels: Ints) -> NDArray[Any]:
    """(k, …, m) the values of (k, …, labels) at (k, m) labels, one after the other in memory."""
    if labels.shape[1] == values.shape[-1]:
        return np.ascontiguousarray(values)
    between = (1,) * (values.ndim - 2)
    return np.take_along_axis(values, labels.reshape(len(labels), *between, -1), axis=-1)


def means_where(values: Floats, seen: Bools) -> Floats:
    """(replicas,) means over the labels seen and all that is before the labels; NaN of none.

    All numbers of a replica are added in one pass, in their order.

    Args:
        values: (replicas, …, labels).
        seen: (replicas, labels).
    """
    means = np.full(len(values), np.nan)
    for rows, labels in alike(seen):
        if labels.size:
            own = values if len(rows) == len(values) else values[rows]
            means[rows] = chosen(own, labels).reshape(len(rows), -1).mean(axis=1)
    return means


def shifted(values: Floats, labels: LabelMean | None, whole: LabelMean | None) -> Resampled:
    """(replicas,) values, and the shift of each due to missing labels.

    That is the difference to the mean in which a missing label has the value it has in all data. A
    mean over labels none of which is present is no value.

    Args:
        values: What the metric finds in each replica; NaN: nothing.
        labels: What that is the mean of; None: no label is missing.
        whole: Likewise of all data; None: the value is no mean over labels.
    """
    shifts = np.zeros(len(values))
    if labels is None:
        return Resampled(values, shifts)
    each, present = np.atleast_2d(labels.values), np.atleast_2d(labels.present)
    values = np.where(present.any(axis=1), values, np.nan)
    if whole is not None:
        (known,) = np.atleast_2d(whole.values)
        wanted = ~np.isnan(known)
        rows = np.flatnonzero(~present[:, wanted].all(axis=1) & ~np.isnan(values))
        if len(rows):
            filled = np.where(present[rows], each[rows], known)[:, wanted]
            shifts[rows] = values[rows] - np.ascontiguousarray(filled).mean(axis=1)
    return Resampled(values, shifts)


def centred(found: Resampled, bounds: Sequence[tuple[float, float | None]]) -> Floats:
    """(values, resamples) minus the average shift of each value, clipped to its bounds.

    Args:
        found: Of all resamples.
        bounds: Of each value the lowest and the highest; None: there is no highest.
    """
    columns = np.ascontiguousarray(found.values.T)
    for column, shifts, limits in zip(columns, found.shifts.T, bounds, strict=True):
        known = shifts[~np.isnan(column)]
        if known.any():
            column[:] = np.clip(column - known.mean(), *limits)
    return columns
