"""Read fields of a text at given positions as words or fixed-width text."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

BEFORE: Final = 32
AFTER: Final = 512
"""Words may be read from that many bytes before a text, to that many behind it."""


class FieldText:
    """A text whose bytes can be read eight at a time from any position.

    The words from all positions are laid out once: gathering from them is four times as fast as
    from overlapping views of the bytes, for eight times their memory.

    Attributes:
        bytes: (m,) uint8, the text.
    """

    __slots__ = ("_words", "bytes")

    def __init__(self, content: bytes) -> None:
        padded = b"".join([bytes(BEFORE), content, bytes(AFTER)])
        self.bytes: NDArray[np.uint8] = np.frombuffer(padded, np.uint8, len(content), BEFORE)
        overlapping: Words = np.ndarray(
            (len(padded) - 7,), np.dtype("<u8"), buffer=padded, strides=(1,)
        )
        self._words = np.ascontiguousarray(overlapping, np.uint64)

    def eight(self, at: Ints) -> Words:
        """The eight bytes from each position, little-endian; 0 past the end."""
        return self._words.take(at + BEFORE)

    def positions(self, *wanted: int) -> Ints:
        """Positions of any of these bytes, in ascending order."""
        first, *others = wanted
        found = self.bytes == first
        for byte in others:
            found |= self.bytes == byte
        return np.flatnonzero(found)

    def field(self, start: int, end: int) -> bytes:
        """The bytes of one field."""
        return self.bytes[start:end].tobytes()


def field_words(text: FieldText, start: Ints, length: Ints, longest: int) -> list[Words]:
    """The bytes of fields as words, zero-padded.

    Args:
        text: The text.
        start: (n,) where each field begins.
        length: (n,) bytes of each.
        longest: The largest of these, at most `AFTER`.

    Returns:
        (n,) each: the first eight bytes of the fields, the next eight, ….
    """
    words = []
    for first in range(0, max(longest, 1), 8):
        beyond = _bits(8 - np.clip(length - first, 0, 8))
        words.append((text.eight(start + first) << beyond) >> beyond)
    return words


def fixed_width(text: FieldText, start: Ints, end: Ints) -> NDArray[np.bytes_]:
    """Fields as an array of kind `S`.

    Args:
        text: The text.
        start, end: (n,) where each field begins and ends; at most `AFTER` bytes long.
    """
    length = end - start
    words = np.stack(field_words(text, start, length, int(length.max(initial=0))), axis=1)
    laid_out = np.ascontiguousarray(words, np.dtype("<u8"))
    return laid_out.view(f"S{8 * words.shape[1]}")[:, 0]


def _bits(count: Ints) -> Words:
    """How far to shift for so many bytes. Words shifted by all their 64 bits are 0 in NumPy."""
    return (count << 3).view(np.uint64)
