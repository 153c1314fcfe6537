"""Encode the words of texts as integers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.text.line_words import LineWords, line_by_line

Ints = NDArray[np.int64]

BLOCK: Final = 1 << 20
"""Characters of texts that are split at once."""


class Coded(NamedTuple):
    """The concatenated words of texts.

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
        """(n,) number of words in each text."""
        return np.diff(self.starts)

    def sequences(self) -> list[list[int]]:
        """The codes of each text."""
        codes, starts = self.codes.tolist(), self.starts.tolist()
        return [codes[start:end] for start, end in pairwise(starts)]

    def part(self, low: int, high: int) -> Coded:
        """The texts from `low` to below `high`."""
        starts = self.starts[low : high + 1]
        first, last = int(starts[0]), int(starts[-1])
        lines = self.lines[(self.lines >= first) & (self.lines < last)]
        return Coded(self.codes[first:last], starts - first, lines - first)

    def line_counts(self) -> Ints:
        """(n,) number of lines with words in each text."""
        return np.diff(np.searchsorted(self.lines, self.starts))


def as_characters(*texts: Coded) -> list[Sequence[Sequence[Any]]]:
    """Codes of each text as characters while Unicode suffices; otherwise as `sequences`.

    rapidfuzz compares characters twice as fast as numbers, and they take a tenth of the memory.
    """
    if max(int(one.codes.max(initial=0)) for one in texts) > sys.maxunicode:
        return [one.sequences() for one in texts]
    return [_characters(one) for one in texts]


def _characters(texts: Coded) -> list[str]:
    coded = texts.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [coded[start:end] for start, end in pairwise(texts.starts.tolist())]


class WordCodes:
    """Codes of words from 0, in order of first appearance.

    Args:
        split: A line to its words.
        merged: A word to what it counts as: its stem.
        split_lines: A text of many lines to the same words; omitted: line by line.
    """

    __slots__ = ("_codes", "_split_lines")

    def __init__(
        self,
        split: Callable[[str], list[str]],
        merged: Callable[[str], str] | None = None,
        split_lines: Callable[[str], LineWords] | None = None,
    ) -> None:
        self._split_lines = split_lines or line_by_line(split)
        self._codes = _Codes(merged)

    def of(self, texts: Iterable[str]) -> Coded:
        r"""The words of texts as codes; lines end at "\n"."""
        code = self._codes.__getitem__
        codes: list[Ints] = [np.empty(0, np.int64)]
        counts: list[Ints] = [np.empty(0, np.int64)]
        lines = [0]
        for block in _blocks(texts):
            words = self._split_lines("\n".join(block))
            numbers = np.fromiter(map(code, words.distinct), np.int64, len(words.distinct))
            codes.append(numbers[words.positions])
            counts.append(words.counts)
            lines += [text.count("\n") + 1 for text in block]
        starts = np.append(0, np.cumsum(np.concatenate(counts)))
        filled = np.diff(starts) > 0
        return Coded(np.concatenate(codes), starts[np.cumsum(lines)], starts[:-1][filled])


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts, about `BLOCK` characters at a time."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


class _Codes(dict[str, int]):
    """Word codes; missing words are added."""

    def __init__(self, merged: Callable[[str], str] | None) -> None:
        super().__init__()
        self._merged = merged
        self._stems: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        kept = word if self._merged is None else self._merged(word)
        code = self[word] = self._stems.setdefault(kept, len(self._stems))
        return code
