"""Split texts into the words of ROUGE, and encode them as integers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import equal_keys, offsets
from valor_cli.kernels.columns.texts import text_blocks

SPACE: Final = 32
_SPACED: Final = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789\n" else SPACE for byte in range(256)
)
_OTHER_LETTERS: Final = re.compile(r"[^\W_\x00-\x7f]+")
_LETTERS: Final = re.compile(r"[a-zA-Z0-9]+")

_ALONE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts that put no space between words."""
_WORD: Final = rf"(?V1)[{_ALONE}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_ALONE}]]+"


def spaced(text: str) -> bytes:
    """The text in lower case, with spaces for all but a-z, 0-9 and line ends."""
    return text.lower().encode("ascii", "replace").translate(_SPACED)


def ascii_words(text: str) -> list[str]:
    """Runs of a-z and 0-9 in lower case; all other characters separate.

    These are the tokens of rouge-score's `tokenize` without a stemmer: of "naïve café" they are
    "na", "ve" and "caf", of a text in Arabic or Chinese there are none.
    """
    return spaced(text).decode("ascii").split()


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and digits of any script, in lower case.

    A character of a script without spaces between words (Chinese, Japanese, Thai, Lao, Khmer,
    Burmese) is a word by itself. Of an ASCII text these are the `ascii_words`. Texts are composed
    (NFC), so that a letter with its accent is one thing however it was typed.
    """
    if text.isascii():
        return ascii_words(text)
    from unicodedata import normalize

    import regex

    found: list[str] = regex.findall(_WORD, normalize("NFC", text.lower()))
    return found


def is_mostly_lost(texts: list[str]) -> bool:
    """Whether `ascii_words` drops more letters and digits of the texts than it keeps."""
    others = [text for text in texts if not text.isascii()]
    if not others:
        return False
    lost = sum(len(run) for text in others for run in _OTHER_LETTERS.findall(text))
    kept = sum(len(run) for text in texts for run in _LETTERS.findall(text)) if lost else 0
    return lost > kept


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
        for block in text_blocks(texts, BLOCK):
            words = self._split_lines("\n".join(block))
            numbers = np.fromiter(map(code, words.distinct), np.int64, len(words.distinct))
            codes.append(numbers[words.positions])
            counts.append(words.counts)
            lines += [text.count("\n") + 1 for text in block]
        starts = offsets(np.concatenate(counts))
        filled = np.diff(starts) > 0
        return Coded(np.concatenate(codes), starts[np.cumsum(lines)], starts[:-1][filled])


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
