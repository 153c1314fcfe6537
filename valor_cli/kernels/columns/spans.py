"""Read spans of a text as numbers, codes and fixed-width columns.

A span is where a field begins and ends in a UTF-8 text. The plain versions work where no kernel is
compiled.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels import engine

Text: TypeAlias = bytes | bytearray
Spans = NDArray[np.int32]
Bools = NDArray[np.bool_]

_WIDEST: Final = 64
"""Bytes of texts that are always stored at equal width, and how uneven longer ones may be."""
_UNEVEN: Final = 4


class Vocabulary:
    """Distinct names, numbered from 0 in order of first appearance.

    Names are kept one behind the other, and found by their hash where a kernel is compiled.
    """

    __slots__ = ("_codes", "_count", "_ends", "_letters", "_slots")

    def __init__(self) -> None:
        self._codes: dict[bytes, int] = {}
        self._count = 0
        self._letters = np.zeros(1 << 12, np.uint8)
        self._ends = np.zeros((1 << 8) + 1, np.int64)
        self._slots = np.zeros(1 << 9, np.int32)

    def __len__(self) -> int:
        return self._count if engine.compiled is not None else len(self._codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by code."""
        return tuple(name.decode() for name in self._bytes())

    def code(self, name: bytes) -> int:
        """The code of a name, added if new."""
        spans = np.array([0], np.int32), np.array([len(name)], np.int32)
        return int(self.codes(name, *spans)[0])

    def forget(self, kept: int) -> None:
        """Drop all names except the first `kept`."""
        if kept == len(self):
            return
        names = self._bytes()[:kept]
        self._codes, self._count = {}, 0
        self._slots[:] = 0
        lengths = np.cumsum([0, *map(len, names)]).astype(np.int32)
        self.codes(b"".join(names), lengths[:-1], lengths[1:])

    def codes(self, text: Text, start: Spans, end: Spans) -> NDArray[np.int64]:
        """(n,) codes of the names in spans; new ones are added in order."""
        if engine.compiled is None:
            known, spans = self._codes, zip(start.tolist(), end.tolist(), strict=True)
            names = [bytes(text[begin:stop]) for begin, stop in spans]
            return np.array([known.setdefault(name, len(known)) for name in names], np.int64)
        code, at = np.empty(len(start), np.int64), 0
        start, end = _flat(start, end)
        while True:
            self._count, at = engine.compiled.coded(
                text, start, end, code, self._letters, self._ends, self._slots, self._count, at
            )
            if at == len(code):
                return code
            self._grow(int(end[at] - start[at]))

    def _bytes(self) -> list[bytes]:
        if engine.compiled is None:
            return list(self._codes)
        ends = self._ends[: self._count + 1].tolist()
        return [self._letters[begin:end].tobytes() for begin, end in pairwise(ends)]

    def _grow(self, length: int) -> None:
        """Make room for twice as many names, and for one of a length."""
        names, kept = self._bytes(), self._letters
        self._letters = np.zeros(2 * len(kept) + length, np.uint8)
        self._letters[: len(kept)] = kept
        ends = np.zeros(2 * len(self._ends) - 1, np.int64)
        ends[: len(self._ends)] = self._ends
        count, self._ends, self._count = self._count, ends, 0
        self._slots = np.zeros(2 * len(self._slots), np.int32)
        lengths = np.cumsum([0, *map(len, names)]).astype(np.int32)
        if count:
            self.codes(b"".join(names), lengths[:-1], lengths[1:])


def decimals(text: Text, start: Spans, end: Spans) -> tuple[NDArray[np.float64], Bools]:
    """Read numbers as Python's `float` does, blanks around them allowed, underscores not.

    Returns:
        value: (n,) the numbers, NaN for others.
        read: (n,) which are finite numbers.
    """
    value, read = np.full(len(start), np.nan), np.zeros(len(start), np.bool_)
    if engine.compiled is not None:
        engine.compiled.decimals(text, *_flat(start, end), value, read)
    for at in np.flatnonzero(~read).tolist():
        field = bytes(text[start[at] : end[at]]).decode().strip()
        try:
            number = float(field) if field.isascii() and "_" not in field else math.nan
        except ValueError:
            continue
        if math.isfinite(number):
            value[at], read[at] = number, True
    return value, read


def padded(text: Text, start: Spans, end: Spans) -> NDArray[np.bytes_] | NDArray[np.object_]:
    """(n,) the texts in spans as `S`, or as bytes objects if a few long ones would make it large.

    No text may end in a NUL character.
    """
    length = (end - start).astype(np.int64)
    longest = int(length.max(initial=1)) or 1
    if longest > _WIDEST and longest * len(length) > _UNEVEN * int(length.sum()):
        column = np.empty(len(start), object)
        spans = zip(start.tolist(), end.tolist(), strict=True)
        column[:] = [bytes(text[begin:stop]) for begin, stop in spans]
        return column
    if engine.compiled is not None:
        cells = np.empty(len(start), f"S{longest}")
        engine.compiled.padded(text, *_flat(start, end), cells.view(np.uint8))
        return cells
    spans = zip(start.tolist(), end.tolist(), strict=True)
    return np.array([bytes(text[begin:stop]) for begin, stop in spans], f"S{longest}")


def _flat(start: Spans, end: Spans) -> tuple[Spans, Spans]:
    return np.ascontiguousarray(start, np.int32), np.ascontiguousarray(end, np.int32)
