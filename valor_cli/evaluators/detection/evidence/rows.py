"""Metric values from columns over labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.ratios import NO_GROUND_TRUTH, NO_LABEL, values_of_labels
from valor_cli.kernels.threads import at_once
from valor_cli.results import LabelMean, MetricValue, Scalar
from valor_cli.statistics.label_means import first_and_all, means_where

_AT_ONCE = 1 << 17
"""Numbers whose means are found at once."""

_WORTH = 1 << 20
"""Area ranges of more detections than these are computed in several threads."""


def per_label(
    matches: Matches,
    values: NDArray[np.float64] | NDArray[np.int64],
    *,
    output: str = "value",
    at: Mapping[str, Scalar] | None = None,
) -> list[MetricValue]:
    """A value for each label, in label order; NaN becomes None with a reason.

    Args:
        matches: The evidence the values come from.
        values: (replicas, labels) numbers.
        output: Which of the metric's outputs they are.
        at: The list parameters' elements they were computed at.
    """
    why = [NO_GROUND_TRUTH if none else None for none in np.isnan(values[0]).tolist()]
    truths = matches.ground_truth_count[0]
    return values_of_labels(
        matches.labels, values, truths, why, output=output, at=lambda label: at or {}
    )


def over_labels(
    matches: Matches,
    values: NDArray[np.float64],
    *,
    output: str = "value",
    at: Mapping[str, Scalar] | None = None,
    among: NDArray[np.bool_] | None = None,
    none: str = NO_LABEL,
) -> MetricValue:
    """Mean over labels with ground truth; `values` has replicas first and labels last.

    All numbers are added in one pass, in the order thresholds, recalls, labels, as pycocotools
    adds them: the mean of means would differ in the last bit.

    Args:
        matches: The evidence the values come from.
        values: (replicas, …, labels) numbers.
        output, at: As in `per_label`.
        among: (labels,) which labels may enter it; None for all.
        none: Why there is no value where none of these has ground truth.
    """
    truths = matches.ground_truth_count
    seen = truths > 0 if among is None else (truths > 0) & among
    means = means_where(values, seen)
    value, why, replicas = first_and_all(means, none)
    n = int(truths[0, seen[0]].sum())
    wanted = matches.known_labels if among is None else matches.known_labels & among
    over = None
    complete = np.asarray(seen[:, wanted].all(axis=1))
    if replicas is None:
        over = LabelMean(np.where(seen[0], means_by_label(values)[0], np.nan), seen[0])
    elif not complete.all():
        over = _label_means(values, seen, complete)
    return MetricValue(value, why, output, n=n, at=at or {}, over=over, replicas=replicas)


def _label_means(
    values: NDArray[np.float64], seen: NDArray[np.bool_], complete: NDArray[np.bool_]
) -> LabelMean:
    """The per-label values behind means over labels; those of complete replicas are not needed."""
    by_label, short = np.zeros(seen.shape), values[~complete]
    # Summed as it lies in memory: what is missing is a correction, not a value.
    by_label[~complete] = short.mean(axis=tuple(range(1, short.ndim - 1)))
    return LabelMean(by_label, seen | complete[:, None])


def means_by_label(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(replicas, labels) mean over all axes between; `values` has replicas first, labels last."""
    means = np.empty((len(values), values.shape[-1]))
    # A few at a time: a copy of all of them would not fit the cache.
    at_once = max(_AT_ONCE // max(math.prod(values.shape[1:]), 1), 1)
    for first in range(0, len(values), at_once):
        own = values[first : first + at_once]
        shape = (len(own), math.prod(values.shape[1:-1]), values.shape[-1])
        by_label = own.reshape(shape).swapaxes(1, 2)
        means[first : first + at_once] = np.ascontiguousarray(by_label).mean(axis=2)
    return means


def at_thresholds(
    matches: Matches, values: NDArray[np.float64], thresholds: Sequence[float], output: str
) -> list[MetricValue]:
    """The mean over all thresholds, and the values at 0.5 and 0.75 if among them.

    Args:
        matches: The evidence the values come from.
        values: (replicas, thresholds, …, labels).
        thresholds: Their thresholds.
        output: "AP" gives AP, AP50 and AP75.
    """
    found = [over_labels(matches, values, output=output)]
    for name, threshold in (("50", 0.5), ("75", 0.75)):
        if threshold in thresholds:
            at = thresholds.index(threshold)
            found.append(over_labels(matches, values[:, at], output=f"{output}{name}"))
    return found


def in_areas(
    matches: Matches,
    areas: Sequence[str],
    thresholds: Sequence[float],
    max_detections: int | None,
    *before: Callable[[], list[MetricValue]],
) -> list[MetricValue]:
    """Average precision and recall for each area range.

    Args:
        matches, thresholds, max_detections: What they are computed from.
        areas: The area ranges.
        before: Makes values that come before these, of other ranges: at the same time.
    """

    def in_one(area: str) -> list[MetricValue]:
        part = matches.within(area)
        precision = part.precision(thresholds, max_detections)
        recalls = part.recalls(thresholds, max_detections)
        return [
            over_labels(part, precision, output=f"AP{area}"),
            over_labels(part, recalls, output=f"AR{area}"),
        ]

    parts: list[Callable[[], list[MetricValue]]]
    parts = [*before, *(partial(in_one, area) for area in areas)]
    # Resamples are shared among threads themselves.
    worth = matches.weights is None and len(matches.label) > _WORTH
    return [value for found in at_once(lambda part: part(), parts, worth=worth) for value in found]
