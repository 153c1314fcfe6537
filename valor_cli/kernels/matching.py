"""Greedy one-to-one matching of ranked detections to ground truths, many rules at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.boxes import Pairs

UNMATCHED, MATCHED, IGNORED = 0, 1, 2
WORD = 64
"""Combinations of area and threshold decided together: a bit each of one machine word."""


def match(
    pairs: Pairs,
    cell: NDArray[np.int64],
    regular: NDArray[np.bool_],
    crowd: NDArray[np.bool_],
    thresholds: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
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

    Returns:
        candidates: (c,) rows of the detections that overlap anything.
        codes: (areas, t, c) uint8: UNMATCHED, MATCHED (to a regular one) or IGNORED.
    """
    candidates, candidate = np.unique(pairs.detection, return_inverse=True)
    areas = len(regular)
    codes = np.zeros((areas, len(thresholds), len(candidates)), np.uint8)
    if not len(candidates):
        return candidates, codes
    turns = _Turns(pairs, candidate, cell[candidates])
    floor = np.minimum(thresholds, 1 - 1e-10)
    step = max(WORD // areas, 1)
    for begin in range(0, len(thresholds), step):
        part = floor[begin : begin + step]
        # Bit a * len(part) + t of a word stands for area a and threshold t.
        first_bits = [1 << (area * len(part)) for area in range(areas)]
        allowed = _pack(turns.iou >= part[:, None], [1 << t for t in range(len(part))])
        counts = _pack(regular, [bit * ((1 << len(part)) - 1) for bit in first_bits])
        matched, ignored = _play(turns, allowed * np.uint64(sum(first_bits)), counts, crowd)
        for area, first in enumerate(first_bits):
            for t in range(len(part)):
                bit = np.uint64(first << t)
                codes[area, begin + t, (matched & bit) != 0] = MATCHED
                codes[area, begin + t, (ignored & bit) != 0] = IGNORED
    return candidates, codes


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

    def __init__(self, pairs: Pairs, candidate: NDArray[np.int64], cell: NDArray[np.int64]) -> None:
        turn = _position_in_run(cell)
        # Preference: highest IoU first, the later ground truth first among equals.
        by_preference = np.lexsort((-pairs.ground_truth, -pairs.iou, candidate))
        choice = np.empty(len(candidate), np.int64)
        choice[by_preference] = _position_in_run(candidate[by_preference])
        of_pair = turn[candidate]
        order = np.lexsort((choice, of_pair))
        self.candidate = candidate[order]
        self.ground_truth = pairs.ground_truth[order]
        self.iou = pairs.iou[order]
        self.candidates = len(cell)
        self.turns = _rounds(of_pair[order], choice[order])


def _position_in_run(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2 … inside each run of equal neighbours."""
    start = np.concatenate([[True], values[1:] != values[:-1]])
    begins = np.flatnonzero(start)
    return np.arange(len(values)) - np.repeat(begins, np.diff(np.append(begins, len(values))))


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


def _play(
    turns: _Turns,
    allowed: NDArray[np.uint64],
    regular: NDArray[np.uint64],
    crowd: NDArray[np.bool_],
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Play all rounds; one word per candidate: matched to a regular, to an ignored one."""
    matched = np.zeros(turns.candidates, np.uint64)
    ignored = np.zeros(turns.candidates, np.uint64)
    taken = np.zeros(len(regular), np.uint64)
    reusable = np.where(crowd, ~np.uint64(0), np.uint64(0))
    for rounds in turns.turns:
        for part in rounds:
            c, g = turns.candidate[part], turns.ground_truth[part]
            hit = allowed[part] & regular[g] & ~taken[g] & ~matched[c]
            matched[c] |= hit
            taken[g] |= hit
        for part in rounds:
            c, g = turns.candidate[part], turns.ground_truth[part]
            free = ~taken[g] | reusable[g]
            hit = allowed[part] & ~regular[g] & free & ~(matched[c] | ignored[c])
            ignored[c] |= hit
            taken[g] |= hit
    return matched, ignored
