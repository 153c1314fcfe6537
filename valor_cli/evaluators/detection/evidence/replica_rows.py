"""Metric values per resample from columns over labels.

The same as `rows`, for all resamples at once and in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence import rows
from valor_cli.evaluators.detection.evidence.resamples import Replicas
from valor_cli.results import Resampled
from valor_cli.statistics.label_means import unshifted, value_and_shift

Floats = NDArray[np.float64]


def over_labels(
    replicas: Replicas,
    values: Floats,
    whole: Floats,
    among: NDArray[np.bool_] | None = None,
) -> Resampled:
    """Mean over labels with ground truth, as one value.

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
        return unshifted(values.reshape(len(values), -1).mean(axis=1, keepdims=True))
    means = unshifted(np.full((len(values), 1), np.nan))
    over = None
    for resample in np.flatnonzero(seen.any(axis=1)):
        mine, present = values[resample], seen[resample]
        mean = float(np.ascontiguousarray(mine[..., present]).ravel().mean())
        means.values[resample] = mean
        if not present[wanted].all():
            over = rows.label_mean(whole, wanted) if over is None else over
            _, shift = value_and_shift(mean, rows.label_mean(mine, present), over)
            means.shifts[resample] = shift
    return means


def means_by_label(values: Floats) -> Resampled:
    """Mean over the middle axes by label; `values` has resamples first, labels last."""
    # One by one: a copy of all of them would not fit the cache.
    means = np.array([rows.means_by_label(one) for one in values])
    return unshifted(means.reshape(len(values), -1))


def at_thresholds(
    replicas: Replicas, values: Floats, whole: Floats, thresholds: Sequence[float]
) -> list[Resampled]:
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
) -> list[Resampled]:
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
