"""Overlaps of detections and ground truth of any label, for error analysis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import GroundTruths
from valor_cli.kernels.columns.grouping import grouped
from valor_cli.kernels.geometry.overlaps import overlapping
from valor_cli.kernels.geometry.shapes import Shapes

Ints = NDArray[np.int64]


class OverlapPairs(Struct, frozen=True):
    """Pairs of a detection and a ground truth in the same image, of any labels.

    Crowd regions take no part.

    Attributes:
        detection, ground_truth: (p,) rows of the evidence; by detection, then ground truth.
        iou: (p,) their overlap.
    """

    detection: Ints
    ground_truth: Ints
    iou: NDArray[np.float64]

    def where(self, detections: NDArray[np.bool_], truths: NDArray[np.bool_]) -> OverlapPairs:
        """Select rows by masks over all rows, renumbered."""
        kept = detections[self.detection]
        return OverlapPairs(
            (np.cumsum(detections) - 1)[self.detection[kept]],
            (np.cumsum(truths) - 1)[self.ground_truth[kept]],
            self.iou[kept],
        )


def find_overlap_pairs(
    shapes: Shapes, order: Ints, image: Ints, rows: Ints, truths: GroundTruths, least: float
) -> OverlapPairs:
    """All pairs with an IoU of at least `least`.

    Args:
        shapes: (n,) geometry of the detections, in any order.
        order: (n,) which of them each detection has.
        image: (n,) the image of each detection.
        rows: The detections to look at.
        truths: The ground truths.
        least: Smallest IoU kept, above 0.
    """
    regular = np.flatnonzero(~truths.uncounted)
    by_image, starts = grouped(truths.image[regular])
    truth = regular[by_image]
    known = truths.image[truth[starts[:-1]]] if len(truth) else np.zeros(0, np.int64)
    images = int(image.max(initial=-1)) + 1
    first, count = np.zeros(images, np.int64), np.zeros(images, np.int64)
    here = known < images
    first[known[here]], count[known[here]] = starts[:-1][here], np.diff(starts)[here]
    rows = rows[count[image[rows]] > 0]
    pairs = overlapping(
        shapes,
        truths.shapes.take(truth),
        np.zeros(len(truth), bool),
        first[image[rows]],
        count[image[rows]],
        least,
        rows=order[rows],
    )
    return OverlapPairs(rows[pairs.detection], truth[pairs.ground_truth], pairs.iou)


def merge_overlap_pairs(parts: Sequence[tuple[OverlapPairs, Ints, Ints]]) -> OverlapPairs:
    """Merge the pairs of several shards.

    Args:
        parts: Of each shard the encounters, and the rows that its detections and its ground
            truths have in the whole.
    """
    detection = np.concatenate([found[one.detection] for one, found, _ in parts])
    truth = np.concatenate([true[one.ground_truth] for one, _, true in parts])
    iou = np.concatenate([one.iou for one, _, _ in parts])
    order = np.lexsort((truth, detection))
    return OverlapPairs(detection[order], truth[order], iou[order])
