"""Layout of ranked true positives that all resamples share.

True positives without a false positive between them form a block. Each of them raises precision or
leaves it unchanged, whatever its weight, so from the first on the highest precision is at least
the last one's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import places_in_runs, spread
from valor_cli.kernels.ranking.lanes import Lanes
from valor_cli.kernels.ranking.ranking import HitOrder
from valor_cli.kernels.ranking.runs import Runs

Rows = NDArray[np.int64]
Sums = NDArray[np.int32]

BLOCKS_AT_ONCE = 1 << 14
"""Blocks of as many thresholds as are computed together: their numbers stay in the cache."""

ADDED_AT_ONCE = 15
"""So many weights add up to one byte at most, as long as none is above 17."""


class Pieces(NamedTuple):
    """Runs of units whose weights are added.

    Attributes:
        unit: (n,) units, piece after piece.
        starts: (pieces,) where in `unit` each begins; none is empty.
        slot: (pieces,) where its sum belongs, each slot once.
    """

    unit: Rows
    starts: Rows
    slot: Rows

    @classmethod
    def of(cls, unit: Rows, slot: Rows) -> Pieces:
        """Group adjacent units of one slot."""
        starts = np.flatnonzero(np.diff(slot, prepend=-1))
        return cls(unit, starts, slot[starts])


@dataclass(frozen=True, slots=True)
class Marks:
    """Detections that end a block at any threshold, one run per label.

    Attributes:
        runs: Their layout.
        row, slot: (marks,) row and slot of each.
        counted: The counted detections, by the slot of the next mark.
    """

    runs: Runs
    row: Rows
    slot: Rows
    counted: Pieces

    def seen(self, lanes: Lanes) -> Sums:
        """(slots, lanes) number of the label's detections up to each mark."""
        seen = np.zeros((self.runs.element.size, lanes.width), np.int32)
        seen[self.counted.slot] = lanes.sums(self.counted.unit, self.counted.starts)
        self.runs.add_up(seen.reshape(*self.runs.element.shape, lanes.width))
        return seen


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Blocks at adjacent thresholds, one run per nonempty segment.

    Attributes:
        begin, end: The thresholds.
        runs: Their layout.
        hits: The true positives, a piece for each slot; nobody for repetitions.
        mark: (slots,) the slot that a block's end has among the marks.
        added, removed: Those that count there against the rule, or do not.
        threshold, label: (columns,) of the run, the threshold counted from `begin`.
    """

    begin: int
    end: int
    runs: Runs
    hits: Pieces
    mark: Rows
    added: Pieces
    removed: Pieces
    threshold: Rows
    label: Rows


@dataclass(frozen=True, slots=True)
class HitLayout:
    """The weight-independent part of a resample's precision."""

    marks: Marks
    parts: tuple[Thresholds, ...]
    thresholds: int
    labels: int


def lay_out(order: HitOrder, label: Rows, unit: Rows, labels: int, units: int) -> HitLayout:
    """The layout of hits that are ranked by label, then score.

    Args:
        order: Their order.
        label, unit: (n,) label and unit of each detection.
        labels, units: How many there are.
    """
    thresholds = order.segments // labels
    ends = _block_ends(order)
    marks = _marks(ends, order, label, unit)
    mark = marks.slot[np.searchsorted(marks.row, order.rows[ends])]
    begins = np.searchsorted(order.segment[ends], np.arange(thresholds + 1) * labels)
    parts = []
    begin = 0
    while begin < thresholds:
        reached = int(np.searchsorted(begins, begins[begin] + BLOCKS_AT_ONCE, side="right")) - 1
        end = min(max(reached, begin + 1), thresholds)
        blocks = slice(int(begins[begin]), int(begins[end]))
        if blocks.stop > blocks.start:
            parts.append(_part((begin, end), order, ends, blocks, mark, unit, (labels, units)))
        begin = end
    return HitLayout(marks, tuple(parts), thresholds, labels)


def _block_ends(order: HitOrder) -> Rows:
    """The last hit of each block, and of each part of a long one."""
    corrected = np.append(0, np.cumsum(order.sign))
    counted_from, counted_to = order.counted_span
    corrected_from, corrected_to = order.corrected_span
    seen = counted_to - counted_from + corrected[corrected_to] - corrected[corrected_from]
    # A detection counts once or not at all, so that a step of one is the hit alone.
    begins = (np.diff(order.segment, prepend=-1) != 0) | (np.diff(seen, prepend=0) != 1)
    begins |= places_in_runs(np.cumsum(begins)) % ADDED_AT_ONCE == 0
    return np.flatnonzero(np.append(begins[1:], np.ones(min(len(begins), 1), bool)))


def _marks(ends: Rows, order: HitOrder, label: Rows, unit: Rows) -> Marks:
    rows = np.unique(order.rows[ends])
    counted = np.flatnonzero(order.counted)
    mark = np.searchsorted(rows, counted)
    # Those behind the last mark of their label are never asked for.
    kept = np.append(label[rows], -1)[mark] == label[counted]
    counted, mark = counted[kept], mark[kept]
    full = places_in_runs(mark) % ADDED_AT_ONCE == ADDED_AT_ONCE - 1
    rows = np.union1d(rows, counted[full])
    runs = Runs.of(np.diff(np.flatnonzero(np.diff(label[rows], prepend=-1)), append=len(rows)))
    slots = runs.slots()
    mark = np.searchsorted(rows, counted)
    return Marks(runs, rows, slots, Pieces.of(unit[counted], slots[mark]))


def _part(
    thresholds: tuple[int, int],
    order: HitOrder,
    ends: Rows,
    blocks: slice,
    mark: Rows,
    unit: Rows,
    sizes: tuple[int, int],
) -> Thresholds:
    labels, units = sizes
    segment = order.segment[ends[blocks]]
    starts = np.flatnonzero(np.diff(segment, prepend=-1))
    runs = Runs.of(np.diff(starts, append=len(segment)))
    own = segment[starts][runs.run]
    length = np.diff(ends, prepend=-1)[blocks][runs.element]
    last = ends[blocks][runs.element]
    # A repetition is a piece as well: of nobody.
    length = np.where(runs.padding, 1, length).ravel()
    first = np.where(runs.padding, last, last - length.reshape(last.shape) + 1)
    hits = spread(first.ravel(), length)
    nobody = np.repeat(runs.padding.ravel(), length)
    members = np.where(nobody, units, unit[order.rows[hits]])
    begin = np.cumsum(length) - length
    added, removed = (_corrected(order, ends[blocks], starts, runs, unit, sign) for sign in (1, -1))
    return Thresholds(
        *thresholds,
        runs=runs,
        hits=Pieces(members, begin, np.arange(len(length))),
        mark=mark[blocks][runs.element].ravel(),
        added=added,
        removed=removed,
        threshold=own // labels - thresholds[0],
        label=own % labels,
    )


def _corrected(
    order: HitOrder, ends: Rows, starts: Rows, runs: Runs, unit: Rows, sign: int
) -> Pieces:
    """The corrections of one sign, by the slot of the next block's end."""
    first, end = order.corrected_span[:, ends]
    begins = np.zeros(len(ends), bool)
    begins[starts] = True
    start = np.where(begins, first, np.roll(end, 1))
    members = spread(start, end - start)
    slot = np.repeat(runs.slots(), end - start)
    kept = order.sign[members] == sign
    return Pieces.of(unit[order.corrected[members[kept]]], slot[kept])
