"""Precision at given recalls, for all labels, thresholds and resamples at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns import quotient

Counts = NDArray[np.int64]

RECALLS: NDArray[np.float64] = np.linspace(0, 1, 101)
"""The recall levels at which COCO samples precision."""

ELEVEN_RECALLS: NDArray[np.float64] = np.linspace(0, 1, 11)
"""Those of PASCAL VOC until 2009."""


class Hits(NamedTuple):
    """The true positives of many rankings, one segment a ranking, best score first.

    Attributes:
        segment: (h,) which ranking, ascending.
        copies: (h,) how many true positives this one stands for (copies of its image).
        seen: (h,) true and false positives of the segment up to and including this one.
    """

    segment: Counts
    copies: Counts
    seen: Counts


class Interpolated(NamedTuple):
    """Curves of precision over recall.

    Attributes:
        precision: (r, segments) highest precision at a recall of at least each level; 0 where it
            is never reached, NaN in segments without ground truth.
        at: (segments, r) the hit that first reaches each level; -1 where none does.
    """

    precision: NDArray[np.float64]
    at: Counts


def interpolate(hits: Hits, ground_truths: Counts, recalls: NDArray[np.float64]) -> Interpolated:
    """Precision at given recalls, bit for bit as pycocotools' `accumulate`.

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
            np.ascontiguousarray(hits.segment, np.int64),
            np.ascontiguousarray(hits.copies, np.int64),
            np.ascontiguousarray(hits.seen, np.int64),
            np.ascontiguousarray(ground_truths, np.int64),
            np.ascontiguousarray(recalls, np.float64),
            best,
            at,
        )
        return Interpolated(best, at)
    bounds = np.searchsorted(hits.segment, np.arange(len(ground_truths) + 1))
    begins, ends = bounds[:-1], bounds[1:]
    running = np.append(0, np.cumsum(hits.copies))
    before = running[begins]
    tp = running[1:] - np.repeat(before, ends - begins)
    # np.spacing(1) keeps 0/0 away in the reference and stays in the last bit of the quotient.
    precision = tp / (hits.seen + np.spacing(1))
    distinct, which = np.unique(ground_truths, return_inverse=True)
    needed = needed_hits(distinct, recalls)[which]
    missed = needed > (running[ends] - before)[:, None]
    # The hit that brings the k-th true positive of all segments, looked up by k.
    bringing = np.append(np.repeat(np.arange(len(tp)), hits.copies), 0)
    at = bringing[np.where(missed, 0, before[:, None] + needed - 1)]
    at = np.where(missed, ends[:, None], at)
    best = _best_from(precision, at, ends, missed)
    best[:, ground_truths == 0] = np.nan
    at[missed] = -1
    return Interpolated(best, at)


def area_under(hits: Hits, ground_truths: Counts) -> NDArray[np.float64]:
    """(segments,) area under the whole envelope of precision over recall, as PASCAL VOC from 2010.

    Args:
        hits: The true positives.
        ground_truths: (segments,) how many ground truths there are to find; NaN comes of 0.
    """
    bounds = np.searchsorted(hits.segment, np.arange(len(ground_truths) + 1))
    running = np.append(0, np.cumsum(hits.copies))
    tp = running[1:] - np.repeat(running[bounds[:-1]], np.diff(bounds))
    precision = tp / np.maximum(hits.seen, 1)
    # The highest precision from each hit to its segment's end: a running maximum from the end, of
    # ranks that lie above all ranks of the segments behind.
    values, rank = np.unique(precision, return_inverse=True)
    lift = hits.segment * len(values)
    best = values[np.maximum.accumulate((rank - lift)[::-1])[::-1] + lift]
    area = np.bincount(hits.segment, best * hits.copies, len(ground_truths))
    return quotient(area, ground_truths, np.nan)


def needed_hits(ground_truths: Counts, recalls: NDArray[np.float64]) -> Counts:
    """(segments, r) the fewest true positives k, at least 1, with k / ground_truths >= recall."""
    positives = np.maximum(ground_truths, 1)[:, None]
    k = np.ceil(recalls * positives)
    # The product may round either way; the comparison that decides is on the quotient.
    k -= (k - 1) / positives >= recalls
    k += k / positives < recalls
    return np.maximum(k, 1).astype(np.int64)


def _best_from(
    precision: NDArray[np.float64], at: Counts, ends: Counts, missed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """(r, segments) highest precision from each hit to the end of its segment."""
    if not at.size:
        return np.zeros(at.shape[::-1])
    # reduceat ends each piece where the next begins: at the next level, or the segment's end. The
    # piece that begins there is nobody's.
    bounds = np.column_stack([at, ends])
    pieces = np.maximum.reduceat(np.append(precision, 0.0), bounds.ravel())
    # Across contiguous rows: along a row, accumulate is several times slower.
    levels = np.where(missed, 0.0, pieces.reshape(bounds.shape)[:, :-1]).T.copy()
    return np.maximum.accumulate(levels[::-1], axis=0)[::-1]
