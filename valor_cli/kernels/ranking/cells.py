"""Group rows into cells, the objects of one label in one image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import grouped, positions_of

Ints = NDArray[np.int64]


class Meeting(NamedTuple):
    """Detections that share a cell with a ground truth.

    Attributes:
        rank: (n,) place of each detection in its cell, from 0, in the order of rows.
        rows: (k,) rows of those that share one, ascending.
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
