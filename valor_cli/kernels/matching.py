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
        bits = np.uint64(1) << np.arange(areas * len(part), dtype=np.uint64)
        counts = np.repeat(regular, len(part), axis=0)
        allowed = np.tile(turns.iou >= part[:, None], (areas, 1))
        matched, ignored = _play(
            turns, _pack(allowed, bits), _pack(counts, bits), _pack(crowd[None], bits[:1])
        )
        for into, word in ((MATCHED, matched), (IGNORED, ignored)):
            hit = ((word >> np.arange(len(bits), dtype=np.uint64)[:, None]) & np.uint64(1)) != 0
            codes[:, begin : begin + len(part)][hit.reshape(areas, len(part), -1)] = into
    return candidates, codes


def _pack(flags: NDArray[np.bool_], bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(bits, n) flags to n words."""
    words = np.where(flags, bits[:, None], np.uint64(0))
    return np.asarray(np.bitwise_or.reduce(words, axis=0))


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
    crowd: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Play all rounds; one word per candidate: matched to a regular, to an ignored one."""
    everything = ~np.uint64(0)
    matched = np.zeros(turns.candidates, np.uint64)
    ignored = np.zeros(turns.candidates, np.uint64)
    taken = np.zeros(len(regular), np.uint64)
    reusable = np.where(crowd != 0, everything, np.uint64(0))
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
