"""Encode and decode COCO run-length masks.

A compressed string holds numbers of five bits per character, lowest first (character code minus
48); bit 32 marks continuation, and the highest of the last five bits is the sign. From the fourth
count on, a number is the difference to the count two before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import offsets, summed
from valor_cli.kernels.geometry.masks import foreground_pixels
from valor_cli.kernels.geometry.shapes import Ints, Masks

ZERO = 48
MORE = 32
SIGN = 16
LONGEST = 7
"""Characters of a number: 35 bits, three more than the reference's counts have."""
LARGEST_SIDE = 1 << 20
"""Longest height or width of an image; the sums stay exact."""
SHORT_PIXELS = 1 << 30
"""Pixels of an image up to which 32 bits hold its counts: half the time of 64."""

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
    """Masks from concatenated compressed counts.

    Args:
        letters: The characters of all strings.
        lengths: (n,) how many each string has.
        sizes: As for `decoded`, which says more.
    """
    if engine.compiled is not None:
        return _compiled_masks(engine.compiled, letters, lengths, sizes)
    ends = np.cumsum(lengths).tolist()
    # One character a byte, so that one that is no ASCII is not legal either.
    text = letters.tobytes().decode("latin-1")
    counts = [uncompressed(text[a:b]) for a, b in pairwise([0, *ends])]
    return from_counts([[-1] if one is None else one for one in counts], sizes)


def uncompressed(text: str, longest: int = LONGEST) -> list[int] | None:
    """The counts of a string, which may be negative; None where it is not legal.

    Args:
        text: The string.
        longest: Characters of a number, at most.
    """
    # Characters with the bit that says that more follow, then one without.
    numbers = re.findall(f"[P-o]{{0,{longest - 1}}}[0-O]", text)
    if sum(map(len, numbers)) != len(text):
        return None
    changes = list(map(_number, numbers))
    counts = changes[:1] * len(changes)
    counts[1::2] = accumulate(changes[1::2])
    counts[2::2] = accumulate(changes[2::2])
    return counts


@lru_cache(1 << 16)
def _number(characters: str) -> int:
    codes = [ord(character) - ZERO for character in characters]
    value = sum((code & (MORE - 1)) << 5 * place for place, code in enumerate(codes))
    return value - (1 << 5 * len(codes)) if codes[-1] & SIGN else value


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
    """Masks from uncompressed counts.

    Args:
        counts: n lists of run lengths, the first of background.
        sizes: (n, 2) height and width of the images.

    Returns:
        The masks, empty where the counts are not valid, and (n,) whether they are: none negative,
        and all adding up to height times width.
    """
    lengths = np.fromiter(map(len, counts), np.int64, len(counts))
    starts = offsets(lengths)
    try:
        flat = np.fromiter(chain.from_iterable(counts), np.int64, int(starts[-1]))
    except OverflowError:
        within = (count if abs(count) < 1 << 62 else -1 for count in chain.from_iterable(counts))
        flat = np.fromiter(within, np.int64, int(starts[-1]))
    return _checked(flat, starts, sizes)


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


def _narrow(sizes: Ints) -> bool:
    """Whether all images have few enough pixels for 32 bits, and sides that are none at all."""
    return bool((np.abs(sizes) <= LARGEST_SIDE).all()) and bool(
        (sizes[:, 0] * sizes[:, 1] <= SHORT_PIXELS).all()
    )


def _checked(counts: Ints, starts: Ints, sizes: Ints) -> tuple[Masks, Bools]:
    """Masks of these counts, emptied where they are not a mask of that size."""
    possible = ((sizes >= 0) & (sizes <= LARGEST_SIDE)).all(axis=1)
    pixels = np.where(possible, sizes[:, 0] * sizes[:, 1], 0)
    owner = np.repeat(np.arange(len(sizes)), np.diff(starts))
    wrong = (counts < 0) | (counts > LARGEST_SIDE**2)
    counts = np.where(wrong, 0, counts)
    valid = possible & (summed(owner, counts, len(sizes)) == pixels)
    valid[owner[wrong]] = False
    foreground = foreground_pixels(counts, starts)
    if not valid.all():
        lengths = np.diff(starts)
        kept = np.repeat(valid, lengths)
        lengths = np.where(valid, lengths, 1)
        starts = offsets(lengths)
        filled = np.empty(starts[-1], np.int64)
        filled[np.repeat(valid, lengths)] = counts[kept]
        filled[starts[:-1][~valid]] = pixels[~valid]
        counts, foreground = filled, np.where(valid, foreground, 0)
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
