"""Add up, and find the average precision of, several resamples of one ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import tallies
from valor_cli.kernels.ranking.precision_recall import HitOrder, interpolate, running_hits
from valor_cli.kernels.threads import at_once, share

Rows = NDArray[np.int64]
Lanes = NDArray[np.signedinteger]
"""(units, `LANES`) how often each counts, in neighbouring resamples; int32 where that holds it."""

AT_ONCE: Final = 1 << 17
"""Numbers that are computed together in NumPy: as many as fit the processor's cache."""

LANES: Final = 8
"""Resamples that the compiled kernel adds up at once."""

_WORTH: Final = 1 << 20
"""Weights to add up that are worth a thread: some ms."""

_LARGEST: Final = 2**31 - 1
"""The compiled kernel adds weights as numbers of 32 bits."""


def lanes_of(weights: Rows) -> list[Lanes]:
    """The weights of units by resample, (resamples, units), `LANES` resamples at a time.

    Returns:
        (units, LANES) of each; 0 behind the last resample.
    """
    found: list[Lanes] = []
    width = np.int32 if weights.max(initial=0) <= _LARGEST else np.int64
    for first in range(0, len(weights), LANES):
        some = weights[first : first + LANES]
        lanes = np.zeros((weights.shape[1], LANES), width)
        lanes[:, : len(some)] = some.T
        found.append(lanes)
    return found


def tally_resamples(group: Rows, image: Rows, weights: Rows, length: int) -> Rows:
    """Summed weights of each group in each resample.

    Args:
        group, image: (n,) of each row.
        weights: (resamples, images) how often each image counts.
        length: How many groups there are.

    Returns:
        (resamples, length).
    """
    return tally_lanes(group, image, lanes_of(weights), length)[: len(weights)]


def tally_lanes(
    group: NDArray[np.integer], unit: NDArray[np.integer], lanes: Sequence[Lanes], length: int
) -> Rows:
    """Summed weights of each group in each resample.

    Args:
        group, unit: (n,) of each row.
        lanes: Weights of units.
        length: How many groups there are.

    Returns:
        (resamples, length), those behind the last resample included.
    """
    kernel, groups, units = engine.compiled, _counts(group), _counts(unit)

    def add_up(weights: Lanes) -> Rows:
        if kernel is None or weights.dtype != np.int32:
            return tallies(group, length, weights.T[:, unit])
        found = np.zeros((length, LANES), np.int64)
        kernel.tally_resamples(groups, units, weights, found)
        return found.T

    worth = len(group) * LANES * len(lanes) >= _WORTH
    none = np.zeros((0, length), np.int64)
    return np.concatenate([none, *at_once(add_up, lanes, worth=worth)])


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


def average_precisions(
    hits: HitImages,
    weights: Rows,
    ground_truths: Rows,
    recalls: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Average precision of each resample: the mean of what `interpolate` finds at the recalls.

    Args:
        hits: The true positives.
        weights: (resamples, images) how often each image counts.
        ground_truths: (resamples, labels) how many ground truths there are to find.
        recalls: (r,) ascending, in [0, 1].

    Returns:
        (resamples, thresholds, labels); NaN without ground truth.
    """
    order, image, *_ = hits
    labels = ground_truths.shape[1]
    thresholds = len(order.corrected_before) // labels if labels else 0
    found = np.empty((len(weights), thresholds, labels))
    kernel = engine.compiled
    if kernel is not None and found.size and _adds_up(weights, len(image)):
        counted = _column(order.counted_before), _column(order.counted_through)
        corrected = _column(order.corrected_before), _column(order.corrected_through)
        images = _column(hits.hit), _column(hits.counted), _column(hits.corrected)
        columns = _column(order.starts), *counted, *corrected, *images, _column(order.sign)

        def average(some: slice) -> None:
            own = _column(weights[some]), _column(ground_truths[some])
            kernel.average_precisions(*columns, *own, recalls, found[some])

        share(average, len(weights), _WORTH // max(len(order.rows), 1), LANES)
        return found
    for some in batches(len(weights), max(len(image), len(recalls) * thresholds * labels)):
        truths = np.repeat(ground_truths[some, None], thresholds, axis=1)
        running = running_hits(order, weights[some], image)
        precision = interpolate(running, truths.ravel(), recalls).precision
        # Added recall by recall, as the compiled kernel does.
        total = np.add.accumulate(precision)[-1]
        found[some] = total.reshape(truths.shape) / len(recalls)
    return found


def batches(resamples: int, numbers: int, even: int = 1) -> Iterator[slice]:
    """Resamples to compute together, of which each takes so many numbers: a multiple of `even`."""
    at_once = max(AT_ONCE // max(numbers, 1) // even, 1) * even
    for first in range(0, resamples, at_once):
        yield slice(first, min(first + at_once, resamples))


def _counts(numbers: NDArray[np.integer]) -> NDArray[np.integer]:
    """Numbers of 32 or 64 bits, one after the other."""
    narrow = numbers.dtype == np.int32
    return np.ascontiguousarray(numbers, np.int32 if narrow else np.int64)


def _column(numbers: NDArray[np.integer]) -> Rows:
    return np.ascontiguousarray(numbers, np.int64)


def _adds_up(weights: Rows, rows: int) -> bool:
    """Whether sums of the weights of so many rows fit the compiled kernel."""
    return int(weights.max(initial=0)) * max(rows, 1) <= _LARGEST
