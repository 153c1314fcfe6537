"""Greedy one-to-one matching of ranked detections to ground truths, many rules at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.boxes import Pairs
from valor_cli.kernels.columns import places_in_runs

UNMATCHED, MATCHED, IGNORED = 0, 1, 2
WORD = 64
"""Combinations of area and threshold decided together: a bit each of one machine word."""


class Matched(NamedTuple):
    """What became of the detections that overlap anything.

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
    cell: NDArray[np.int64],
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
        pairs: Overlaps at or above the lowest threshold, by detection, then ground truth.
        cell: (n,) the cell of each detection; pairs stay inside a cell.
        regular: (areas, m) whether a ground truth counts in an area range, or is ignored there.
        crowd: (m,) whether a ground truth is a crowd region.
        thresholds: (t,) in (0, 1].
        remember: Positions of the thresholds at which to say which ground truth was taken.
        turn: (n,) ascending in the order in which a cell's detections come; None for row order.
    """
    if engine.compiled is not None:
        return _compiled_match(
            engine.compiled, pairs, regular, crowd, thresholds, list(remember), turn
        )
    candidates, candidate = np.unique(pairs.detection, return_inverse=True)
    areas = len(regular)
    codes = np.zeros((areas, len(thresholds), len(candidates)), np.uint8)
    taken = np.full((areas, len(remember), len(candidates)), -1)
    if not len(candidates):
        return Matched(candidates, codes, taken)
    turns = _Turns(pairs, candidate, cell[candidates], None if turn is None else turn[candidates])
    floor = _floors(thresholds)
    step = max(WORD // areas, 1)
    for begin in range(0, len(thresholds), step):
        part = floor[begin : begin + step]
        # Bit a * len(part) + t of a word stands for area a and threshold t.
        first_bits = [1 << (area * len(part)) for area in range(areas)]
        allowed = _pack(turns.iou >= part[:, None], [1 << t for t in range(len(part))])
        counts = _pack(regular, [bit * ((1 << len(part)) - 1) for bit in first_bits])
        wanted = {
            first << (t - begin): (area, at)
            for area, first in enumerate(first_bits)
            for at, t in enumerate(remember)
            if 0 <= t - begin < step
        }
        played = _play(turns, allowed * np.uint64(sum(first_bits)), counts, crowd, sum(wanted))
        for area, first in enumerate(first_bits):
            for t in range(len(part)):
                bit = np.uint64(first << t)
                codes[area, begin + t, (played.matched & bit) != 0] = MATCHED
                codes[area, begin + t, (played.ignored & bit) != 0] = IGNORED
        if wanted:
            c, g, hit = (np.concatenate(column) for column in zip(*played.hits, strict=True))
            for wish, (area, at) in wanted.items():
                own = (hit & np.uint64(wish)) != 0
                taken[area, at, c[own]] = g[own]
    return Matched(candidates, codes, taken)


def _compiled_match(
    kernel: engine.Kernel,
    pairs: Pairs,
    regular: NDArray[np.bool_],
    crowd: NDArray[np.bool_],
    thresholds: NDArray[np.float64],
    remember: Sequence[int],
    turn: NDArray[np.int64] | None,
) -> Matched:
    """The same by the compiled kernel."""
    detection = pairs.detection
    begins = np.flatnonzero(np.append(True, detection[1:] != detection[:-1])[: len(detection)])
    candidates = detection[begins]
    code = np.zeros((len(regular), len(thresholds), len(candidates)), np.uint8)
    taken = np.full((len(regular), len(remember), len(candidates)), -1)
    kernel.match(
        np.append(begins, len(detection)),
        pairs.ground_truth,
        pairs.iou,
        np.arange(len(candidates)) if turn is None else np.argsort(turn[candidates], kind="stable"),
        np.ascontiguousarray(regular),
        np.ascontiguousarray(crowd),
        _floors(thresholds),
        np.array(remember, np.int64),
        code,
        taken,
    )
    return Matched(candidates, code, taken)


def _floors(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least IoU of a match at each threshold."""
    return np.minimum(thresholds, 1 - 1e-10)


