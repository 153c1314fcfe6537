"""Split lines of text into words, storing each distinct word once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import equal_keys
from valor_cli.kernels.text.word_tokens import SPACE, spaced

Ints = NDArray[np.int64]

_LINE_END: Final = 10
_AT_ONCE: Final = 8
"""Characters of words that are compared as one number."""

_LONGEST: Final = 64
"""Characters of a word; what is longer, and rare, is compared as text."""

_MASKS: Final = np.array([(1 << 8 * size) - 1 for size in range(_AT_ONCE + 1)], np.uint64)


class LineWords(NamedTuple):
    """Concatenated words of lines.

    Attributes:
        distinct: Every word that there is, perhaps more than once.
        positions: (w,) of each word its place among those.
        counts: (l,) words of each line.
    """

    distinct: list[str]
    positions: Ints
    counts: Ints


def line_by_line(split: Callable[[str], list[str]]) -> Callable[[str], LineWords]:
    """Turn a function that splits a line into words into one for every line of a text."""

    def split_lines(text: str) -> LineWords:
        lines = [split(line) for line in text.split("\n")]
        words = list(chain.from_iterable(lines))
        counts = np.fromiter(map(len, lines), np.int64, len(lines))
        return LineWords(words, np.arange(len(words)), counts)

    return split_lines


def ascii_lines(text: str) -> LineWords:
    """The `ascii_words` of each line of a text; lines end at "\\n".

    Only the distinct words are made texts of their own, which takes half the time.
    """
    bare = spaced(text)
    # A word at the end is read eight characters at a time, too.
    characters = np.frombuffer(bare + b" " * _AT_ONCE, np.uint8)
    edges = np.flatnonzero(np.diff(characters > SPACE, prepend=False))
    starts, ends = edges[::2], edges[1::2]
    numbers = _numbered(characters, starts, ends - starts)
    one_of = np.full(int(numbers.max(initial=-1)) + 1, -1)
    one_of[numbers] = np.arange(len(numbers))
    used = one_of >= 0
    kept = one_of[used]
    readable = bare.decode("ascii")
    places = zip(starts[kept].tolist(), ends[kept].tolist(), strict=True)
    distinct = [readable[start:end] for start, end in places]
    line_ends = np.append(np.flatnonzero(characters == _LINE_END), len(characters))
    counts = np.diff(np.searchsorted(starts, line_ends), prepend=0)
    return LineWords(distinct, (np.cumsum(used) - 1)[numbers], counts)


def _numbered(characters: NDArray[np.uint8], starts: Ints, lengths: Ints) -> Ints:
    """A number for each word, equal words equal numbers."""
    numbers = equal_keys(_eight(characters, starts, lengths))
    longer, known = np.flatnonzero(lengths > _AT_ONCE), _AT_ONCE
    while len(longer) and known < _LONGEST:
        more = equal_keys(_eight(characters, starts[longer] + known, lengths[longer] - known))
        both = numbers[longer] * (int(more.max()) + 1) + more
        numbers[longer] = int(numbers.max()) + 1 + equal_keys(both)
        known += _AT_ONCE
        longer = longer[lengths[longer] > known]
    texts: dict[bytes, int] = {}
    above = int(numbers.max(initial=0)) + 1
    for at in longer.tolist():
        word = characters[starts[at] : starts[at] + lengths[at]].tobytes()
        numbers[at] = above + texts.setdefault(word, len(texts))
    return numbers


def _eight(characters: NDArray[np.uint8], starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    """The first eight characters of each word as a number."""
    windows = np.ndarray((len(characters) - _AT_ONCE + 1,), "<u8", characters.data, 0, (1,))
    return windows[starts] & _MASKS[np.minimum(lengths, _AT_ONCE)]
