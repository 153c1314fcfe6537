"""Longest common subsequence: its length, matched positions, and the union over lines.

Rows of the dynamic programming table are bit vectors that advance by one addition: M. Crochemore
et al., A fast and practical bit-vector algorithm for the longest common subsequence problem,
Information Processing Letters 80(6), 2001; H. Hyyrö, Bit-parallel LCS-length computation
revisited, AWOCA 2004.

A word of a reference counts if it is in the longest common subsequence of its line with any line
of the hypothesis. Thousands of line pairs are processed together: a row of the table of lengths is
one 64-bit number per pair, as in `common_subsequence`. Pairs with a longer line are processed
singly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.text.token_codes import Coded, Ints

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
    """Positions in the reference of its longest common subsequence with any of the hypotheses.

    Of several it is the one that rouge-score reads out of its table from the end: equal elements
    are taken; else it goes back in the hypothesis if that alone keeps the length, else in the
    reference.
    Time grows with the product of both lengths, about 1 s for two of 50,000; memory with their
    sum, about 400 bytes an element.
    """
    blocks = _blocks(reference)
    taken: set[int] = set()
    for hypothesis in set(map(tuple, hypotheses)):
        taken.update(_positions(blocks, hypothesis))
    return sorted(taken)


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


Bits = NDArray[np.uint64] | NDArray[np.uint32]
Codes = NDArray[np.int32]

WIDEST: Final = 64
"""Words of a reference's line that is looked at side by side with others."""

LONGEST: Final = 512
"""Words of a hypothesis' line of which the same is true."""

_NARROW: Final = 32
"""Words of a reference's line for which 32 bits do."""

_LANES: Final = 4096
"""Pairs of lines that are looked at side by side, so that what they need stays in the cache."""

_AT_ONCE: Final = 1 << 16
"""Pairs of lines that are listed at once, or those of one line."""


def union_words(hypotheses: Coded, references: Coded, paired: Ints, chosen: Ints) -> Coded:
    """Words of each reference in the union of common subsequences with its hypothesis.

    Of several longest common subsequences it is the one that `union_positions` finds. Time grows
    with the product of how many lines both texts have.

    Args:
        hypotheses: n texts.
        references: r texts, numbered by the same `WordCodes`.
        paired: (r,) the hypothesis of each reference.
        chosen: The references to look at; of others no word is found.

    Returns:
        r texts, not in lines.
    """
    own, right = _lines(hypotheses), _lines(references)
    looked_at = right.taken(np.isin(right.text, chosen))
    found = [
        looked_at.start[line] + position
        for line, position in _counted_words(own, looked_at, paired[looked_at.text])
    ]
    places = np.sort(np.concatenate([np.empty(0, np.int64), *found]))
    # A line may be found narrow beside one line and wide beside another. np.unique, which makes a
    # set, takes eighty times as long.
    places = places[np.diff(places, prepend=-1) > 0]
    starts = np.searchsorted(places, references.starts)
    return Coded(references.codes[places], starts, np.empty(0, np.int64))


class _Lines(NamedTuple):
    """Lines of texts: of each its text, where its words begin, how many there are; all words."""

    text: Ints
    start: Ints
    length: Ints
    codes: Codes

    def taken(self, chosen: NDArray[np.bool_] | Ints) -> _Lines:
        """Some of the lines."""
        return _Lines(self.text[chosen], self.start[chosen], self.length[chosen], self.codes)

    def words(self, line: int) -> list[int]:
        """The words of a line."""
        start = int(self.start[line])
        found: list[int] = self.codes[start : start + int(self.length[line])].tolist()
        return found

    def columns(self, lines: Ints, padding: int) -> Codes:
        """(w, l) the words of lines, which end together in the last row; padding before them."""
        width = int(self.length[lines].max())
        place = (self.start + self.length)[lines] - width + np.arange(width)[:, None]
        inside = place >= self.start[lines]
        return np.where(inside, self.codes[np.maximum(place, 0)], np.int32(padding))


