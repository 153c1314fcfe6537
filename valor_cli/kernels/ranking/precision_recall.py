"""True positives in order, and interpolated precision at given recalls, for many rankings."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import offsets, quotient
from valor_cli.kernels.ranking.matching import IGNORED, MATCHED

Counts = NDArray[np.int64]

RECALLS: NDArray[np.float64] = np.linspace(0, 1, 101)
"""The recall levels at which COCO samples precision."""

ELEVEN_RECALLS: NDArray[np.float64] = np.linspace(0, 1, 11)
"""Those of PASCAL VOC until 2009."""


class Hits(NamedTuple):
    """The true positives of several rankings, one segment each, best score first.

    Attributes:
        starts: (segments + 1,) where those of each ranking begin.
        copies: (h,) how many true positives this one stands for (copies of its image); None for
            one each.
        seen: (h,) true and false positives of the segment up to and including this one.
    """

    starts: Counts
    copies: Counts | None
    seen: Counts

    @property
    def weight(self) -> Counts:
        """(h,) copies."""
        return np.ones(len(self.seen), np.int64) if self.copies is None else self.copies


class Interpolated(NamedTuple):
    """Interpolated precision-recall curves.

    Attributes:
        precision: (r, segments) highest precision at a recall of at least each level; 0 where it
            is never reached, NaN in segments without ground truth.
        at: (segments, r) the hit that first reaches each level; -1 where none does.
    """

    precision: NDArray[np.float64]
    at: Counts


def interpolate(hits: Hits, ground_truths: Counts, recalls: NDArray[np.float64]) -> Interpolated:
    """Interpolated precision at given recalls, bit for bit as pycocotools' `accumulate`.

    Recall and the envelope of precision change only at true positives, so only they are looked at.

    Args:
        hits: The true positives.
        ground_truths: (segments,) how many ground truths there are to find.
        recalls: (r,) ascending, in [0, 1].
    """
    if engine.compiled is not None:
        best = np.empty((len(recalls), len(ground_truths)))
        at = np.empty((len(ground_truths), len(recalls)), np.int64)
        engine.compiled.interpolate(
            np.ascontiguousarray(hits.starts, np.int64),
            np.ascontiguousarray(() if hits.copies is None else hits.copies, np.int64),
            np.ascontiguousarray(hits.seen, np.int64),
            np.ascontiguousarray(ground_truths, np.int64),
            np.ascontiguousarray(recalls, np.float64),
            best,
            at,
        )
        return Interpolated(best, at)
    best = np.zeros((len(recalls), len(ground_truths)))
    at = np.full((len(ground_truths), len(recalls)), -1)
    copies = hits.weight
    for segment, (begin, end) in enumerate(pairwise(hits.starts.tolist())):
        tp = np.cumsum(copies[begin:end])
        # np.spacing(1) keeps 0/0 away in the reference and stays in the last bit of the quotient.
        precision = tp / (hits.seen[begin:end] + np.spacing(1))
        highest = np.maximum.accumulate(precision[::-1])[::-1]
        # A true positive that stands for no copy reaches no recall, not even 0.
        recall = np.where(tp > 0, tp / max(ground_truths[segment], 1), -1)
        first = np.searchsorted(recall, recalls)
        reached = first < len(tp)
        best[reached, segment] = highest[first[reached]]
        at[segment, reached] = begin + first[reached]
    best[:, ground_truths == 0] = np.nan
    return Interpolated(best, at)


def area_under(hits: Hits, ground_truths: Counts) -> NDArray[np.float64]:
    """(segments,) area under the precision envelope at every point, as in PASCAL VOC from 2010.

    Args:
        hits: The true positives.
        ground_truths: (segments,) how many ground truths there are to find; NaN comes of 0.
    """
    copies, sizes = hits.weight, np.diff(hits.starts)
    segment = np.repeat(np.arange(len(sizes)), sizes)
    running = offsets(copies)
    tp = running[1:] - np.repeat(running[hits.starts[:-1]], sizes)
    precision = tp / np.maximum(hits.seen, 1)
    # The highest precision from each hit to its segment's end: a running maximum from the end, of
    # ranks that lie above all ranks of the segments behind.
    values, rank = np.unique(precision, return_inverse=True)
    lift = segment * len(values)
    best = values[np.maximum.accumulate((rank - lift)[::-1])[::-1] + lift]
    area = np.bincount(segment, best * copies, len(ground_truths))
    return quotient(area, ground_truths, np.nan)


Rows = NDArray[np.int64]


class HitOrder(NamedTuple):
    """Positions of the true positives. A segment is one threshold and label.

    A detection counts when it is inside the area range; at some thresholds one that is not counts
    all the same (it is a true positive), and one that is does not (it matched an ignored ground
    truth). These few are the corrections.

    Attributes:
        rows: (h,) row of each true positive, segment after segment, best score first.
        starts: (segments + 1,) where those of each segment begin: threshold * labels + label.
        counted: (n,) whether a detection is inside the area range.
        corrected: (k,) rows of the corrections, in the order of hits.
        sign: (k,) 1 counts all the same, -1 does not count.
        counted_before: (labels,) how many counted detections come before those of a label.
        counted_through: (h,) how many come no later than the hit.
        corrected_before: (segments,) how many corrections come before those of a segment.
        corrected_through: (h,) how many come no later than the hit.
    """

    rows: Rows
    starts: Rows
    counted: NDArray[np.bool_]
    corrected: Rows
    sign: Rows
    counted_before: Rows
    counted_through: Rows
    corrected_before: Rows
    corrected_through: Rows

    @property
    def segment(self) -> Rows:
        """(h,) segment of each true positive."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def corrections(self) -> tuple[Rows, Rows]:
        """Rows of the corrections with a positive sign, and of those with a negative one."""
        return self.corrected[self.sign == 1], self.corrected[self.sign == -1]


