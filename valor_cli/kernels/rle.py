"""COCO's run lengths: compressed strings or lists of counts in, masks out, and back.

A string holds one number after the other, five bits a character from the lowest (character code
minus 48); bit 32 says that more follow, and the highest of the last five bits is the sign. From the
fourth count on, the number is the difference to the count two before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.blocks import blocks
from valor_cli.kernels.masks import every_second, grounds
from valor_cli.kernels.shapes import Ints, Masks

ZERO = 48
MORE = 32
SIGN = 16
LONGEST = 7
"""Characters of a number: 35 bits, three more than the reference's counts have."""
CHARACTERS_AT_ONCE = COUNTS_AT_ONCE = 1 << 17
"""Characters, or counts, whose columns stay in the processor's cache together."""
LARGEST_SIDE = 1 << 20
"""Longest height or width of an image; the sums stay exact."""
SHORT, SHORT_PIXELS = 6, 1 << 30
"""Characters of a number, and pixels of an image, up to which 32 bits do: half the time of 64.

A number then changes counts by 2 ** 29 at most. So the first that leaves 0 to 2 ** 30 is seen to,
and no count that ran over before passes for one of a mask.
"""

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Numbers = NDArray[np.signedinteger[Any]]


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
    return decoded_text(np.frombuffer(b"".join(strings), np.uint8), lengths, sizes)


def decoded_text(letters: Bytes, lengths: Ints, sizes: Ints) -> tuple[Masks, Bools]:
    """Masks of compressed counts that stand one after the other.

    Args:
        letters: The characters of all strings.
        lengths: (n,) how many each string has.
        sizes: As for `decoded`, which says more.
    """
    if engine.compiled is not None:
        return _compiled_masks(engine.compiled, letters, lengths, sizes)
    sound = _sound(letters, lengths)
    if not sound.all():
        # What a broken string leaves open would run into the next one.
        letters, lengths = letters[np.repeat(sound, lengths)], np.where(sound, lengths, 0)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    found = _numbers(letters, ends, np.int32 if _narrow(sizes) else np.int64)
    if found.longest > SHORT and found.counts.dtype == np.int32:
        found = _numbers(letters, ends, np.int64)
    sound[found.too_long] = False
    return _checked(_summed(found.counts, found.starts), found.starts, sizes, sound)


def _compiled_masks(
    kernel: engine.Kernel, letters: Bytes, lengths: Ints, sizes: Ints
) -> tuple[Masks, Bools]:
    """The same of the compiled kernel."""
    n, sizes = len(lengths), np.ascontiguousarray(sizes)
    # A count has one character or more, and a string that is not valid one count.
    counts: Numbers = np.empty(len(letters) + n, np.int32 if _narrow(sizes) else np.int64)
    starts, foreground = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    valid = np.empty(n, bool)
    done = kernel.decoded_counts(letters, lengths, sizes, counts, starts, foreground, valid)
    return Masks(counts[:done], starts, sizes, foreground), valid


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
    numbers = masks.counts.astype(np.int64)
    numbers[2:] -= masks.counts[:-2]
    for place in range(3):
        first = masks.starts[:-1][lengths > place] + place
        numbers[first] = masks.counts[first]
    codes, ends = _characters(numbers)
    text = codes.tobytes().decode("ascii")
    at = np.concatenate([[0], ends])[masks.starts].tolist()
    return [text[begin:end] for begin, end in pairwise(at)]


def _sound(letters: Bytes, lengths: Ints) -> Bools:
    """Whether each string has legal characters and ends with a whole number."""
    ends = np.cumsum(lengths)
    sound = np.ones(len(lengths), bool)
    some = np.flatnonzero(lengths)
    sound[some] = letters[ends[some] - 1] < ZERO + MORE
    if letters.min(initial=ZERO) < ZERO or letters.max(initial=ZERO) >= ZERO + 2 * MORE:
        foreign = np.flatnonzero((letters < ZERO) | (letters >= ZERO + 2 * MORE))
        sound[np.searchsorted(ends, foreign, side="right")] = False
    return sound


def _narrow(sizes: Ints) -> bool:
    """Whether all images have few enough pixels for 32 bits, and sides that are none at all."""
    return bool((np.abs(sizes) <= LARGEST_SIDE).all()) and bool(
        (sizes[:, 0] * sizes[:, 1] <= SHORT_PIXELS).all()
    )


class _Numbers(NamedTuple):
    """What strings say.

    Attributes:
        counts: (c,) their numbers: counts, or differences of counts.
        starts: (n + 1,) where those of each string begin.
        longest: The most characters of a number.
        too_long: Strings in which one has more than `LONGEST`.
    """

    counts: Numbers
    starts: Ints
    longest: int
    too_long: Ints