def _lines(texts: Coded) -> _Lines:
    ends = np.append(texts.lines, len(texts.codes))
    text = np.searchsorted(texts.starts, texts.lines, "right") - 1
    return _Lines(text, texts.lines, np.diff(ends), texts.codes.astype(np.int32))


def _counted_words(own: _Lines, right: _Lines, text: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Lines of the references, and positions in them, that count; each once.

    Args:
        own: All lines of the hypotheses.
        right: Lines of references.
        text: (l,) the hypothesis of each of these.
    """
    first = np.searchsorted(own.text, text)
    counts = np.searchsorted(own.text, text, "right") - first
    batch = np.cumsum(counts) // _AT_ONCE
    for lines in np.split(np.arange(len(text)), np.flatnonzero(np.diff(batch)) + 1):
        times = counts[lines]
        line = np.repeat(lines, times)
        began = np.repeat(np.cumsum(times) - times, times)
        other = first[line] + np.arange(len(line)) - began
        wide = (right.length[line] > WIDEST) | (own.length[other] > LONGEST)
        yield _side_by_side(own, right, line[~wide], other[~wide])
        yield from _one_by_one(own, right, line[wide], other[wide])


def _one_by_one(own: _Lines, right: _Lines, line: Ints, other: Ints) -> Iterator[tuple[Ints, Ints]]:
    new = np.flatnonzero(np.diff(line, prepend=-1))
    for at, others in zip(line[new].tolist(), np.split(other, new[1:]), strict=False):
        taken = union_positions(right.words(at), [own.words(one) for one in others.tolist()])
        yield np.full(len(taken), at), np.array(taken, np.int64)


def _side_by_side(own: _Lines, right: _Lines, line: Ints, other: Ints) -> tuple[Ints, Ints]:
    """As `_counted_words`, of pairs of lines, ordered by that of the reference."""
    lines, at = np.unique(line, return_inverse=True)
    taken = np.zeros(len(lines), np.uint64)
    order = np.lexsort((own.length[other], right.length[line]))
    for start in range(0, len(order), _LANES):
        lanes = order[start : start + _LANES]
        bits = _matched_bits(right.columns(line[lanes], -1), own.columns(other[lanes], -2))
        width = right.length[line[lanes]]
        np.bitwise_or.at(taken, at[lanes], bits >> (width.max() - width).astype(np.uint64))
    which, position = np.nonzero(taken[:, None] >> np.arange(WIDEST, dtype=np.uint64) & 1)
    return lines[which], position


def _matched_bits(reference: Codes, hypothesis: Codes) -> Bits:
    """(l,) which words of a line are in the common subsequence: bit 0 is that of row 0.

    Args:
        reference: (w, l) the words of lines, a line in each column.
        hypothesis: (v, l) those of the lines that they are compared with.
    """
    # Of narrow lines twice as many fit the cache.
    bits = np.dtype(np.uint32 if len(reference) <= _NARROW else np.uint64)
    marks = np.zeros(hypothesis.shape, bits)
    mark = np.empty_like(marks)
    for row, words in enumerate(reference):
        np.left_shift(hypothesis == words, bits.type(row), out=mark)
        marks |= mark
    stops = np.empty_like(marks)
    level = ~np.zeros_like(marks[0])
    for mark, stop in zip(marks, stops, strict=True):
        matched = level & mark
        level = (level + matched) | (level ^ matched)
        np.bitwise_or(mark, ~level, out=stop)
    return _bits_read_back(marks, stops, len(reference)).astype(np.uint64, copy=False)


def _bits_read_back(marks: Bits, stops: Bits, width: int) -> Bits:
    """Read subsequences out from their ends; as `common_subsequence` does for one pair."""
    taken: Bits = np.zeros_like(marks[0])
    below = ~taken
    shifts = [shift for shift in (1, 2, 4, 8, 16, 32) if shift < width]
    for mark, stop in zip(marks[::-1], stops[::-1], strict=True):
        reach = stop & below
        for shift in shifts:
            reach |= reach >> shift
        hit = (reach ^ (reach >> 1)) & mark
        taken |= hit
        below = reach ^ hit
    return taken
