"""Overlap of axis-aligned boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.columns import quotient, spread

PAIRS_AT_ONCE = 1 << 17
"""Pairs whose columns stay in the processor's cache together."""

COMPILED_AT_ONCE = 1 << 20
"""Pairs that the compiled kernel has room for."""


class Meeting(NamedTuple):
    """Pairs whose boxes share an area: their rows, that area, and the areas of both boxes."""

    detection: NDArray[np.int64]
    ground_truth: NDArray[np.int64]
    shared: NDArray[np.float64]
    detection_area: NDArray[np.float64]
    ground_truth_area: NDArray[np.float64]


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
        The pairs, by detection (as it stands in `rows`), then ground truth.
    """
    if engine.compiled is not None:
        rows = np.arange(len(detections)) if rows is None else rows
        return _compiled_pairs(
            engine.compiled, detections, rows, ground_truths, crowd, first, count, least
        )
    detections = detections if rows is None else detections[rows]
    parts: list[Pairs] = []
    for met in meeting_boxes(detections, ground_truths, first, count):
        own = met.detection_area
        union = np.where(crowd[met.ground_truth], own, own + met.ground_truth_area - met.shared)
        iou = quotient(met.shared, union, 0.0)
        parts.append(least_pairs(met.detection, met.ground_truth, iou, least))
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
    """The same of the compiled kernel, which fills columns with room for all that may be."""
    detections, ground_truths = map(np.ascontiguousarray, (detections, ground_truths))
    parts: list[Pairs] = []
    for part in blocks(count, COMPILED_AT_ONCE):
        room = int(count[part].sum())
        found = Pairs(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
        looked_at = (detections, rows[part], ground_truths, crowd, first[part], count[part])
        pairs = kernel.overlapping_boxes(*looked_at, *found, least)
        kept = Pairs._make(column[:pairs].copy() for column in found)
        parts.append(kept._replace(detection=kept.detection + part.start))
    return joined_pairs(parts)


def meeting_boxes(
    detections: NDArray[np.float64],
    ground_truths: NDArray[np.float64],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
) -> Iterator[Meeting]:
    """Pairs whose boxes share an area, block after block; the arguments as above."""
    truth = _Columns(ground_truths)
    for rows in blocks(count, PAIRS_AT_ONCE):
        d = np.repeat(np.arange(rows.stop - rows.start), count[rows])
        g = spread(first[rows], count[rows])
        yield _meeting(_Columns(detections[rows]), d, rows.start, truth, g)


def shared_areas(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """(pairs,) area that each of (pairs, 4) `a` shares with its (pairs, 4) `b`."""
    low = np.maximum(a[:, :2], b[:, :2])
    high = np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    return np.asarray(np.maximum(high - low, 0).prod(axis=1))


def least_pairs(
    detection: NDArray[np.int64],
    ground_truth: NDArray[np.int64],
    iou: NDArray[np.float64],
    least: float,
) -> Pairs:
    """The pairs with at least this IoU."""
    some = np.flatnonzero(iou >= least)
    return Pairs(detection[some], ground_truth[some], iou[some])


def joined_pairs(parts: list[Pairs]) -> Pairs:
    """The pairs of several blocks."""
    none = np.zeros(0, np.int64)
    columns = zip(Pairs(none, none, np.zeros(0)), *parts, strict=True)
    return Pairs(*(np.concatenate(column) for column in columns))


class _Columns:
    """Boxes as contiguous columns: left, top, right, bottom, area."""

    def __init__(self, boxes: NDArray[np.float64]) -> None:
        self.left, self.top, width, height = np.ascontiguousarray(boxes.T)
        self.right = width + self.left
        self.bottom = height + self.top
        self.area = width * height


def _meeting(
    detection: _Columns,
    d: NDArray[np.int64],
    start: int,
    truth: _Columns,
    g: NDArray[np.int64],
) -> Meeting:
    """Pairs (start + d, g), narrowed after each step to those that can still overlap."""
    width = np.minimum(detection.right[d], truth.right[g])
    width -= np.maximum(detection.left[d], truth.left[g])
    some = np.flatnonzero(width > 0)
    d, g, width = d[some], g[some], width[some]
    height = np.minimum(detection.bottom[d], truth.bottom[g])
    height -= np.maximum(detection.top[d], truth.top[g])
    some = np.flatnonzero(height > 0)
    d, g = d[some], g[some]
    shared = width[some] * height[some]
    return Meeting(d + start, g, shared, detection.area[d], truth.area[g])
