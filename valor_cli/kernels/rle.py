"""COCO's run lengths: compressed strings or lists of counts in, masks out, and back.

A string holds one number after the other, five bits a character from the lowest (character code
minus 48); bit 32 says that more follow, and the highest of the last five bits is the sign. From the
fourth count on, the number is the difference to the count two before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.shapes import Ints, Masks, joined_masks

ZERO = 48
MORE = 32
SIGN = 16
LONGEST = 7
"""Characters of a number: 35 bits, three more than the reference's counts have."""
CHARACTERS_AT_ONCE = 1 << 17
"""Characters whose columns stay in the processor's cache together."""
LARGEST_SIDE = 1 << 20
"""Longest height or width of an image; the sums stay exact."""

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


def decoded(strings: Sequence[bytes], sizes: Ints) -> tuple[Masks, Bools]:
    """Masks of compressed counts.

    Args:
        strings: n compressed counts.
        sizes: (n, 2) height and width of the images.

    Returns:
        The masks, empty where the string is not valid, and (n,) whether it is: legal characters, a
        whole last number, no negative count, and counts that add up to height times width.
        No side may be longer than `LARGEST_SIDE`.
    """
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    parts = [
        _decoded(b"".join(strings[block]), lengths[block], sizes[block])
        for block in blocks(lengths, CHARACTERS_AT_ONCE)
    ]
    valid = np.concatenate([np.zeros(0, bool), *(valid for _, valid in parts)])
    return joined_masks([masks for masks, _ in parts]), valid


def from_counts(counts: Sequence[Sequence[int]], sizes: Ints) -> tuple[Masks, Bools]:
    """Masks of counts that are not compressed.

    Args:
        counts: n lists of run lengths, the first of background.
        sizes: (n, 2) height and width of the images.

    Returns:
        The masks, empty where the counts are not valid, and (n,) whether they are: none negative,
        and all adding up to height times width.
    """
    lengths = np.fromiter(map(len, counts), np.int64, len(counts))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    try:
        flat = np.fromiter(chain.from_iterable(counts), np.int64, int(starts[-1]))
    except OverflowError:
        within = (count if abs(count) < 1 << 62 else -1 for count in chain.from_iterable(counts))
        flat = np.fromiter(within, np.int64, int(starts[-1]))
    return _checked(flat, starts, sizes, np.ones(len(counts), bool))


def encoded(masks: Masks) -> list[str]:
    """Compressed counts of masks."""
    lengths = np.diff(masks.starts)
    numbers = masks.counts.copy()
    numbers[2:] -= masks.counts[:-2]
    for place in range(3):
        first = masks.starts[:-1][lengths > place] + place
        numbers[first] = masks.counts[first]
    codes, ends = _characters(numbers)
    text = codes.tobytes().decode("ascii")
    at = np.concatenate([[0], ends])[masks.starts].tolist()
    return [text[begin:end] for begin, end in pairwise(at)]


def _decoded(text: bytes, lengths: Ints, sizes: Ints) -> tuple[Masks, Bools]:
    """Masks of the strings of these lengths that stand one after the other in `text`."""
    codes: Bytes = np.frombuffer(text, np.uint8) - np.uint8(ZERO)
    sound = _sound(codes, lengths)
    if not sound.all():
        # What a broken string leaves open would run into the next one.
        codes, lengths = codes[np.repeat(sound, lengths)], np.where(sound, lengths, 0)
    last = np.flatnonzero(codes < MORE)
    starts = np.searchsorted(last, np.concatenate([[0], np.cumsum(lengths)]))
    digits = np.diff(last, prepend=-1)
    sound[np.searchsorted(starts, np.flatnonzero(digits > LONGEST), side="right") - 1] = False
    numbers = _numbers(codes, last, np.minimum(digits, LONGEST))
    return _checked(_summed(numbers, starts), starts, sizes, sound)


def _sound(codes: Bytes, lengths: Ints) -> Bools:
    """Whether each string has legal characters and ends with a whole number."""
    ends = np.cumsum(lengths)
    sound = np.ones(len(lengths), bool)
    some = np.flatnonzero(lengths)
    sound[some] = codes[ends[some] - 1] < MORE
    sound[np.searchsorted(ends, np.flatnonzero(codes >= 2 * MORE), side="right")] = False
    return sound


def _numbers(codes: Bytes, last: Ints, lengths: Ints) -> Ints:
    """The numbers of so many characters that end at `last`."""
    numbers = (codes[last] & (SIGN - 1)).astype(np.int64)
    numbers -= codes[last] & SIGN
    # From the highest five bits down; numbers of fewer characters are ready earlier.
    some = np.flatnonzero(lengths > 1)
    back = 1
    while len(some):
        numbers[some] = (numbers[some] << 5) | (codes[last[some] - back] & (MORE - 1))
        back += 1
        some = some[lengths[some] > back]
    return numbers


def _summed(numbers: Ints, starts: Ints) -> Ints:
    """Counts from differences to the count two before, which begin with the fourth."""
    counts = np.empty_like(numbers)
    for parity in (0, 1):
        sums = np.cumsum(numbers[parity::2])
        # A chain begins at the second count of an object, another one at the third: what stands
        # before them is the sum up to and without them.
        before = np.concatenate([[0], sums])
        second = (starts[:-1] + 1) % 2 == parity
        begins = np.minimum(np.where(second, starts[:-1] + 1, starts[:-1] + 2), starts[1:])
        mine = (starts - parity + 1) // 2
        base = before[(begins - parity + 1) // 2]
        counts[parity::2] = sums - np.repeat(base, np.diff(mine))
    first = starts[:-1][np.diff(starts) > 0]
    counts[first] = numbers[first]
    return counts


def _checked(counts: Ints, starts: Ints, sizes: Ints, sound: Bools) -> tuple[Masks, Bools]:
    """Masks of these counts, emptied where they are not a mask of that size."""
    possible = ((sizes >= 0) & (sizes <= LARGEST_SIDE)).all(axis=1)
    pixels = np.where(possible, sizes[:, 0] * sizes[:, 1], 0)
    valid = sound & possible
    wrong = np.flatnonzero((counts < 0) | (counts > LARGEST_SIDE**2))
    valid[np.searchsorted(starts, wrong, side="right") - 1] = False
    sums = np.concatenate([[0], np.cumsum(counts)])
    valid &= np.diff(sums[starts]) == pixels
    if not valid.all():
        lengths = np.diff(starts)
        kept = np.repeat(valid, lengths)
        lengths = np.where(valid, lengths, 1)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        mended = np.empty(starts[-1], np.int64)
        mended[np.repeat(valid, lengths)] = counts[kept]
        mended[starts[:-1][~valid]] = pixels[~valid]
        counts = mended
    return Masks(counts, starts, sizes), valid


def _characters(numbers: Ints) -> tuple[Bytes, Ints]:
    """The characters of numbers, and where each number's end."""
    magnitude = numbers ^ (numbers >> 63)
    lengths = np.ones(len(numbers), np.int64)
    limit = SIGN
    while (longer := magnitude >= limit).any():
        lengths += longer
        limit <<= 5
    ends = np.cumsum(lengths)
    codes = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    some = np.arange(len(numbers))
    place = 0
    while len(some):
        more = lengths[some] > place + 1
        digit = (numbers[some] >> (5 * place)) & (MORE - 1)
        codes[ends[some] - lengths[some] + place] = digit + MORE * more + ZERO
        some = some[more]
        place += 1
    return codes, ends
