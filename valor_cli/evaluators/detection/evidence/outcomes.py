"""The outcome of every detection and ground truth at one IoU and score threshold."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.overlap_pairs import OverlapPairs
from valor_cli.kernels.ranking.matching import IGNORED, MATCHED

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Outcomes(Struct, frozen=True):
    """Detections and ground truth by outcome, as rows of the evidence.

    Attributes:
        kept: (n,) detections that are looked at: the score, the limit of detections.
        counted: (n,) those of them that are right or wrong; the others are ignored.
        met: (n,) row of the ground truth that each one matched; -1 for none.
        real: (m,) ground truths that count; the others are ignored.
        found_by: (m,) row of the detection that matched each one; -1 for none.
    """

    kept: Flags
    counted: Flags
    met: Ints
    real: Flags
    found_by: Ints

    @property
    def right(self) -> Flags:
        """(n,) true positives."""
        return self.met >= 0

    @property
    def wrong(self) -> Flags:
        """(n,) false positives."""
        return self.counted & (self.met < 0)

    @property
    def missed(self) -> Flags:
        """(m,) false negatives."""
        return self.real & (self.found_by < 0)


def outcomes(
    matches: Matches,
    iou_threshold: float,
    score_threshold: float | NDArray[np.float64] = -np.inf,
    max_detections: int | None = None,
) -> Outcomes:
    """Outcomes within the area range of the evidence, for the matches of `Matches.counts`.

    Args:
        matches: Evidence whose plan remembers `iou_threshold`.
        iou_threshold: From which overlap on a pair matches.
        score_threshold: Detections from this score on; (n,) where each has its own.
        max_detections: The best so many per image and label; None for all.
    """
    close = matches.plan.overlap_pairs
    if close is None:
        raise ValueError("the plan of this evidence keeps no ground truths that were matched")
    area = matches.plan.areas.index(matches.area)
    taken = matches.matched_gt[area, close.remembered.index(iou_threshold)]
    kept, counted, hit = judged(matches, iou_threshold, score_threshold, max_detections)
    met = np.full(len(kept), -1)
    met[matches.candidate] = np.where(hit[matches.candidate], taken, -1)
    found_by = np.full(len(matches.gt_label), -1)
    right = np.flatnonzero(met >= 0)
    found_by[met[right]] = right
    return Outcomes(kept, counted, met, ~matches.gt_ignored[area], found_by)


def judged(
    matches: Matches,
    iou_threshold: float,
    score_threshold: float | NDArray[np.float64] = -np.inf,
    max_detections: int | None = None,
) -> tuple[Flags, Flags, Flags]:
    """(n,) which detections are looked at, which count, and which are right.

    Args:
        matches: Evidence; its plan need not remember what was matched.
        iou_threshold, score_threshold, max_detections: As in `outcomes`.
    """
    area = matches.plan.areas.index(matches.area)
    codes = matches.codes[area, matches.plan.ious.index(iou_threshold)]
    kept = matches.score >= score_threshold
    if max_detections is not None:
        kept &= matches.rank < max_detections
    counted, right = kept & ~matches.out_of_range[area], np.zeros(len(kept), bool)
    at, looked_at = matches.candidate, kept[matches.candidate]
    right[at] = looked_at & (codes == MATCHED)
    counted[at] = looked_at & (right[at] | (counted[at] & (codes != IGNORED)))
    return kept, counted, right


def overlap_pairs(matches: Matches, least: float) -> OverlapPairs:
    """Overlaps of any label at or above an IoU."""
    every = matches.overlap_pairs
    if every is None:
        raise ValueError("the plan of this evidence keeps no overlap pairs")
    kept = every.iou >= min(least, 1 - 1e-10)
    return OverlapPairs(every.detection[kept], every.ground_truth[kept], every.iou[kept])


def highest(pairs: OverlapPairs, kept: Flags, rows: int) -> tuple[NDArray[np.float64], Ints]:
    """The highest IoU of each detection among some pairs, with its ground truth.

    Of equal IoUs the earlier ground truth; 0 and -1 for detections without a pair.

    Args:
        pairs: By detection, then ground truth.
        kept: (p,) the pairs to look at.
        rows: How many detections there are.
    """
    at = np.flatnonzero(kept)
    detection, iou = pairs.detection[at], pairs.iou[at]
    new = np.flatnonzero(detection[1:] != detection[:-1]) + 1
    begins = np.append(0, new)[: len(at)]
    most, truth = np.zeros(rows), np.full(rows, -1)
    most[detection[begins]] = np.maximum.reduceat(iou, begins)
    # From the last one to the first, which stays.
    best = np.flatnonzero(iou == most[detection])[::-1]
    truth[detection[best]] = pairs.ground_truth[at[best]]
    return most, truth
