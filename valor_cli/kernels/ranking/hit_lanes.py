"""Interpolated precision of several resamples at once.

The same numbers, to the last bit, as `ranking.running_hits` and `precision_recall.interpolate`,
for many resamples of one ranking.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.ranking.hit_layout import HitLayout, Sums, Thresholds
from valor_cli.kernels.ranking.lanes import Lanes
from valor_cli.kernels.ranking.precision_recall import needed_hits
from valor_cli.kernels.ranking.runs import Runs

Rows = NDArray[np.int64]


class Buffers:
    """Reused memory: fresh pages cost more than the work in them."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}

    def of(self, name: str, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
        """An uninitialised array; the same memory for the same name."""
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        kept = self._kept.get(name)
        if kept is None or len(kept) < size:
            kept = self._kept[name] = np.empty(size, np.uint8)
        return np.asarray(kept[:size].view(kind).reshape(shape))


def interpolate_lanes(
    layout: HitLayout,
    lanes: Lanes,
    ground_truths: Rows,
    recalls: NDArray[np.float64],
    buffers: Buffers,
) -> NDArray[np.float64]:
    """Precision at given recalls for every resample, as by `precision_recall.interpolate`.

    Args:
        layout: Of the hits.
        lanes: The resamples.
        ground_truths: (lanes, labels) how many ground truths there are to find.
        recalls: (r,) ascending, in [0, 1].
        buffers: Room to work in.

    Returns:
        (resamples, thresholds, r, labels); 0 in labels without ground truth.
    """
    lane, labels, points = lanes.width, layout.labels, len(recalls)
    found = np.zeros((lanes.count, layout.thresholds, points, labels))
    level_of, level_begin = _levels(ground_truths, recalls, lane * labels)
    place = np.arange(lane) * labels
    seen = layout.marks.seen(lanes)
    for part in layout.parts:
        precision, tp = _precision(part, lanes, seen, buffers)
        levels = buffers.of("levels", precision.shape, np.int32)
        at = buffers.of("at", precision.shape, np.int64)
        np.add(tp, level_begin.T.take(part.label, axis=0), out=at)
        level_of.take(at, out=levels, mode="clip")
        fresh = _fresh(part.runs, levels, buffers)
        at_column = (part.threshold * points - 1) * (lane * labels) + part.label
        levels += (at_column[:, None] + place).astype(np.int32)
        target = buffers.of("target", (part.end - part.begin, points, lane, labels), np.float64)
        target[:] = 0
        target.reshape(-1)[levels.ravel().take(fresh)] = precision.ravel().take(fresh)
        for level in range(points - 2, -1, -1):
            np.maximum(target[:, level], target[:, level + 1], out=target[:, level])
        found[:, part.begin : part.end] = target.transpose(2, 0, 1, 3)[: lanes.count]
    return found


def _precision(
    part: Thresholds, lanes: Lanes, seen_at_marks: Sums, buffers: Buffers
) -> tuple[NDArray[np.float64], Sums]:
    """(8, columns, lanes) the highest precision from each block on, and the hits up to its end."""
    shape = (*part.runs.element.shape, lanes.width)
    slots = (part.runs.element.size, lanes.width)
    tp = buffers.of("tp", shape, np.int32)
    tp[:] = lanes.sums(part.hits.unit, part.hits.starts).reshape(shape)
    part.runs.add_up(tp)
    seen = buffers.of("seen", slots, np.int32)
    seen_at_marks.take(part.mark, axis=0, out=seen, mode="clip")
    if len(part.added.slot) or len(part.removed.slot):
        corrected = buffers.of("corrected", slots, np.int32)
        corrected[:] = 0
        corrected[part.added.slot] = lanes.sums(part.added.unit, part.added.starts)
        corrected[part.removed.slot] -= lanes.sums(part.removed.unit, part.removed.starts)
        part.runs.add_up(corrected.reshape(shape))
        seen += corrected
    precision = buffers.of("precision", shape, np.float64)
    np.add(seen.reshape(shape), np.spacing(1), out=precision)
    np.divide(tp, precision, out=precision)
    part.runs.best_from(precision)
    return precision, tp


def _fresh(runs: Runs, levels: Sums, buffers: Buffers) -> Rows:
    """Which slots are the first of their run to reach their level."""
    fresh = buffers.of("fresh", levels.shape, np.bool_)
    np.not_equal(levels[1:], levels[:-1], out=fresh[1:])
    np.not_equal(levels[0, 1:], levels[-1, :-1], out=fresh[0, 1:])
    fresh[0, runs.first] = levels[0, runs.first] > 0
    return np.flatnonzero(fresh)


def _levels(ground_truths: Rows, recalls: NDArray[np.float64], step: int) -> tuple[Sums, Rows]:
    """How many recall levels any number of true positives reaches, looked up by that number.

    Returns:
        The table, with levels counted in `step`, and (lanes, labels) where in it each begins.
    """
    truths = np.maximum(ground_truths, 1)
    sizes = truths.max(axis=0) + 1
    total = int(sizes.sum())
    distinct, which = np.unique(truths, return_inverse=True)
    which = which.reshape(truths.shape)
    needed = needed_hits(distinct, recalls)
    # Levels reached by one and the same hit are counted at the last of them, which is written last.
    number = np.arange(len(recalls))
    again = np.diff(needed, axis=1, prepend=-1) == 0
    reached = number + 1 - np.maximum.accumulate(np.where(again, 0, number), axis=1)
    begin = np.cumsum(sizes) - sizes + np.arange(len(truths))[:, None] * total
    table = np.zeros((len(truths), total), np.int32)
    at = needed.take(which, axis=0)
    at += begin[:, :, None]
    table.reshape(-1)[at.ravel()] = (reached * step).astype(np.int32).take(which, axis=0).ravel()
    np.cumsum(table, axis=1, out=table)
    table -= np.repeat(np.arange(len(sizes)) * len(recalls) * step, sizes).astype(np.int32)
    return table.ravel(), begin
