"""Match ranked detections to the ground truths of their cell, for many thresholds at once.

A cell holds the objects of one label in one image. Matching is greedy and one to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import begins, grouped, places_in_runs, positions_of
from valor_cli.kernels.geometry.boxes import Pairs

UNMATCHED, MATCHED, IGNORED = 0, 1, 2


class Matched(NamedTuple):
    """Matches of the detections that overlap any ground truth.

    Attributes:
        candidate: (c,) rows of these detections, ascending.
        code: (areas, t, c) uint8: UNMATCHED, MATCHED (to a regular ground truth) or IGNORED.
        taken: (areas, remembered, c) the regular ground truth matched; -1 for none.
    """

    candidate: NDArray[np.int64]
    code: NDArray[np.uint8]
    taken: NDArray[np.int64]


def match(
    pairs: Pairs,
    regular: NDArray[np.bool_],
    crowd: NDArray[np.bool_],
    thresholds: NDArray[np.float64],
    *,
    remember: Sequence[int] = (),
    turn: NDArray[np.int64] | None = None,
) -> Matched:
    """Match detections to ground truths for every area range and IoU threshold.

    In each cell (image and label) detections come in the order of their rows, best score first.
    Each takes the free regular ground truth of highest IoU >= min(threshold, 1 - 1e-10), of equal
    ones the later; if there is none, the best free ignored one. A crowd is always free. This is
    the rule of pycocotools' `COCOeval.evaluateImg`.

    Args:
        pairs: Overlaps at or above the lowest threshold, by detection, then ground truth; inside
            a cell.
        regular: (areas, m) whether a ground truth counts in an area range, or is ignored there.
        crowd: (m,) whether a ground truth is a crowd region.
        thresholds: (t,) in (0, 1].
        remember: Positions of the thresholds at which to say which ground truth was taken.
        turn: (n,) ascending in the order in which a cell's detections come; None for row order.
    """
    detection = pairs.detection
    starts = np.flatnonzero(begins(detection))
    candidates = detection[starts]
    code = np.zeros((len(regular), len(thresholds), len(candidates)), np.uint8)
    taken = np.full((len(regular), len(remember), len(candidates)), -1)
    play = engine.compiled.match if engine.compiled is not None else _play
    play(
        np.append(starts, len(detection)),
        pairs.ground_truth,
        pairs.iou,
        np.arange(len(candidates)) if turn is None else np.argsort(turn[candidates], kind="stable"),
        np.ascontiguousarray(regular),
        np.ascontiguousarray(crowd),
        np.minimum(thresholds, 1 - 1e-10),
        np.array(remember, np.int64),
        code,
        taken,
    )
    return Matched(candidates, code, taken)


def _play(
    start: NDArray[np.int64],
    ground_truth: NDArray[np.int64],
    iou: NDArray[np.float64],
    turns: NDArray[np.int64],
    regular: NDArray[np.bool_],
    crowd: NDArray[np.bool_],
    floors: NDArray[np.float64],
    remember: NDArray[np.int64],
    code: NDArray[np.uint8],
    taken: NDArray[np.int64],
) -> None:
    """Fill `code` and `taken` as the compiled kernel's `match`, whose arguments these are."""
    free = np.ones((len(crowd), len(regular), len(floors)), np.bool_)
    for one in turns.tolist():
        pairs = np.arange(start[one], start[one + 1])
        pairs = pairs[np.lexsort((-ground_truth[pairs], -iou[pairs]))]
        own = code[:, :, one]
        for outcome in (MATCHED, IGNORED):
            for pair in pairs.tolist():
                truth = ground_truth[pair]
                counts = regular[:, truth, None] == (outcome == MATCHED)
                open_to = free[truth] | (crowd[truth] and outcome == IGNORED)
                hit = counts & open_to & (iou[pair] >= floors) & (own == UNMATCHED)
                own[hit] = outcome
                free[truth] &= ~hit
                if outcome == MATCHED:
                    taken[:, :, one][hit[:, remember]] = truth


def best_pairs(pairs: Pairs) -> Pairs:
    """For each detection the pair with the highest IoU; ties go to the earlier ground truth."""
    order = np.lexsort((pairs.ground_truth, -pairs.iou, pairs.detection))
    first = places_in_runs(pairs.detection[order]) == 0
    kept = order[first]
    return Pairs(pairs.detection[kept], pairs.ground_truth[kept], pairs.iou[kept])


Ints = NDArray[np.int64]


class Meeting(NamedTuple):
    """Detections that share a cell with a ground truth.

    Attributes:
        rank: (n,) place of each detection in its cell, from 0, in the order of rows.
        rows: (k,) rows of these detections, ascending.
        first, size: (k,) where in `truths` the ground truths of the cell begin, and how many
            there are; `first` names the cell.
        truths: (m,) rows of the ground truths, cell after cell.
    """

    rank: Ints
    rows: Ints
    first: Ints
    size: Ints
    truths: Ints


def shared_cells(label: Ints, image: Ints, gt_label: Ints, gt_image: Ints, images: int) -> Meeting:
    """Find the detections that share a cell with ground truth.

    Args:
        label, image: (n,) of the detections, labels ascending.
        gt_label, gt_image: (m,) of the ground truths.
        images: How many there are.
    """
    gt_cells = Cells.of(gt_label * images + gt_image)
    gt = gt_cells.rows
    if engine.compiled is not None:
        n = len(label)
        columns = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
        rank = np.empty(n, np.int64)
        met = engine.compiled.meet(label, image, gt_label[gt], gt_image[gt], rank, *columns, images)
        rows, first, size = (column[:met] for column in columns)
        return Meeting(rank, rows, first, size, gt)
    cell = label * images + image
    at = positions_of(cell, gt_cells.names)
    rows = np.flatnonzero(at >= 0)
    at = at[rows]
    return Meeting(Cells.of(cell).rank(), rows, gt_cells.starts[at], gt_cells.sizes[at], gt)


class Cells(NamedTuple):
    """Rows grouped by image and label.

    Attributes:
        names: (c,) number of each cell, ascending.
        rows: (n,) row numbers, cell after cell, in their order inside each.
        starts, sizes: (c,) where each cell begins in `rows`, and how many it has.
    """

    names: Ints
    rows: Ints
    starts: Ints
    sizes: Ints

    @classmethod
    def of(cls, cell: Ints) -> Cells:
        """Group rows by cell number."""
        rows, bounds = grouped(cell)
        starts = bounds[:-1]
        return cls(cell[rows[starts]], rows, starts, np.diff(bounds))

    def rank(self, by: Sequence[NDArray[np.float64]] = ()) -> Ints:
        """(n,) rank of each row in its cell, from 0; by columns, the last one first."""
        rows = self.rows
        if by:
            cell = np.repeat(np.arange(len(self.sizes)), self.sizes)
            rows = rows[np.lexsort((*(column[rows] for column in by), cell))]
        rank = np.empty(len(rows), np.int64)
        rank[rows] = np.arange(len(self.rows)) - np.repeat(self.starts, self.sizes)
        return rank
