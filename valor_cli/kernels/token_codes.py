"""Texts in; their words as numbers, equal words equal numbers, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Coded(NamedTuple):
    """The words of texts, one after the other.

    Attributes:
        codes: (w,) a number for each word.
        starts: (n + 1,) where each text begins, and the last ends.
        lines: (l,) where lines that have words begin; ascending.
    """

    codes: Ints
    starts: Ints
    lines: Ints

    @property
    def lengths(self) -> Ints:
        """(n,) words of each text."""
        return np.diff(self.starts)

    def sequences(self) -> list[list[int]]:
        """The codes of each text."""
        codes, starts = self.codes.tolist(), self.starts.tolist()
        return [codes[start:end] for start, end in pairwise(starts)]

    def line_counts(self) -> Ints:
        """(n,) lines of each text that have words."""
        return np.diff(np.searchsorted(self.lines, self.starts))


class WordCodes:
    """Numbers of words from 0, in the order in which they are first met.

    Args:
        split: A line to its words.
        merged: A word to what it counts as: its stem.
    """

    __slots__ = ("_codes", "_split")

    def __init__(
        self, split: Callable[[str], list[str]], merged: Callable[[str], str] | None = None
    ) -> None:
        self._split = split
        self._codes = _Codes(merged)

    def of(self, texts: Iterable[str]) -> Coded:
        """The words of texts; lines end at "\\n"."""
        split, code = self._split, self._codes.__getitem__
        codes: list[int] = []
        starts, lines = [0], []
        for text in texts:
            for line in text.split("\n"):
                words = split(line)
                if words:
                    lines.append(len(codes))
                    codes += map(code, words)
            starts.append(len(codes))
        return Coded(
            np.array(codes, np.int64), np.array(starts, np.int64), np.array(lines, np.int64)
        )


class _Codes(dict[str, int]):
    """Word to number; what it lacks it adds."""

    def __init__(self, merged: Callable[[str], str] | None) -> None:
        super().__init__()
        self._merged = merged
        self._stems: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        kept = word if self._merged is None else self._merged(word)
        code = self[word] = self._stems.setdefault(kept, len(self._stems))
        return code
