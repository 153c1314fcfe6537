"""Columns over labels of several resamples to the values that a metric has at each of them.

What `rows` does for one evidence, in the same order; NaN where it has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection import rows
from valor_cli.evaluators.detection.replicas import Replicas
from valor_cli.statistics.label_means import held_mean

Floats = NDArray[np.float64]


def side_by_side(columns: Sequence[NDArray[Any]]) -> NDArray[np.complex128]:
    """(resamples, values) of columns that are (resamples,) or (resamples, values)."""
    return np.column_stack([np.asarray(one, np.complex128) for one in columns])


def over_labels(
    replicas: Replicas,
    values: Floats,
    whole: Floats,
    among: NDArray[np.bool_] | None = None,
) -> NDArray[Any]:
    """(resamples,) the mean over labels that have ground truth, as `held_mean` has it.

    All numbers of a resample are added in one pass, as `rows.over_labels` adds them.

    Args:
        replicas: The resamples.
        values: (resamples, …, labels) what each resample has.
        whole: (…, labels) what all data have.
        among: (labels,) which labels may enter it.
    """
    wanted = replicas.matches.ground_truth_count > 0
    if among is not None:
        wanted &= among
    seen = (replicas.ground_truth_count > 0) & wanted
    if wanted.all() and seen.all() and values.flags.c_contiguous:
        return np.asarray(values.reshape(len(values), -1).mean(axis=1))
    means = np.full(len(values), np.nan, np.complex128)
    over = None
    for resample in np.flatnonzero(seen.any(axis=1)):
        mine, present = values[resample], seen[resample]
        mean = float(np.ascontiguousarray(mine[..., present]).ravel().mean())
        means[resample] = mean
        if not present[wanted].all():
            over = rows.label_mean(whole, wanted) if over is None else over
            means[resample] = held_mean(mean, rows.label_mean(mine, present), over)
    return means


def means_by_label(values: Floats) -> Floats:
    """(resamples, labels) mean over all axes between; `values` has labels last."""
    # One by one: a copy of all of them would not fit the cache.
    return np.array([rows.means_by_label(one) for one in values]).reshape(len(values), -1)


def at_thresholds(
    replicas: Replicas, values: Floats, whole: Floats, thresholds: Sequence[float]
) -> list[NDArray[Any]]:
    """As `rows.at_thresholds`: the mean over thresholds, and those at 0.5 and 0.75."""
    found = [over_labels(replicas, values, whole)]
    for threshold in (0.5, 0.75):
        if threshold in thresholds:
            at = thresholds.index(threshold)
            found.append(over_labels(replicas, values[:, at], whole[at]))
    return found


def in_areas(
    replicas: Replicas,
    areas: Sequence[str],
    thresholds: Sequence[float],
    max_detections: int | None,
) -> list[NDArray[Any]]:
    """As `rows.in_areas`: average precision and recall over the objects of each area range."""
    found = []
    for area in areas:
        part = replicas.within(area)
        precision = part.precision(thresholds, max_detections)
        recalls = part.recalls(thresholds, max_detections)
        whole = part.matches
        found.append(over_labels(part, precision, whole.precision(thresholds, max_detections)))
        found.append(over_labels(part, recalls, whole.recalls(thresholds, max_detections)))
    return found
