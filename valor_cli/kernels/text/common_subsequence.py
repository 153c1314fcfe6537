"""Longest common subsequence: its length, or the matched positions.

Rows of the dynamic programming table are bit vectors that advance by one addition: M. Crochemore
et al., A fast and practical bit-vector algorithm for the longest common subsequence problem,
Information Processing Letters 80(6), 2001; H. Hyyrö, Bit-parallel LCS-length computation
revisited, AWOCA 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

BLOCK: Final = 2048
"""Elements of a sequence whose table is held at once: that bounds memory."""

Sequences = Sequence[Sequence[Any]]


def common_lengths(ones: Sequences, others: Sequences) -> list[int]:
    """The length of the longest common subsequence of each pair.

    Takes time in proportion to the product of the lengths over 64: 0.4 s for two of 50,000.
    """
    from rapidfuzz.distance import LCSseq

    similarity = LCSseq.similarity
    return [similarity(one, other) for one, other in zip(ones, others, strict=True)]


def union_positions(reference: Sequence[int], hypotheses: Iterable[Sequence[int]]) -> list[int]:
    """Positions in the reference of the union of its `common_positions` with all hypotheses."""
    blocks = _blocks(reference)
    taken: set[int] = set()
    for hypothesis in set(map(tuple, hypotheses)):
        taken.update(_positions(blocks, hypothesis))
    return sorted(taken)


def common_positions(reference: Sequence[int], hypothesis: Sequence[int]) -> list[int]:
    """Positions in the reference of a longest common subsequence, in descending order.

    Of several it is the one that rouge-score reads out of its table from the end: equal elements
    are taken; else it goes back in the hypothesis if that alone keeps the length, else in the
    reference.
    Time grows with the product of both lengths, about 1 s for two of 50,000; memory with their
    sum, about 400 bytes an element.
    """
    return _positions(_blocks(reference), hypothesis)


class _Block(NamedTuple):
    """A part of the reference: where it begins, its length, and by word the bits where it is."""

    start: int
    width: int
    masks: dict[int, int]


def _blocks(reference: Sequence[int]) -> list[_Block]:
    found = []
    for start in range(0, len(reference), BLOCK):
        part = reference[start : start + BLOCK]
        masks: dict[int, int] = {}
        for at, word in enumerate(part):
            masks[word] = masks.get(word, 0) | 1 << at
        found.append(_Block(start, len(part), masks))
    return found


def _positions(blocks: Sequence[_Block], hypothesis: Sequence[int]) -> list[int]:
    found: list[int] = []
    if len(blocks) == 1:
        marks = _marks(blocks[0], hypothesis)
        if any(marks):
            _read_back(blocks[0], marks, _stops(blocks[0], marks), found)
        return found
    carries = [bytearray(len(hypothesis))]
    for block in blocks[:-1]:
        carries.append(_advance(block, _marks(block, hypothesis), carries[-1])[1])
    column = len(hypothesis)
    for block, carry in zip(reversed(blocks), reversed(carries), strict=False):
        marks = _marks(block, hypothesis[:column])
        column = _read_back(block, marks, _advance(block, marks, carry)[0], found)
    return found


def _marks(block: _Block, hypothesis: Sequence[int]) -> list[int]:
    """For each element of the hypothesis, where in the block it stands, as bits."""
    mask = block.masks.get
    return [mask(word, 0) for word in hypothesis]


def _stops(block: _Block, marks: Sequence[int]) -> list[int]:
    """For each element of the hypothesis, where in the block it stands or the length rises."""
    level = full = (1 << block.width) - 1
    rise = 0
    stops = []
    for mark in marks:
        if mark:
            matched = level & mark
            level = (level + matched | level ^ matched) & full
            rise = level ^ full
        stops.append(mark | rise)
    return stops


def _advance(
    block: _Block, marks: Sequence[int], carries: bytearray
) -> tuple[list[int], bytearray]:
    """The `_stops` of a block that stands behind another, and what it carries on.

    Args:
        block: A part of the reference.
        marks: As `_stops` takes them.
        carries: For each mark, whether the length rises with it at the end of the block before.
    """
    level = full = (1 << block.width) - 1
    rise = 0
    stops = []
    onward = bytearray(len(marks))
    for column, (mark, carry) in enumerate(zip(marks, carries, strict=False)):
        if mark or carry:
            matched = level & mark
            added = level + matched + carry
            onward[column] = added >> block.width
            level = (added | level ^ matched) & full
            rise = level ^ full
        stops.append(mark | rise)
    return stops, onward


def _read_back(block: _Block, marks: list[int], stops: list[int], found: list[int]) -> int:
    """Read a subsequence out of a block from its end, and say at which column it is left."""
    below = (1 << block.width) - 1
    for column in range(len(marks) - 1, -1, -1):
        # Rows where nothing matches and nothing rises are gone back over.
        stop = stops[column] & below
        if not stop:
            return column + 1
        row = stop.bit_length() - 1
        if marks[column] >> row & 1:
            found.append(block.start + row)
            below = (1 << row) - 1
        else:
            below = (2 << row) - 1
    return 0
