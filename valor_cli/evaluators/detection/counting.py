"""Matches in; counts and curves of all of their replicas, one by weight of images, out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.plan import Interpolation
from valor_cli.kernels.columns import quotient, reaching, tallies
from valor_cli.kernels.precision_recall import (
    ELEVEN_RECALLS,
    RECALLS,
    Hits,
    Interpolated,
    area_under,
    interpolate,
)
from valor_cli.kernels.ranking import running_hits

if TYPE_CHECKING:
    from valor_cli.evaluators.detection.matches import Matches

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def ground_truths(matches: Matches) -> Ints:
    """(replicas, labels) ground truths that count in the area range."""
    counted = ~matches.gt_ignored[matches.plan.areas.index(matches.area)]
    weights = None if matches.weights is None else matches.weights[:, matches.gt_image[counted]]
    return tallies(matches.gt_label[counted], len(matches.labels), weights)


def positives(
    matches: Matches, iou_threshold: float, levels: Floats, max_detections: int | None
) -> tuple[Ints, Ints]:
    """(replicas, levels, labels) true positives, and false ones, at ascending scores."""
    order = matches.order([iou_threshold], max_detections)
    # Counted ones are right or wrong; corrections say who is counted against the rule.
    tp = _at_least(matches, levels, order.rows)
    counted = _at_least(matches, levels, np.flatnonzero(order.counted))
    for sign in (1, -1):
        counted += sign * _at_least(matches, levels, order.corrected[order.sign == sign])
    return tp, counted - tp


def precisions(
    matches: Matches,
    iou_thresholds: Sequence[float],
    max_detections: int | None,
    interpolation: Interpolation,
) -> Floats:
    """(replicas, ious, points, labels) as in `Matches.precision`."""
    if interpolation == "every_point":
        found = area_under(*_hits(matches, iou_thresholds, max_detections))[None]
    else:
        levels = RECALLS if interpolation == "101_point" else ELEVEN_RECALLS
        found = interpolated(matches, iou_thresholds, max_detections, levels).precision
    shape = (len(found), matches.replica_count, len(iou_thresholds), len(matches.labels))
    # In the reference's order of axes, for sums to be added in the same order.
    return np.ascontiguousarray(np.moveaxis(found.reshape(shape), 0, 2))


def recalls(
    matches: Matches,
    iou_thresholds: Sequence[float],
    max_detections: int | None,
    score_threshold: float,
) -> Floats:
    """(replicas, ious, labels) as in `Matches.recalls`."""
    order = matches.order(iou_thresholds, None)
    kept = matches.score[order.rows] >= score_threshold
    if max_detections is not None:
        kept &= matches.rank[order.rows] < max_detections
    found = tallies(
        order.segment[kept],
        len(iou_thresholds) * len(matches.labels),
        _weights_of(matches, order.rows[kept]),
    ).reshape(matches.replica_count, len(iou_thresholds), len(matches.labels))
    return quotient(found, matches.replica_truths[:, None], np.nan)


def interpolated(
    matches: Matches, iou_thresholds: Sequence[float], max_detections: int | None, levels: Floats
) -> Interpolated:
    """Curves of all replicas, IoU thresholds and labels, in this order of segments."""
    return interpolate(*_hits(matches, iou_thresholds, max_detections), levels)


def _hits(
    matches: Matches, iou_thresholds: Sequence[float], max_detections: int | None
) -> tuple[Hits, Ints]:
    """True positives and ground truths of all replicas, IoU thresholds and labels."""
    truths = np.repeat(matches.replica_truths[:, None], len(iou_thresholds), axis=1)
    apart, weights = matches, matches.weights
    if weights is not None:
        apart, weights = matches.apart(weights)
    order = apart.order(iou_thresholds, max_detections)
    return running_hits(order, weights, apart.image), truths.ravel()


def _at_least(matches: Matches, levels: Floats, rows: Ints) -> Ints:
    """(replicas, levels, labels) how many of `rows` score at least each ascending level."""
    return reaching(
        matches.score[rows],
        matches.label[rows],
        levels,
        len(matches.labels),
        _weights_of(matches, rows),
    )


def _weights_of(matches: Matches, rows: Ints) -> Ints | None:
    return None if matches.weights is None else matches.weights[:, matches.image[rows]]
