"""Metric values from columns over labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.ratios import NO_GROUND_TRUTH, NO_LABEL
from valor_cli.kernels.columns.grouping import nulls
from valor_cli.results import LabelMean, MetricValue, Scalar


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
        values: (labels,) numbers.
        output: Which of the metric's outputs they are.
        at: The list parameters' elements they were computed at.
    """
    return [
        MetricValue(
            value,
            NO_GROUND_TRUTH if value is None else None,
            output,
            label,
            n,
            at or {},
        )
        for label, value, n in zip(
            matches.labels, nulls(values), matches.ground_truth_count.tolist(), strict=True
        )
    ]


def over_labels(
    matches: Matches,
    values: NDArray[np.float64],
    *,
    output: str = "value",
    at: Mapping[str, Scalar] | None = None,
) -> MetricValue:
    """Mean over labels with ground truth; `values` has labels last.

    All numbers are added in one pass, in the order thresholds, recalls, labels, as pycocotools
    adds them: the mean of means would differ in the last bit.
    """
    truths = matches.ground_truth_count
    seen = truths > 0
    if not seen.any():
        return MetricValue(None, NO_LABEL, output, n=0, at=at or {})
    mean = float(np.ascontiguousarray(values[..., seen]).ravel().mean())
    over = label_mean(values, seen)
    return MetricValue(mean, output=output, n=int(truths.sum()), at=at or {}, over=over)


def label_mean(values: NDArray[np.float64], seen: NDArray[np.bool_]) -> LabelMean:
    """The per-label values behind a mean over labels; `values` has labels last."""
    return LabelMean(np.where(seen, means_by_label(values), np.nan), seen)


def means_by_label(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(labels,) mean over all leading axes; `values` has labels last."""
    by_label = values.reshape(math.prod(values.shape[:-1]), values.shape[-1]).T
    return np.asarray(np.ascontiguousarray(by_label).mean(axis=1))


def at_thresholds(
    matches: Matches, values: NDArray[np.float64], thresholds: Sequence[float], output: str
) -> list[MetricValue]:
    """The mean over all thresholds, and the values at 0.5 and 0.75 if among them.

    Args:
        matches: The evidence the values come from.
        values: Thresholds first, labels last.
        thresholds: Their thresholds.
        output: "AP" gives AP, AP50 and AP75.
    """
    found = [over_labels(matches, values, output=output)]
    for name, threshold in (("50", 0.5), ("75", 0.75)):
        if threshold in thresholds:
            at = thresholds.index(threshold)
            found.append(over_labels(matches, values[at], output=f"{output}{name}"))
    return found


def in_areas(
    matches: Matches, areas: Sequence[str], thresholds: Sequence[float], max_detections: int | None
) -> list[MetricValue]:
    """Average precision and recall for each area range."""
    found = []
    for area in areas:
        part = matches.within(area)
        precision = part.precision(thresholds, max_detections)
        recalls = part.recalls(thresholds, max_detections)
        found.append(over_labels(part, precision, output=f"AP{area}"))
        found.append(over_labels(part, recalls, output=f"AR{area}"))
    return found
