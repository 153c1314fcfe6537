"""Overlap of masks: detections and ground truths in, overlapping pairs out.

Most pairs of one image and label do not overlap enough. Their areas tell so, or their bounds; runs
are looked at of the others alone, a tenth of the work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import masks
from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.boxes import Pairs, joined_pairs, shared_areas
from valor_cli.kernels.columns import quotient, spread
from valor_cli.kernels.shapes import Floats, Ints, Masks

PAIRS_AT_ONCE = 1 << 16
"""Pairs whose columns stay in the processor's cache together."""


def overlapping_masks(
    detections: Masks,
    rows: Ints,
    ground_truths: Masks,
    crowd: NDArray[np.bool_],
    first: Ints,
    count: Ints,
    least: float,
) -> Pairs:
    """Pairs of a detection and a ground truth whose IoU is at least `least`.

    The IoU is that of pycocotools to the last bit; masks of unequal size do not overlap.

    Args:
        detections: Masks.
        rows: (n,) which of them to look at.
        ground_truths: m masks.
        crowd: (m,) whether a ground truth is a crowd region.
        first: (n,) the first ground truth to compare each detection with.
        count: (n,) how many from there on.
        least: Smallest IoU kept, above 0.

    Returns:
        The pairs, by detection (as it stands in `rows`), then ground truth.
    """
    size, other_size = detections.size[rows], ground_truths.size
    own, other = masks.areas(detections)[rows], masks.areas(ground_truths)

    def kept(d: Ints, g: Ints, shared: Floats) -> Pairs:
        """The pairs that can have that IoU if they share no more than so many pixels.

        The quotient of whole numbers grows with what is shared, rounded or not. So no pair is lost.
        """
        union = np.where(crowd[g], own[d], own[d] + other[g] - shared)
        iou = quotient(shared, union, 0.0)
        some = np.flatnonzero(iou >= least)
        return Pairs(d[some], g[some], iou[some])

    parts: list[Pairs] = []
    for block in blocks(count, PAIRS_AT_ONCE):
        d = np.repeat(np.arange(block.start, block.stop), count[block])
        g = spread(first[block], count[block])
        same = np.flatnonzero((size[d] == other_size[g]).all(axis=1))
        d, g = d[same], g[same]
        parts.append(kept(d, g, np.minimum(own[d], other[g])))
    d, g, _ = joined_pairs(parts)
    within = _within_bounds(detections, rows, ground_truths, d, g)
    d, g, _ = kept(d, g, np.minimum(within, np.minimum(own[d], other[g])))
    shared = masks.intersections(detections, ground_truths, rows[d], g)
    return kept(d, g, shared.astype(np.float64))


def _within_bounds(detections: Masks, rows: Ints, ground_truths: Masks, d: Ints, g: Ints) -> Floats:
    """(pairs,) pixels that the bounds of both share."""
    some, at = np.unique(d, return_inverse=True)
    own = masks.bounds(detections, rows[some])
    return shared_areas(own[at], masks.bounds(ground_truths)[g])