def favourites(pairs: Pairs) -> Pairs:
    """Of each detection the pair of highest IoU alone, of equal ones the earlier ground truth."""
    order = np.lexsort((pairs.ground_truth, -pairs.iou, pairs.detection))
    first = places_in_runs(pairs.detection[order]) == 0
    kept = order[first]
    return Pairs(pairs.detection[kept], pairs.ground_truth[kept], pairs.iou[kept])


def _pack(flags: NDArray[np.bool_], bits: list[int]) -> NDArray[np.uint64]:
    """(rows, n) flags to n words that hold the bits of each row that is set."""
    words = np.zeros(flags.shape[1], np.uint64)
    for row, bit in zip(flags, bits, strict=True):
        words |= np.where(row, np.uint64(bit), np.uint64(0))
    return words


class _Turns:
    """Pairs in the order of play: by turn of the detection in its cell, then its preference.

    Rounds are slices of `candidate`, `ground_truth` and `iou` in which every cell appears at
    most once, so that a round is a few operations on whole columns.
    """

    def __init__(
        self,
        pairs: Pairs,
        candidate: NDArray[np.int64],
        cell: NDArray[np.int64],
        order_in_cell: NDArray[np.int64] | None,
    ) -> None:
        turn = _turns_in(cell, order_in_cell)
        # Preference: highest IoU first, the later ground truth first among equals.
        by_preference = np.lexsort((-pairs.ground_truth, -pairs.iou, candidate))
        choice = np.empty(len(candidate), np.int64)
        choice[by_preference] = places_in_runs(candidate[by_preference])
        of_pair = turn[candidate]
        order = np.lexsort((choice, of_pair))
        self.candidate = candidate[order]
        self.ground_truth = pairs.ground_truth[order]
        self.iou = pairs.iou[order]
        self.candidates = len(cell)
        self.turns = _rounds(of_pair[order], choice[order])


def _turns_in(
    cell: NDArray[np.int64], order_in_cell: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """0, 1, 2 … inside each cell: in row order, or by another; a cell's rows stand together."""
    if order_in_cell is None:
        return places_in_runs(cell)
    order = np.lexsort((order_in_cell, cell))
    turn = np.empty(len(cell), np.int64)
    turn[order] = places_in_runs(cell[order])
    return turn


def _rounds(turn: NDArray[np.int64], choice: NDArray[np.int64]) -> list[list[slice]]:
    """For each turn the slices of its first, second … choices."""
    new = (turn[1:] != turn[:-1]) | (choice[1:] != choice[:-1])
    begins = np.concatenate([[0], np.flatnonzero(new) + 1])
    ends = np.append(begins[1:], len(turn))
    turns: list[list[slice]] = []
    for begin, end, first in zip(
        begins.tolist(), ends.tolist(), (choice[begins] == 0).tolist(), strict=True
    ):
        if first:
            turns.append([])
        turns[-1].append(slice(begin, end))
    return turns


class _Played(NamedTuple):
    """One word per candidate: matched to a regular, to an ignored one; and who took which.

    `hits` holds candidates, ground truths and the words of the thresholds at which they met.
    """

    matched: NDArray[np.uint64]
    ignored: NDArray[np.uint64]
    hits: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]]


def _play(
    turns: _Turns,
    allowed: NDArray[np.uint64],
    regular: NDArray[np.uint64],
    crowd: NDArray[np.bool_],
    remembered: int,
) -> _Played:
    """Play all rounds; the hits of the bits in `remembered` are kept."""
    matched = np.zeros(turns.candidates, np.uint64)
    ignored = np.zeros(turns.candidates, np.uint64)
    taken = np.zeros(len(regular), np.uint64)
    reusable = np.where(crowd, ~np.uint64(0), np.uint64(0))
    played = _Played(matched, ignored, [])
    for rounds in turns.turns:
        for part in rounds:
            c, g = turns.candidate[part], turns.ground_truth[part]
            hit = allowed[part] & regular[g] & ~taken[g] & ~matched[c]
            matched[c] |= hit
            taken[g] |= hit
            if remembered:
                played.hits.append((c, g, hit & np.uint64(remembered)))
        for part in rounds:
            c, g = turns.candidate[part], turns.ground_truth[part]
            free = ~taken[g] | reusable[g]
            hit = allowed[part] & ~regular[g] & free & ~(matched[c] | ignored[c])
            ignored[c] |= hit
            taken[g] |= hit
    return played
