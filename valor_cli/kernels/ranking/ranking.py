"""Order the true positives of ranked detections, with running counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.ranking.matching import IGNORED, MATCHED
from valor_cli.kernels.ranking.precision_recall import Hits

Rows = NDArray[np.int64]


class HitOrder(NamedTuple):
    """Positions of the true positives. A segment is one threshold and label.

    A detection counts when it is inside the area range; at some thresholds one that is not counts
    all the same (it is a true positive), and one that is does not (it matched an ignored ground
    truth). These few are the corrections.

    Attributes:
        rows: (h,) row of each true positive, segment after segment, best score first.
        segment: (h,) threshold * labels + label.
        segments: How many there are.
        counted: (n,) whether a detection is inside the area range.
        corrected: (k,) rows of the corrections, in the order of hits.
        sign: (k,) 1 counts all the same, -1 does not count.
        counted_span, corrected_span: (2, h) how many counted detections and how many corrections
            come before the hit's segment begins, and no later than the hit.
    """

    rows: Rows
    segment: Rows
    segments: int
    counted: NDArray[np.bool_]
    corrected: Rows
    sign: Rows
    counted_span: Rows
    corrected_span: Rows

    @property
    def corrections(self) -> tuple[Rows, Rows]:
        """Rows of the corrections by sign: those that count, and those that do not."""
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
    if engine.compiled is not None:
        return _compiled_order(
            engine.compiled, label, candidate, np.ascontiguousarray(codes), outside, kept, labels
        )
    hit = codes == MATCHED
    change = (hit & outside[candidate]).astype(np.int8)
    change -= (codes == IGNORED) & ~outside[candidate]
    counted = ~outside
    if kept is not None:
        hit &= kept[candidate]
        change *= kept[candidate]
        counted &= kept
    threshold, at = np.nonzero(hit)
    changed_threshold, changed_at = np.nonzero(change)
    rows = candidate[at]
    of_hit = label[rows]
    before_row = np.append(0, np.cumsum(counted))
    first_row, first_candidate = (
        np.searchsorted(column, np.arange(labels))[of_hit] for column in (label, label[candidate])
    )
    # Hits and corrections by place: threshold after threshold, candidate after candidate.
    begin = threshold * len(candidate)
    place = changed_threshold * len(candidate) + changed_at
    return HitOrder(
        rows=rows,
        segment=threshold * labels + of_hit,
        segments=len(codes) * labels,
        counted=counted,
        corrected=candidate[changed_at],
        sign=change[changed_threshold, changed_at].astype(np.int64),
        counted_span=np.stack([before_row[first_row], before_row[rows + 1]]),
        corrected_span=np.searchsorted(place, np.stack([begin + first_candidate, begin + at + 1])),
    )


def _compiled_order(
    kernel: engine.Kernel,
    label: Rows,
    candidate: Rows,
    codes: NDArray[np.uint8],
    outside: NDArray[np.bool_],
    kept: NDArray[np.bool_] | None,
    labels: int,
) -> HitOrder:
    """The same by the compiled kernel."""
    counted = ~outside if kept is None else ~outside & kept
    room = int(np.count_nonzero(codes))
    rows, segment, corrected, sign = (np.empty(room, np.int64) for _ in range(4))
    counted_span, corrected_span = np.empty((2, room), np.int64), np.empty((2, room), np.int64)
    hits, corrections = kernel.order_hits(
        label,
        candidate,
        codes,
        np.ascontiguousarray(outside),
        counted,
        np.zeros(0, np.bool_) if kept is None else kept,
        rows,
        segment,
        counted_span,
        corrected,
        sign,
        corrected_span,
        labels,
    )
    return HitOrder(
        rows=rows[:hits],
        segment=segment[:hits],
        segments=len(codes) * labels,
        counted=counted,
        corrected=corrected[:corrections],
        sign=sign[:corrections],
        counted_span=counted_span[:, :hits],
        corrected_span=corrected_span[:, :hits],
    )


def running_hits(order: HitOrder, weights: NDArray[np.int64] | None, image: Rows) -> Hits:
    """Running counts at every true positive, by replica.

    Args:
        order: The layout.
        weights: (replicas, images) how often each image counts; None for once each.
        image: (n,) image of each detection.
    """
    if weights is None:
        weights, image = np.ones((1, 1), np.int64), np.zeros(len(image), np.int8)
        seen = order.counted_span[1:] - order.counted_span[:1]
    else:
        seen = _between(weights[:, image[order.counted]], order.counted_span)
    seen += _between(weights[:, image[order.corrected]] * order.sign, order.corrected_span)
    segment = np.arange(len(weights))[:, None] * order.segments + order.segment
    return Hits(segment.ravel(), weights[:, image[order.rows]].ravel(), seen.ravel())


def _between(amounts: NDArray[np.int64], span: Rows) -> NDArray[np.int64]:
    """(replicas, h) sums of the amounts from span[0] up to span[1]."""
    total = np.zeros((len(amounts), amounts.shape[1] + 1), np.int64)
    np.cumsum(amounts, axis=1, out=total[:, 1:])
    return np.asarray(total[:, span[1]] - total[:, span[0]])