def _numbers(letters: Bytes, ends: Ints, width: type[np.signedinteger[Any]]) -> _Numbers:
    """The numbers of sound strings.

    Args:
        letters: The characters of all strings.
        ends: (n + 1,) where each string begins, and the last one's end.
        width: Type of the numbers; larger ones run over.
    """
    # No more numbers than characters; what is not written costs nothing.
    numbers: Numbers = np.empty(len(letters), width)
    starts = np.zeros(len(ends), np.int64)
    too_long: list[Ints] = [np.zeros(0, np.int64)]
    done, longest = 0, 1
    for block in blocks(np.diff(ends), CHARACTERS_AT_ONCE):
        own = ends[block.start : block.stop + 1] - ends[block.start]
        codes = letters[ends[block.start] : ends[block.stop]] - np.uint8(ZERO)
        longer = np.flatnonzero(codes >= MORE)
        begins = own - np.searchsorted(longer, own)
        part, digits, at = _decoded(codes, longer, width)
        longest = max(longest, int(digits.max(initial=0)) + 1)
        broken = np.searchsorted(begins, at[digits >= LONGEST], side="right") - 1
        too_long.append(block.start + broken)
        starts[block.start + 1 : block.stop + 1] = begins[1:] + done
        numbers[done : done + len(part)] = part
        done += len(part)
    return _Numbers(numbers[:done], starts, longest, np.concatenate(too_long))


def _decoded(
    codes: Bytes, longer: Ints, width: type[np.signedinteger[Any]]
) -> tuple[Numbers, Ints, Ints]:
    """Numbers; of those of several characters, how many these are less one, and which they are.

    Args:
        codes: The characters less `ZERO`.
        longer: Where those are that more follow.
        width: Type of the numbers.
    """
    # Nine in ten numbers have one character, so all are read as if they had.
    signed = ((codes & np.uint8(MORE - 1)) ^ np.uint8(SIGN)).view(np.int8) - np.int8(SIGN)
    numbers: Numbers = signed[codes < MORE].astype(width)
    # All characters but the last stand in front of their number's.
    number = longer - np.arange(len(longer))
    begins = np.flatnonzero(np.diff(number, prepend=-1))
    digits = np.diff(np.append(begins, len(longer)))
    # From the highest five bits down; numbers of fewer characters are ready earlier.
    low = (codes[longer] - np.uint8(MORE)).astype(width)
    last = begins + digits - 1
    for back in range(min(int(digits.max(initial=0)), LONGEST - 1)):
        some = np.flatnonzero(digits > back)
        at = number[begins[some]]
        numbers[at] = (numbers[at] << 5) | low[last[some] - back]
    return numbers, digits, number[begins]


def _summed(numbers: Numbers, starts: Ints) -> Numbers:
    """Counts, in place, from differences to the count two before, which begin with the fourth."""
    first = starts[:-1][np.diff(starts) > 0]
    firsts = numbers[first]
    # A chain begins at the second count of an object, another one at the third.
    second, third = (np.minimum(starts[:-1] + place, starts[1:]) for place in (1, 2))
    chains = [np.where(starts[:-1] & 1 == parity, third, second) for parity in (0, 1)]
    for block in blocks(np.diff(starts), COUNTS_AT_ONCE):
        for parity, begins in enumerate(chains):
            part, at = every_second(numbers, starts, block, parity)
            sums = np.zeros(len(part) + 1, numbers.dtype)
            np.cumsum(part, dtype=numbers.dtype, out=sums[1:])
            # What stands before a chain is the sum up to and without it.
            base = sums[(begins[block] + 1 - parity) // 2 - at[0]]
            np.subtract(sums[1:], np.repeat(base, np.diff(at)), out=part)
    numbers[first] = firsts
    return numbers


def _checked(counts: Numbers, starts: Ints, sizes: Ints, sound: Bools) -> tuple[Masks, Bools]:
    """Masks of these counts, emptied where they are not a mask of that size."""
    possible = ((sizes >= 0) & (sizes <= LARGEST_SIDE)).all(axis=1)
    pixels = np.where(possible, sizes[:, 0] * sizes[:, 1], 0)
    valid = sound & possible
    most = LARGEST_SIDE**2 if counts.dtype == np.int64 else SHORT_PIXELS
    if counts.min(initial=0) < 0 or counts.max(initial=0) > most:
        wrong = np.flatnonzero((counts < 0) | (counts > most))
        valid[np.searchsorted(starts, wrong, side="right") - 1] = False
    background, foreground = grounds(counts, starts)
    valid &= background + foreground == pixels
    if not valid.all():
        lengths = np.diff(starts)
        kept = np.repeat(valid, lengths)
        lengths = np.where(valid, lengths, 1)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        mended = np.empty(starts[-1], np.int64)
        mended[np.repeat(valid, lengths)] = counts[kept]
        mended[starts[:-1][~valid]] = pixels[~valid]
        counts, foreground = mended, np.where(valid, foreground, 0)
    counts = counts.astype(np.int32 if _narrow(sizes) else np.int64, copy=False)
    return Masks(counts, starts, sizes, foreground), valid


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
