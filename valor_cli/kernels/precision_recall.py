"""Precision and score at given recalls, for all labels and thresholds at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

RECALLS: NDArray[np.float64] = np.linspace(0, 1, 101)
"""The recall levels at which COCO samples precision."""


class Ranking(NamedTuple):
    """Counts at ranked candidates, the detections that can be true positives.

    Attributes:
        label: (c,) label of each candidate, ascending; inside a label best score first.
        score: (c,) score of each candidate.
        tp, fp: (t, c) true and false positives of its label up to and including each candidate,
            at each of t thresholds.
        hit: (t, c) whether the candidate is itself a true positive.
        top: (labels,) the highest score of each label; NaN without detections.
    """

    label: NDArray[np.int64]
    score: NDArray[np.float64]
    tp: Counts
    fp: Counts
    hit: NDArray[np.bool_]
    top: NDArray[np.float64]


class PrecisionRecall(NamedTuple):
    """Interpolated curves; NaN for labels without ground truth.

    Attributes:
        precision: (t, r, labels) highest precision at a recall of at least each level, 0 where
            that recall is not reached.
        score: (t, r, labels) the score at which that recall is reached, 0 where it is not.
    """

    precision: NDArray[np.float64]
    score: NDArray[np.float64]


def interpolate(
    ranking: Ranking, ground_truths: Counts, recalls: NDArray[np.float64]
) -> PrecisionRecall:
    """Precision and score at given recalls, bit for bit as pycocotools' `accumulate`.

    Recall and the envelope of precision change only at true positives, so only they are looked at.

    Args:
        ranking: Counts along the ranked detections.
        ground_truths: (labels,) how many ground truths count, per label.
        recalls: (r,) ascending, in [0, 1].
    """
    labels, levels, thresholds = len(ground_truths), len(recalls), len(ranking.tp)
    at, where = np.nonzero(ranking.hit)
    segment = at * labels + ranking.label[where]
    tp = ranking.tp[at, where]
    # np.spacing(1) keeps 0/0 away in the reference and stays in the last bit of the quotient.
    precision = tp / (ranking.fp[at, where] + tp + np.spacing(1))
    ends = np.searchsorted(segment, np.arange(thresholds * labels), side="right")
    reached = _first_reaching(segment, tp, _needed(ground_truths, recalls), thresholds)
    missed = reached >= ends[:, None]
    best = _best_from(precision, reached, missed)
    score = np.append(ranking.score[where], 0.0)[reached]
    score[missed] = 0.0
    # Recall 0 is reached by the first detection, right or wrong.
    top = np.where(np.isnan(ranking.top), 0.0, ranking.top)
    score.reshape(thresholds, labels, levels)[:, :, recalls == 0] = top[None, :, None]
    shaped = [
        np.ascontiguousarray(part.reshape(thresholds, labels, levels).transpose(0, 2, 1))
        for part in (best, score)
    ]
    for part in shaped:
        part[:, :, ground_truths == 0] = np.nan
    return PrecisionRecall(*shaped)


def _needed(ground_truths: Counts, recalls: NDArray[np.float64]) -> Counts:
    """(labels, r) the fewest true positives k, at least 1, with k / ground_truths >= recall."""
    positives = np.maximum(ground_truths, 1)[:, None]
    k = np.ceil(recalls * positives)
    # The product may round either way; the comparison that decides is on the quotient.
    k -= (k - 1) / positives >= recalls
    k += k / positives < recalls
    return np.maximum(k, 1).astype(np.int64)


def _first_reaching(
    segment: NDArray[np.int64], tp: Counts, needed: Counts, thresholds: int
) -> NDArray[np.int64]:
    """(segments, r) position of the first true positive of its segment with tp >= needed."""
    # One search over all segments: tp made ascending across them by an offset per segment.
    offset = max(int(tp.max(initial=0)), int(needed.max(initial=0))) + 1
    asked = np.tile(needed, (thresholds, 1))
    asked += (np.arange(len(asked)) * offset)[:, None]
    return np.searchsorted(segment * offset + tp, asked)


def _best_from(
    precision: NDArray[np.float64], reached: NDArray[np.int64], missed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """(segments, r) highest precision from each position to the end of its segment."""
    if not reached.size:
        return np.zeros(reached.shape)
    # reduceat ends each piece where the next begins: the next level of the segment, or the next
    # segment's first true positive, which is this segment's end.
    pieces = np.maximum.reduceat(np.append(precision, 0.0), reached.ravel())
    best = pieces.reshape(reached.shape)
    best[missed] = 0.0
    return np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
