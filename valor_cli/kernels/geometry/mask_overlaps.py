"""Overlap of masks."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import blocks, quotient, spread
from valor_cli.kernels.geometry import masks
from valor_cli.kernels.geometry.boxes import Pairs, joined_pairs, pairs_above_iou
from valor_cli.kernels.geometry.shapes import Floats, Ints, Masks

PAIRS_AT_ONCE = 1 << 20
"""Pairs that are compared together; what the compiled kernel does not fill costs nothing."""

_Columns: TypeAlias = tuple[NDArray[np.signedinteger[Any]], Ints, Ints]
"""Counts, starts and size of masks."""


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
        The pairs, by detection (in the order of `rows`), then ground truth.
    """
    own, other = masks.areas(detections)[rows], masks.areas(ground_truths)
    if engine.compiled is not None:
        several = masks.columns_of(detections), masks.columns_of(ground_truths)
        compared = _Compared(*several, own, other, np.ascontiguousarray(crowd))
        return _compiled_pairs(engine.compiled, compared, rows, first, count, least)
    size, other_size = detections.size[rows], ground_truths.size
    parts: list[Pairs] = []
    for block in blocks(count, PAIRS_AT_ONCE):
        d = np.repeat(np.arange(block.start, block.stop), count[block])
        g = spread(first[block], count[block])
        same = (size[d] == other_size[g]).all(axis=1)
        d, g = d[same], g[same]
        shared = masks.intersections(detections, ground_truths, rows[d], g)
        union = np.where(crowd[g], own[d], own[d] + other[g] - shared)
        parts.append(pairs_above_iou(d, g, quotient(shared, union, 0.0), least))
    return joined_pairs(parts)


class _Compared(NamedTuple):
    """What the compiled kernel compares: columns of masks, areas, and the crowd regions."""

    detections: _Columns
    ground_truths: _Columns
    own: Floats
    other: Floats
    crowd: NDArray[np.bool_]


def _compiled_pairs(
    kernel: engine.Kernel, compared: _Compared, rows: Ints, first: Ints, count: Ints, least: float
) -> Pairs:
    """The same of the compiled kernel, which fills columns with room for all that may be."""
    mine, theirs, own, other, crowd = compared
    rows, first, count = map(np.ascontiguousarray, (rows, first, count))
    parts: list[Pairs] = []
    for block in blocks(count, PAIRS_AT_ONCE):
        room = int(count[block].sum())
        found = Pairs(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
        asked = (rows[block], first[block], count[block])
        pairs = kernel.overlapping_masks(
            *mine, *theirs, *asked, own[block], other, crowd, *found, least
        )
        # What has no pair is not kept.
        parts.append(
            Pairs(
                found.detection[:pairs] + block.start,
                found.ground_truth[:pairs].copy(),
                found.iou[:pairs].copy(),
            )
        )
    return joined_pairs(parts)
