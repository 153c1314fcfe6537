"""IoU of axis-aligned boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import blocks, quotient, spread

PAIRS_AT_ONCE = 1 << 20
"""Pairs that are compared together; what the compiled kernel does not fill costs nothing."""


class Pairs(NamedTuple):
    """Overlapping pairs: row of the detection, row of the ground truth, IoU."""

    detection: NDArray[np.int64]
    ground_truth: NDArray[np.int64]
    iou: NDArray[np.float64]


def overlapping_boxes(
    detections: NDArray[np.float64],
    ground_truths: NDArray[np.float64],
    crowd: NDArray[np.bool_],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    least: float,
    rows: NDArray[np.int64] | None = None,
) -> Pairs:
    """Pairs of a detection and a ground truth whose IoU is at least `least`.

    The arithmetic, operation by operation, is that of pycocotools' `bbIou`: with a crowd the
    union is the detection's own area, and boxes that only touch do not overlap.

    Args:
        detections: (n, 4) x, y, width, height in pixels; any number with `rows`.
        ground_truths: (m, 4) likewise.
        crowd: (m,) whether a ground truth is a crowd region.
        first: (n,) the first ground truth to compare each detection with.
        count: (n,) how many from there on.
        least: Smallest IoU kept, above 0.
        rows: (n,) which of the detections to look at, in which order; None for all.

    Returns:
        The pairs, by detection (in the order of `rows`), then ground truth.
    """
    rows = np.arange(len(detections)) if rows is None else rows
    detections, ground_truths = map(np.ascontiguousarray, (detections, ground_truths))
    parts: list[Pairs] = []
    for part in blocks(count, PAIRS_AT_ONCE):
        compared = (detections, rows[part], ground_truths, crowd, first[part], count[part])
        if engine.compiled is not None:
            pairs = _compiled_pairs(engine.compiled, *compared, least)
        else:
            pairs = _pairs(*compared, least)
        parts.append(pairs._replace(detection=pairs.detection + part.start))
    return joined_pairs(parts)


def _compiled_pairs(
    kernel: engine.Kernel,
    detections: NDArray[np.float64],
    rows: NDArray[np.int64],
    ground_truths: NDArray[np.float64],
    crowd: NDArray[np.bool_],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    least: float,
) -> Pairs:
    """Pairs of the compiled kernel, which fills columns with room for all that may be."""
    room = int(count.sum())
    found = Pairs(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
    compared = (detections, rows, ground_truths, crowd, first, count)
    pairs = kernel.overlapping_boxes(*compared, *found, least)
    return Pairs._make(column[:pairs].copy() for column in found)


def _pairs(
    detections: NDArray[np.float64],
    rows: NDArray[np.int64],
    ground_truths: NDArray[np.float64],
    crowd: NDArray[np.bool_],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    least: float,
) -> Pairs:
    """The same pairs by NumPy."""
    d, g = np.repeat(np.arange(len(rows)), count), spread(first, count)
    mine, theirs = detections[rows[d]], ground_truths[g]
    own, other = mine[:, 2] * mine[:, 3], theirs[:, 2] * theirs[:, 3]
    shared = shared_areas(mine, theirs)
    union = np.where(crowd[g], own, own + other - shared)
    return pairs_above_iou(d, g, quotient(shared, union, 0.0), least)


def shared_areas(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """(pairs,) intersection area of each of (pairs, 4) `a` with its (pairs, 4) `b`."""
    low = np.maximum(a[:, :2], b[:, :2])
    high = np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    return np.asarray(np.maximum(high - low, 0).prod(axis=1))


def pairs_above_iou(
    detection: NDArray[np.int64],
    ground_truth: NDArray[np.int64],
    iou: NDArray[np.float64],
    least: float,
) -> Pairs:
    """The pairs with an IoU of at least this."""
    some = np.flatnonzero(iou >= least)
    return Pairs(detection[some], ground_truth[some], iou[some])


def joined_pairs(parts: list[Pairs]) -> Pairs:
    """Concatenate pairs."""
    none = np.zeros(0, np.int64)
    columns = zip(Pairs(none, none, np.zeros(0)), *parts, strict=True)
    return Pairs(*(np.concatenate(column) for column in columns))
