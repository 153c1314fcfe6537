"""Run-length masks: areas, bounds, intersections, and masks of bitmaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import offsets, summed
from valor_cli.kernels.geometry.shapes import Floats, Ints, Masks

RUNS_AT_ONCE = 1 << 18
"""Runs whose columns stay in the processor's cache together."""


class Runs:
    """Foreground runs of concatenated masks.

    Attributes:
        begin, end: (r,) first pixel of a run and the one after its last, down the columns.
        ended: (r + 1,) where the run before each ended, and the last one; 0 for the first.
        before: (r + 1,) foreground pixels before each run, and all of them.
        starts: (n + 1,) where the runs of each object begin.
        offset: (n + 1,) where the pixels of each object begin.
    """

    def __init__(self, masks: Masks) -> None:
        pixels = offsets(masks.counts)
        # Every second count of an object, from its second one on.
        runs = np.diff(masks.starts) // 2
        self.starts = offsets(runs)
        at = np.repeat(masks.starts[:-1] + 1 - 2 * self.starts[:-1], runs)
        at += np.arange(0, 2 * len(at), 2)
        lengths = masks.counts[at]
        if not lengths.all():
            some = np.flatnonzero(lengths)
            self.starts = np.searchsorted(some, self.starts)
            at, lengths = at[some], lengths[some]
        self.begin = pixels[at]
        self.end = self.begin + lengths
        self.ended = np.concatenate([[0], self.end])
        self.before = offsets(lengths)
        self.offset = pixels[masks.starts]


def columns_of(masks: Masks) -> tuple[NDArray[np.signedinteger[Any]], Ints, Ints]:
    """Counts, starts and size, as needed by the compiled kernel."""
    width = np.int32 if masks.counts.dtype == np.int32 else np.int64
    return (
        np.ascontiguousarray(masks.counts, width),
        np.ascontiguousarray(masks.starts),
        np.ascontiguousarray(masks.size),
    )


def areas(masks: Masks) -> Floats:
    """(n,) number of foreground pixels."""
    if masks.foreground is not None:
        return masks.foreground.astype(np.float64)
    return foreground_pixels(masks.counts, masks.starts).astype(np.float64)


def foreground_pixels(counts: NDArray[np.signedinteger[Any]], starts: Ints) -> Ints:
    """(n,) pixels of foreground, of runs as `Masks` has them."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    odd = (np.arange(len(counts)) - starts[owner]) % 2 == 1
    return summed(owner[odd], counts[odd], len(starts) - 1)


def bounds(masks: Masks, rows: Ints | None = None) -> Floats:
    """(n, 4) bounding box of the foreground, as pycocotools' `toBbox`; zeros if empty.

    Args:
        masks: Masks.
        rows: (n,) which of them; None for all.
    """
    if rows is None:
        rows = np.arange(len(masks))
    if engine.compiled is not None:
        box = np.zeros((len(rows), 4))
        engine.compiled.bounded(*columns_of(masks), np.ascontiguousarray(rows), box)
        return box
    part = masks.take(rows)
    return _bounds(Runs(part), part.size[:, 0])


def intersections(a: Masks, b: Masks, rows_a: Ints, rows_b: Ints) -> Ints:
    """Shared pixels of pairs of masks of equal size.

    Args:
        a, b: Masks.
        rows_a, rows_b: (pairs,) which mask of `a` and which of `b`.

    Returns:
        (pairs,) number of pixels in both.
    """
    shared = np.zeros(len(rows_a), np.int64)
    for pair, (row_a, row_b) in enumerate(zip(rows_a.tolist(), rows_b.tolist(), strict=True)):
        # Where the pixels change from one side of the outline to the other.
        mine, theirs = (
            np.cumsum(masks.counts[masks.starts[row] : masks.starts[row + 1]], dtype=np.int64)
            for masks, row in ((a, row_a), (b, row_b))
        )
        edges = np.union1d(mine, theirs)
        inside = np.searchsorted(mine, edges, "right") & np.searchsorted(theirs, edges, "right") & 1
        shared[pair] = np.diff(edges) @ inside[:-1]
    return shared


def from_bitmap(pixels: NDArray[np.bool_]) -> Masks:
    """A mask from a (height, width) bitmap."""
    line = pixels.T.ravel()
    changes = np.flatnonzero(line[1:] != line[:-1]) + 1
    ends = [0] if line[:1].any() else []
    counts = np.diff(np.concatenate([ends, changes, [line.size]]), prepend=0).astype(np.int64)
    return Masks(counts, np.array([0, len(counts)]), np.array([pixels.shape]))


def from_runs(owner: Ints, begin: Ints, end: Ints, size: Ints) -> Masks:
    """Masks of foreground runs.

    Args:
        owner: (r,) the mask of each run, ascending.
        begin, end: (r,) its first pixel and the one after its last, down the columns; the runs of
            a mask ascend and do not touch.
        size: (n, 2) height and width of the images.
    """
    pixels = size[:, 0] * size[:, 1]
    runs = np.bincount(owner, minlength=len(size))
    last = np.searchsorted(owner, np.arange(len(size)), side="right") - 1
    full = np.zeros(len(size), bool)
    full[runs > 0] = end[last[runs > 0]] == pixels[runs > 0]
    # Every run has the background before it; what is left at the end is one more.
    lengths = 2 * runs + ~full
    starts = offsets(lengths)
    edges = np.empty(starts[-1], np.int64)
    place = starts[owner] + 2 * (np.arange(len(owner)) - (np.cumsum(runs) - runs)[owner])
    edges[place], edges[place + 1] = begin, end
    edges[starts[1:] - 1] = pixels
    some = starts[:-1][lengths > 0]
    counts = np.diff(edges, prepend=0)
    counts[some] = edges[some]
    return Masks(counts, starts, size)


def _bounds(runs: Runs, height: Ints) -> Floats:
    box = np.zeros((len(height), 4))
    lengths = np.diff(runs.starts)
    some = np.flatnonzero(lengths)
    if not len(some):
        return box
    height, first = height[some], runs.starts[some]
    begin = runs.begin - np.repeat(runs.offset[:-1], lengths)
    top = begin % np.repeat(height, lengths[some])
    low = np.minimum.reduceat(top, first)
    high = np.maximum.reduceat(top + (runs.end - runs.begin), first)
    # A run that goes on in the next column touches the top and the bottom of the image.
    across = high > height
    low[across], high[across] = 0, height[across]
    left = begin[first] // height
    right = (runs.end[runs.starts[some + 1] - 1] - runs.offset[some] - 1) // height + 1
    box[some] = np.column_stack([left, low, right - left, high - low])
    return box
