"""Masks as run lengths: areas, bounds and intersections out, bitmaps in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.columns import spread
from valor_cli.kernels.shapes import Floats, Ints, Masks

RUNS_AT_ONCE = 1 << 18
"""Runs whose columns stay in the processor's cache together."""


class Runs:
    """The foreground of masks, all on one line: the pixels of one object after the other's.

    Attributes:
        begin, end: (r,) first pixel of a run and the one after its last, down the columns.
        ended: (r + 1,) where the run before each ended, and the last one; 0 for the first.
        before: (r + 1,) foreground pixels before each run, and all of them.
        starts: (n + 1,) where the runs of each object begin.
        offset: (n + 1,) where the pixels of each object begin.
    """

    def __init__(self, masks: Masks) -> None:
        pixels = np.zeros(len(masks.counts) + 1, np.int64)
        np.cumsum(masks.counts, out=pixels[1:])
        # Every second count of an object, from its second one on.
        runs = np.diff(masks.starts) // 2
        self.starts = np.concatenate([[0], np.cumsum(runs)])
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
        self.before = np.zeros(len(at) + 1, np.int64)
        np.cumsum(lengths, out=self.before[1:])
        self.offset = pixels[masks.starts]


def columns_of(masks: Masks) -> tuple[NDArray[np.signedinteger[Any]], Ints, Ints]:
    """Counts, starts and size, as the compiled kernel takes them."""
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
    return grounds(masks.counts, masks.starts)[1].astype(np.float64)


def grounds(counts: NDArray[np.signedinteger[Any]], starts: Ints) -> tuple[Ints, Ints]:
    """(n,) pixels of background and of foreground, of runs as `Masks` has them.

    All even and all odd places are added up on their own: no list of places is needed.
    """
    totals = np.zeros((2, len(starts) - 1), np.int64)
    for block in blocks(np.diff(starts), RUNS_AT_ONCE):
        for parity in (0, 1):
            part, at = every_second(counts, starts, block, parity)
            sums = np.zeros(len(part) + 1, np.int64)
            np.cumsum(part, out=sums[1:])
            totals[parity, block] = np.diff(sums[at - at[0]])
    odd = (starts[:-1] & 1).astype(bool)
    return np.where(odd, totals[1], totals[0]), np.where(odd, totals[0], totals[1])


def every_second(
    counts: NDArray[np.signedinteger[Any]], starts: Ints, block: slice, parity: int
) -> tuple[NDArray[np.signedinteger[Any]], Ints]:
    """The counts of a block of objects at even or odd places, and where each object's begin.

    Args:
        counts, starts: As `Masks` has them.
        block: Which objects.
        parity: 0 for even, 1 for odd places of all counts.

    Returns:
        part: (c,) a view of the counts.
        at: (objects + 1,) how many such places come before each object, from the first of all.
    """
    some = starts[block.start : block.stop + 1]
    first = int(some[0])
    return counts[first + ((first ^ parity) & 1) : int(some[-1]) : 2], (some + 1 - parity) // 2


def bounds(masks: Masks, rows: Ints | None = None) -> Floats:
    """(n, 4) box of the foreground, as pycocotools' `toBbox` has it; zeros without foreground.

    Args:
        masks: Masks.
        rows: (n,) which of them; None for all.
    """
    if rows is None:
        rows = np.arange(len(masks))
    box = np.zeros((len(rows), 4))
    if engine.compiled is not None:
        engine.compiled.bounded(*columns_of(masks), np.ascontiguousarray(rows), box)
        return box
    for block in blocks(np.diff(masks.starts)[rows], RUNS_AT_ONCE):
        part = masks.take(rows[block])
        box[block] = _bounds(Runs(part), part.size[:, 0])
    return box


def intersections(a: Masks, b: Masks, rows_a: Ints, rows_b: Ints) -> Ints:
    """Shared pixels of pairs of masks; both of a pair are of images of one size.

    Args:
        a, b: Masks.
        rows_a, rows_b: (pairs,) which mask of `a` and which of `b`.

    Returns:
        (pairs,) number of pixels in both.
    """
    shared = np.zeros(len(rows_a), np.int64)
    work = np.diff(a.starts)[rows_a] + np.diff(b.starts)[rows_b]
    for block in blocks(work, RUNS_AT_ONCE):
        used_a, at_a = np.unique(rows_a[block], return_inverse=True)
        used_b, at_b = np.unique(rows_b[block], return_inverse=True)
        runs_a, runs_b = Runs(a.take(used_a)), Runs(b.take(used_b))
        shared[block] = _intersections(runs_a, runs_b, at_a, at_b)
    return shared


def bitmaps(masks: Masks) -> list[NDArray[np.bool_]]:
    """(height, width) the pixels of each mask."""
    starts = masks.starts.tolist()
    sizes = masks.size.tolist()
    pixels: list[NDArray[np.bool_]] = []
    for row, (height, width) in enumerate(sizes):
        counts = masks.counts[starts[row] : starts[row + 1]]
        line = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
        pixels.append(line.reshape(width, height).T)
    return pixels


def from_bitmap(pixels: NDArray[np.bool_]) -> Masks:
    """The one mask of (height, width) pixels."""
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
    starts = np.concatenate([[0], np.cumsum(lengths)])
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


def _intersections(a: Runs, b: Runs, at_a: Ints, at_b: Ints) -> Ints:
    shared = np.zeros(len(at_a), np.int64)
    count_a, count_b = np.diff(a.starts)[at_a], np.diff(b.starts)[at_b]
    some = (count_a > 0) & (count_b > 0)
    # The runs of the simpler mask are looked up among those of the other one.
    simpler = count_a <= count_b
    mine, others = np.flatnonzero(some & simpler), np.flatnonzero(some & ~simpler)
    shared[mine] = _shared(a, at_a[mine], b, at_b[mine])
    shared[others] = _shared(b, at_b[others], a, at_a[others])
    return shared


def _shared(needles: Runs, at_n: Ints, haystack: Runs, at_h: Ints) -> Ints:
    """Shared pixels of pairs: how much of the haystack lies between the ends of each needle."""
    shift = haystack.offset[at_h] - needles.offset[at_n]
    # Needles outside the ends of the haystack share nothing.
    lowest = haystack.begin[haystack.starts[at_h]] - shift
    highest = haystack.end[haystack.starts[at_h + 1] - 1] - shift
    first = np.searchsorted(needles.end, lowest, side="right")
    last = np.searchsorted(needles.begin, highest, side="left")
    first = np.maximum(first, needles.starts[at_n])
    counts = np.maximum(np.minimum(last, needles.starts[at_n + 1]) - first, 0)
    runs, shifts = spread(first, counts), np.repeat(shift, counts)
    begin, end = needles.begin[runs] + shifts, needles.end[runs] + shifts
    begun = np.searchsorted(haystack.begin, begin, side="right")
    # Most needles reach no further than the next run; a second search is for the others.
    following = np.append(haystack.begin, haystack.offset[-1])
    done = begun + (following[begun] < end)
    far = np.flatnonzero(following[done] < end)
    done[far] = np.searchsorted(haystack.begin, end[far])
    covered = _before(haystack, done, end) - _before(haystack, begun, begin)
    sums = np.concatenate([[0], np.cumsum(covered)])
    ends = np.cumsum(counts)
    return np.asarray(sums[ends] - sums[ends - counts])


def _before(haystack: Runs, begun: Ints, pixel: Ints) -> Ints:
    """How much foreground lies before each pixel, from how many runs begin there or before."""
    return np.asarray(haystack.before[begun] - np.maximum(haystack.ended[begun] - pixel, 0))
