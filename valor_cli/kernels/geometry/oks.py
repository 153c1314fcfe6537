"""Object keypoint similarity (OKS) of detections and ground truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import blocks, spread
from valor_cli.kernels.geometry.boxes import Pairs, joined_pairs, pairs_above_iou

Floats = NDArray[np.float64]

PAIRS_AT_ONCE = 1 << 12
"""Pairs whose keypoints stay in the processor's cache together."""


class Poses(NamedTuple):
    """Ground truth keypoints with the scales of their distances.

    Attributes:
        points: (m, k, 3) x, y, visibility. Those of visibility 0 are not there.
        box: (m, 4) x, y, width, height in pixels.
        area: (m,) in square pixels.
    """

    points: Floats
    box: Floats
    area: Floats

    @property
    def visible(self) -> NDArray[np.bool_]:
        """(m, k) which keypoints are labelled."""
        return np.asarray(self.points[:, :, 2] > 0)

    def take(self, rows: NDArray[np.int64]) -> Poses:
        """Select rows, in that order."""
        return Poses(self.points[rows], self.box[rows], self.area[rows])


def similar_poses(
    detections: Floats,
    ground_truths: Poses,
    sigmas: Floats,
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    least: float,
) -> Pairs:
    """Pairs of a detection and a ground truth whose similarity is at least `least`.

    Args:
        detections: (n, k, 2 or more) x and y of every keypoint; what else there is, is not read.
        ground_truths: m poses.
        sigmas: (k,) how far off each keypoint is placed by people who mark it, above 0.
        first: (n,) the first ground truth to compare each detection with.
        count: (n,) how many from there on.
        least: Smallest similarity kept.

    Returns:
        The pairs, by detection, then ground truth; the similarity stands as `iou`.
    """
    parts = []
    for rows in blocks(count, PAIRS_AT_ONCE):
        d = np.repeat(np.arange(rows.start, rows.stop), count[rows])
        g = spread(first[rows], count[rows])
        alike = similarities(detections[d], ground_truths.take(g), sigmas)
        parts.append(pairs_above_iou(d, g, alike, least))
    return joined_pairs(parts)


def similarities(detections: Floats, ground_truths: Poses, sigmas: Floats) -> Floats:
    """(p,) similarity of each detection with the ground truth in its row, in [0, 1].

    The arithmetic, operation by operation, is that of pycocotools' `COCOeval.computeOks`. Of a
    ground truth without visible keypoints it is measured how far the detection's lie outside the
    box, doubled in size to each side.
    """
    visible = ground_truths.visible
    there = visible.any(axis=1, keepdims=True)
    distance = [
        np.where(
            there,
            detections[:, :, axis] - ground_truths.points[:, :, axis],
            _beyond(detections[:, :, axis], ground_truths.box[:, axis::2]),
        )
        for axis in (0, 1)
    ]
    # A distance that overflows is a similarity of 0, as one that is merely far is.
    with np.errstate(over="ignore", under="ignore"):
        squares = distance[0] ** 2 + distance[1] ** 2
        areas = ground_truths.area[:, None] + np.spacing(1)
        each = np.exp(-(squares / (sigmas * 2) ** 2 / areas / 2))
    return _means(each, visible | ~there)


def _beyond(points: Floats, sides: Floats) -> Floats:
    """(p, k) how far points lie outside of the doubled range; `sides` is (p, 2): start, length."""
    start, length = sides[:, :1], sides[:, 1:]
    low, high = start - length, start + length * 2
    return np.asarray(np.maximum(0, low - points) + np.maximum(0, points - high))


def _means(values: Floats, counted: NDArray[np.bool_]) -> Floats:
    """(p,) mean over those of each row that count, at least one.

    Rows with equally many are added together: numpy adds their values in the order in which it
    adds those of a row alone, which zeros in between would change.
    """
    counts = counted.sum(axis=1)
    means = np.empty(len(values))
    for count in np.unique(counts).tolist():
        rows = counts == count
        means[rows] = values[rows][counted[rows]].reshape(-1, count).sum(axis=1) / count
    return means
