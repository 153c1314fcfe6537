"""True positives of ranked detections, in order, and the running counts at each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.matching import IGNORED, MATCHED
from valor_cli.kernels.precision_recall import Hits

Rows = NDArray[np.int64]


class HitOrder(NamedTuple):
    """Where the true positives stand. A segment is one threshold and label.

    A detection counts when it is inside the area range; at some thresholds one that is not counts
    all the same (it is a true positive), and one that is does not (it matched an ignored ground
    truth). These few are the corrections.

    Attributes:
        rows: (h,) row of each true positive, segment after segment, best score first.
        segment: (h,) threshold * labels + label.
        segments: How many there are.
        start: (h,) the first detection of its label.
        countable: (n,) whether a detection counts at most thresholds.
        corrected: (k,) rows of the corrections, in the order of hits.
        sign: (k,) 1 counts all the same, -1 does not count.
        upto, before: (h,) how many corrections come no later than each hit, and before its
            segment.
    """

    rows: Rows
    segment: Rows
    segments: int
    start: Rows
    countable: NDArray[np.bool_]
    corrected: Rows
    sign: Rows
    upto: Rows
    before: Rows


def order_hits(
    label: Rows,
    candidate: Rows,
    codes: NDArray[np.uint8],
    outside: NDArray[np.bool_],
    kept: NDArray[np.bool_] | None,
    labels: int,
) -> HitOrder:
    """Lay out the true positives of detections ranked by label, then score.

    Args:
        label: (n,) ascending.
        candidate: (c,) rows of the detections that overlap a ground truth, ascending.
        codes: (t, c) what became of them at each threshold.
        outside: (n,) whether the detection's own area is outside the range.
        kept: (n,) whether it is looked at at all; None for all.
        labels: How many labels there are.
    """
    hit = codes == MATCHED
    change = (hit & outside[candidate]).astype(np.int8)
    change -= (codes == IGNORED) & ~outside[candidate]
    countable = ~outside
    if kept is not None:
        hit &= kept[candidate]
        change *= kept[candidate]
        countable &= kept
    threshold, at = np.nonzero(hit)
    changed_threshold, changed_at = np.nonzero(change)
    rows = candidate[at]
    of_hit = label[rows]
    segment = threshold * labels + of_hit
    # Hits and corrections by place: threshold after threshold, candidate after candidate.
    width = len(candidate)
    place = changed_threshold * width + changed_at
    begin = threshold * width + np.searchsorted(label[candidate], np.arange(labels))[of_hit]
    return HitOrder(
        rows=rows,
        segment=segment,
        segments=len(codes) * labels,
        start=np.searchsorted(label, np.arange(labels))[of_hit],
        countable=countable,
        corrected=candidate[changed_at],
        sign=change[changed_threshold, changed_at].astype(np.int64),
        upto=np.searchsorted(place, threshold * width + at, side="right"),
        before=np.searchsorted(place, begin),
    )


def running_hits(order: HitOrder, weights: NDArray[np.int64] | None, image: Rows) -> Hits:
    """Running counts at every hit, replica after replica.

    Args:
        order: The layout.
        weights: (replicas, images) how often each image counts; None for once each.
        image: (n,) image of each detection.
    """
    if weights is None:
        weights, image = np.ones((1, 1), np.int64), np.zeros(len(image), np.int64)
    counted = _running(weights[:, image] * order.countable)
    seen = counted[:, order.rows + 1] - counted[:, order.start]
    changed = _running(weights[:, image[order.corrected]] * order.sign)
    seen += changed[:, order.upto] - changed[:, order.before]
    segment = np.arange(len(weights))[:, None] * order.segments + order.segment
    return Hits(segment.ravel(), weights[:, image[order.rows]].ravel(), seen.ravel())


def _running(amounts: NDArray[np.int64]) -> NDArray[np.int64]:
    """(replicas, n + 1) sums of the amounts before each place."""
    total = np.zeros((len(amounts), amounts.shape[1] + 1), np.int64)
    np.cumsum(amounts, axis=1, out=total[:, 1:])
    return total
