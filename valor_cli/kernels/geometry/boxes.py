"""Pairs of objects that overlap, and the IoU of axis-aligned boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Compared:
    """Which ground truths detections are compared with.

    Attributes:
        first: (n,) the first ground truth to compare each detection with.
        count: (n,) how many from there on.
        own, other: (n,) and (m,) areas of detections and ground truths.
        crowd: (m,) whether a ground truth is a crowd region.
        least: Smallest IoU kept, above 0.
    """

    first: NDArray[np.int64]
    count: NDArray[np.int64]
    own: NDArray[np.float64]
    other: NDArray[np.float64]
    crowd: NDArray[np.bool_]
    least: float

    def pairs(
        self,
        shared: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.number]],
        near: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]] | None = None,
        at_once: int = PAIRS_AT_ONCE,
    ) -> Pairs:
        """The pairs whose IoU is large enough, by detection, then ground truth.

        With a crowd the union is the detection's own area.

        Args:
            shared: The area that each detection shares with the ground truth in its row.
            near: Whether they can share any; None: all can.
            at_once: Pairs that are compared together.
        """
        parts: list[Pairs] = []
        for block in blocks(self.count, at_once):
            d = np.repeat(np.arange(block.start, block.stop), self.count[block])
            g = spread(self.first[block], self.count[block])
            if near is not None:
                some = near(d, g)
                d, g = d[some], g[some]
            common, own = shared(d, g), self.own[d]
            union = np.where(self.crowd[g], own, own + self.other[g] - common)
            parts.append(pairs_above_iou(d, g, quotient(common, union, 0.0), self.least))
        return joined_pairs(parts)


def filled_pairs(
    count: NDArray[np.int64], fill: Callable[[slice, Pairs], int], at_once: int
) -> Pairs:
    """The pairs of the compiled kernel, which fills columns with room for all that may be.

    Args:
        count: (n,) ground truths to compare each detection with.
        fill: Fills the columns with the pairs of some detections, numbered from the first of
            these, and says how many there are.
        at_once: Pairs that are compared together.
    """
    parts: list[Pairs] = []
    for block in blocks(count, at_once):
        room = int(count[block].sum())
        found = Pairs(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
        pairs = fill(block, found)
        # What has no pair is not kept.
        kept = Pairs._make(column[:pairs].copy() for column in found)
        parts.append(kept._replace(detection=kept.detection + block.start))
    return joined_pairs(parts)


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
        crowd, first, count, least: As `Compared` has them.
        rows: (n,) which of the detections to look at, in which order; None for all.

    Returns:
        The pairs, by detection (in the order of `rows`), then ground truth.
    """
    rows = np.arange(len(detections)) if rows is None else rows
    kernel = engine.compiled
    if kernel is not None:
        boxes = [np.ascontiguousarray(side) for side in (detections, ground_truths)]

        def fill(block: slice, found: Pairs) -> int:
            ranges = first[block], count[block]
            return kernel.overlapping_boxes(
                boxes[0], rows[block], boxes[1], crowd, *ranges, *found, least
            )

        return filled_pairs(count, fill, PAIRS_AT_ONCE)
    mine = detections[rows]
    own, other = mine[:, 2] * mine[:, 3], ground_truths[:, 2] * ground_truths[:, 3]
    return Compared(first, count, own, other, crowd, least).pairs(
        lambda d, g: shared_areas(mine[d], ground_truths[g]), at_once=PAIRS_AT_ONCE
    )


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
