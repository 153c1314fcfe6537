"""Add up, and interpolate the curves of, several resamples of one ranking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import tallies
from valor_cli.kernels.ranking.precision_recall import interpolate
from valor_cli.kernels.ranking.ranking import HitOrder, running_hits

Rows = NDArray[np.int64]

AT_ONCE: Final = 1 << 17
"""Numbers that are computed together in NumPy: as many as fit the processor's cache."""

LANES: Final = 8
"""Resamples that the compiled kernel adds up at once."""

_LARGEST: Final = 2**31 - 1
"""The compiled kernel adds weights as numbers of 32 bits."""


def tally_resamples(group: Rows, image: Rows, weights: Rows, length: int) -> Rows:
    """Summed weights of each group in each resample.

    Args:
        group, image: (n,) of each row.
        weights: (resamples, images) how often each image counts.
        length: How many groups there are.

    Returns:
        (resamples, length).
    """
    if engine.compiled is not None and weights.size and _adds_up(weights, len(group)):
        found = np.empty((len(weights), length), np.int64)
        shape = np.array([weights.shape[1], length], np.int64)
        engine.compiled.tally_resamples(
            _column(group), _column(image), _column(weights), shape, found
        )
        return found
    return tallies(group, length, weights[:, image])


class HitImages(NamedTuple):
    """True positives in ranked order, with images in place of the detections they are in.

    Attributes:
        order: The order.
        image: (n,) image of each detection.
        hit, counted, corrected: Images of the true positives, of the detections that are counted,
            and of the corrections.
    """

    order: HitOrder
    image: Rows
    hit: Rows
    counted: Rows
    corrected: Rows

    @classmethod
    def of(cls, order: HitOrder, image: Rows) -> HitImages:
        """Look up the images, (n,) one of each detection."""
        return cls(order, image, image[order.rows], image[order.counted], image[order.corrected])


def interpolate_resamples(
    hits: HitImages,
    weights: Rows,
    ground_truths: Rows,
    recalls: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Interpolated precision of each resample, as `interpolate` has it.

    Args:
        hits: The true positives.
        weights: (resamples, images) how often each image counts.
        ground_truths: (resamples, labels) how many ground truths there are to find.
        recalls: (r,) ascending, in [0, 1].

    Returns:
        (resamples, thresholds, r, labels); NaN without ground truth.
    """
    order, image, *_ = hits
    labels = ground_truths.shape[1]
    thresholds = order.segments // labels if labels else 0
    shape = (len(weights), thresholds, len(recalls), labels)
    if engine.compiled is not None and np.prod(shape) and _adds_up(weights, len(image)):
        best = np.empty(shape)
        engine.compiled.interpolate_resamples(
            _column(order.segment),
            _column(order.counted_span),
            _column(order.corrected_span),
            _column(hits.hit),
            _column(hits.counted),
            _column(hits.corrected),
            _column(order.sign),
            _column(weights),
            _column(ground_truths),
            np.ascontiguousarray(recalls, np.float64),
            np.array([thresholds, weights.shape[1]], np.int64),
            best,
        )
        return best
    found = [np.zeros((0, *shape[1:]))]
    for some in batches(len(weights), max(len(image), int(np.prod(shape[1:])))):
        truths = np.repeat(ground_truths[some, None], thresholds, axis=1).ravel()
        precision = interpolate(
            running_hits(order, weights[some], image), truths, recalls
        ).precision
        found.append(np.moveaxis(precision.reshape(shape[2], -1, thresholds, labels), 0, 2))
    return np.ascontiguousarray(np.concatenate(found))


def batches(resamples: int, numbers: int, even: int = 1) -> Iterator[slice]:
    """Resamples to compute together, of which each takes so many numbers: a multiple of `even`."""
    at_once = max(AT_ONCE // max(numbers, 1) // even, 1) * even
    for first in range(0, resamples, at_once):
        yield slice(first, min(first + at_once, resamples))


def _column(numbers: NDArray[np.integer]) -> Rows:
    return np.ascontiguousarray(numbers, np.int64)


def _adds_up(weights: Rows, rows: int) -> bool:
    """Whether sums of the weights of so many rows fit the compiled kernel."""
    return int(weights.max(initial=0)) * max(rows, 1) <= _LARGEST
