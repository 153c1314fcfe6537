"""Interpolated precision at given recalls for all labels, thresholds and resamples."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import quotient

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
    running = np.append(0, np.cumsum(copies))
    tp = running[1:] - np.repeat(running[hits.starts[:-1]], sizes)
    precision = tp / np.maximum(hits.seen, 1)
    # The highest precision from each hit to its segment's end: a running maximum from the end, of
    # ranks that lie above all ranks of the segments behind.
    values, rank = np.unique(precision, return_inverse=True)
    lift = segment * len(values)
    best = values[np.maximum.accumulate((rank - lift)[::-1])[::-1] + lift]
    area = np.bincount(segment, best * copies, len(ground_truths))
    return quotient(area, ground_truths, np.nan)