def order_hits(
    label: Rows,
    candidate: Rows,
    codes: NDArray[np.uint8],
    outside: NDArray[np.bool_],
    kept: NDArray[np.bool_] | None,
    labels: int,
) -> HitOrder:
    """Order the true positives of detections ranked by label and score.

    Args:
        label: (n,) ascending.
        candidate: (c,) rows of the detections that overlap a ground truth, ascending.
        codes: (t, c) what became of them at each threshold.
        outside: (n,) whether the detection's own area is outside the range.
        kept: (n,) whether it is looked at at all; None for all.
        labels: How many labels there are.
    """
    counted = ~outside
    if kept is not None:
        counted &= kept
        codes = np.where(kept[candidate], codes, 0)
    if engine.compiled is not None:
        codes = np.ascontiguousarray(codes)
        return _compiled_order(engine.compiled, label, candidate, codes, outside, counted, labels)
    hit = codes == MATCHED
    change = (hit & outside[candidate]).astype(np.int8)
    change -= (codes == IGNORED) & ~outside[candidate]
    segment = np.arange(len(codes))[:, None] * labels + label[candidate]
    (threshold, at), changed = np.nonzero(hit), np.nonzero(change)
    rows, segments = candidate[at], np.arange(len(codes) * labels + 1)
    seen = offsets(counted)
    return HitOrder(
        rows=rows,
        starts=np.searchsorted(segment[hit], segments),
        counted=counted,
        corrected=candidate[changed[1]],
        sign=change[changed].astype(np.int64),
        counted_before=seen[np.searchsorted(label, np.arange(labels))],
        counted_through=seen[rows + 1],
        corrected_before=np.searchsorted(segment[changed], segments[:-1]),
        corrected_through=np.cumsum(change != 0)[threshold * len(candidate) + at],
    )


def _compiled_order(
    kernel: engine.Kernel,
    label: Rows,
    candidate: Rows,
    codes: NDArray[np.uint8],
    outside: NDArray[np.bool_],
    counted: NDArray[np.bool_],
    labels: int,
) -> HitOrder:
    """The same by the compiled kernel."""
    room, segments = int(np.count_nonzero(codes)), len(codes) * labels
    sizes = room, segments + 1, room, room, labels, room, segments, room
    filled = [np.empty(size, np.int64) for size in sizes]
    hits, corrections = kernel.order_hits(
        label, candidate, codes, np.ascontiguousarray(outside), counted, *filled
    )
    rows, starts, corrected, sign, counted_before, counted_through, before, through = filled
    return HitOrder(
        rows=rows[:hits],
        starts=starts,
        counted=counted,
        corrected=corrected[:corrections],
        sign=sign[:corrections],
        counted_before=counted_before,
        counted_through=counted_through[:hits],
        corrected_before=before,
        corrected_through=through[:hits],
    )


def running_hits(order: HitOrder, weights: NDArray[np.int64] | None, image: Rows) -> Hits:
    """Running counts at every true positive, by replica.

    Args:
        order: The layout.
        weights: (replicas, images) how often each image counts; None for once each.
        image: (n,) image of each detection.
    """
    sizes, labels = np.diff(order.starts), len(order.counted_before)
    sign = order.sign if weights is None else weights[:, image[order.corrected]] * order.sign
    corrected = _running(np.atleast_2d(sign))
    seen, before = corrected[:, order.corrected_through], corrected[:, order.corrected_before]
    thresholds = len(sizes) // labels if labels else 0
    if weights is None:
        seen += order.counted_through
        before += np.tile(order.counted_before, thresholds)
    else:
        counted = _running(weights[:, image[order.counted]])
        seen += counted[:, order.counted_through]
        before += np.tile(counted[:, order.counted_before], thresholds)
    seen -= np.repeat(before, sizes, axis=1)
    if weights is None:
        return Hits(order.starts, None, seen.ravel())
    starts = np.arange(len(weights))[:, None] * len(order.rows) + order.starts[:-1]
    copies = weights[:, image[order.rows]]
    return Hits(np.append(starts, copies.size), copies.ravel(), seen.ravel())


def _running(amounts: NDArray[np.int64]) -> NDArray[np.int64]:
    """(replicas, k + 1) sums of the first so many."""
    total = np.zeros((len(amounts), amounts.shape[1] + 1), np.int64)
    np.cumsum(amounts, axis=1, out=total[:, 1:])
    return total
