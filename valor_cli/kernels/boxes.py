"""Overlap of axis-aligned boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns import quotient, spread

PAIRS_AT_ONCE = 1 << 17
"""Pairs whose columns stay in the processor's cache together."""


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
) -> Pairs:
    """Pairs of a detection and a ground truth whose IoU is at least `least`.

    The arithmetic, operation by operation, is that of pycocotools' `bbIou`: with a crowd the
    union is the detection's own area, and boxes that only touch do not overlap.

    Args:
        detections: (n, 4) x, y, width, height in pixels.
        ground_truths: (m, 4) likewise.
        crowd: (m,) whether a ground truth is a crowd region.
        first: (n,) the first ground truth to compare each detection with.
        count: (n,) how many from there on.
        least: Smallest IoU kept, above 0.

    Returns:
        The pairs, by detection, then ground truth.
    """
    truth = _Columns(ground_truths)
    ends = np.cumsum(count)
    parts: list[Pairs] = []
    begin = 0
    while begin < len(detections):
        done = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, done + PAIRS_AT_ONCE, side="right")), begin + 1)
        rows = slice(begin, end)
        d = np.repeat(np.arange(begin, end), count[rows])
        g = spread(first[rows], count[rows])
        parts.append(_overlaps(_Columns(detections[rows]), d - begin, d, truth, g, crowd, least))
        begin = end
    if not parts:
        none = np.zeros(0, np.int64)
        return Pairs(none, none, np.zeros(0))
    return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Columns:
    """Boxes as contiguous columns: left, top, right, bottom, area."""

    def __init__(self, boxes: NDArray[np.float64]) -> None:
        self.left, self.top, width, height = np.ascontiguousarray(boxes.T)
        self.right = width + self.left
        self.bottom = height + self.top
        self.area = width * height


def _overlaps(
    detection: _Columns,
    d: NDArray[np.int64],
    row: NDArray[np.int64],
    truth: _Columns,
    g: NDArray[np.int64],
    crowd: NDArray[np.bool_],
    least: float,
) -> Pairs:
    """IoU of pairs (d, g), narrowed after each step to those that can still overlap."""
    width = np.minimum(detection.right[d], truth.right[g])
    width -= np.maximum(detection.left[d], truth.left[g])
    some = np.flatnonzero(width > 0)
    d, g, row, width = d[some], g[some], row[some], width[some]
    height = np.minimum(detection.bottom[d], truth.bottom[g])
    height -= np.maximum(detection.top[d], truth.top[g])
    some = np.flatnonzero(height > 0)
    d, g, row = d[some], g[some], row[some]
    shared = width[some] * height[some]
    own = detection.area[d]
    union = np.where(crowd[g], own, own + truth.area[g] - shared)
    iou = quotient(shared, union, 0.0)
    some = np.flatnonzero(iou >= least)
    return Pairs(row[some], g[some], iou[some])
