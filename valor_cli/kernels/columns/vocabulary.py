"""Map names to integer codes, singly or by column."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.fields import AFTER, FieldText, Ints, Words, field_words

LONGEST: Final = AFTER // 2
"""Longer names are looked up one by one."""
_SPARE: Final = 4
"""Slots per name: fewer than one in eight names is in another slot than its first."""

_PAIRWISE: Final = 8
"""So many columns are compared with one another sooner than sorted."""

_SPREAD: Final = np.random.default_rng(0).integers(2**63, size=LONGEST // 8, dtype=np.uint64)
_ODD: Final = _SPREAD * np.uint64(2) + np.uint64(1)
_FINAL: Final = np.uint64(0x9E3779B97F4A7C15)


class Vocabulary:
    """Distinct names, numbered from 0 in order of first appearance.

    Columns of fields are looked up in an open hash table: a name's words and length are its key,
    and are compared whole.
    """

    __slots__ = ("_codes", "_indexed", "_lengths", "_names", "_table", "_words")

    def __init__(self) -> None:
        self._codes: dict[bytes, int] = {}
        self._names: list[bytes] = []
        self._empty_table(1 << 10)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by code.

        Raises:
            UnicodeDecodeError: A name is no UTF-8.
        """
        return tuple(name.decode() for name in self._names)

    def code(self, name: bytes) -> int:
        """The code of a name, added if new."""
        code = self._codes.setdefault(name, len(self._names))
        if code == len(self._names):
            self._names.append(name)
        return code

    def forget(self, kept: int) -> None:
        """Drop all names except the first `kept`."""
        for name in self._names[kept:]:
            del self._codes[name]
        del self._names[kept:]
        if self._indexed > kept:
            self._empty_table(len(self._table))

    def codes(self, text: FieldText, start: Ints, end: Ints) -> Ints:
        """Codes of fields; new ones are added in order.

        Args:
            text: The text.
            start, end: (n,) where each field begins and ends.

        Returns:
            (n,) codes.
        """
        length = end - start
        longest = int(length.max(initial=0))
        if longest > LONGEST:
            # Codes must follow the order of the fields, so that all go one way.
            spans = zip(start.tolist(), end.tolist(), strict=True)
            return np.array([self.code(text.field(*span)) for span in spans], np.int64)
        self._index()
        words = field_words(text, start, length, longest)
        row = self._rows(words, length)
        if (unknown := np.flatnonzero(row == 0)).size:
            missed = [word[unknown] for word in words]
            for at in unknown[_first_of_each(missed, length[unknown])].tolist():
                self.code(text.field(int(start[at]), int(end[at])))
            self._index()
            row[unknown] = self._rows(missed, length[unknown])
        return row - 1

    def _rows(self, words: list[Words], length: Ints) -> Ints:
        """The row of each name in the columns of the table; 0 if it is unknown."""
        slot = _hashes(words) >> self._shift()
        row = self._table.take(slot.view(np.int64))
        missed = np.flatnonzero(~self._same(row, words, length))
        # Names whose slot was taken are in the next free one.
        while missed.size:
            missed = missed[row[missed] > 0]
            slot[missed] = (slot[missed] + np.uint64(1)) & np.uint64(len(self._table) - 1)
            row[missed] = self._table[slot[missed]]
            other = ~self._same(row[missed], [word[missed] for word in words], length[missed])
            missed = missed[other]
        return row

    def _same(self, row: Ints, words: list[Words], length: Ints) -> NDArray[np.bool_]:
        """Whether each name is the one in that row."""
        same: NDArray[np.bool_] = self._lengths.take(row) == length
        for known, word in zip(self._words, words, strict=False):
            same &= known.take(row) == word
        return same

    def _shift(self) -> np.uint64:
        return np.uint64(65 - len(self._table).bit_length())

    def _empty_table(self, slots: int) -> None:
        """A table whose row 0 is not a name, since no length is -1."""
        self._indexed = 0
        self._table: Ints = np.zeros(slots, np.int64)
        self._lengths: Ints = np.full(1, -1)
        self._words: list[Words] = []

    def _index(self) -> None:
        """Put the names that came since the last time into the table."""
        count = len(self._names)
        if self._indexed == count:
            return
        if count * _SPARE > len(self._table):
            self._empty_table(1 << (2 * count * _SPARE - 1).bit_length())
        length, words = _columns(self._names[self._indexed :])
        rows = np.arange(self._indexed, count) + 1
        self._lengths = np.concatenate([self._lengths, length])
        known = self._words + [np.zeros(rows[0], np.uint64)] * (len(words) - len(self._words))
        new = words + [np.zeros(len(rows), np.uint64)] * (len(known) - len(words))
        self._words = [np.concatenate(pair) for pair in zip(known, new, strict=True)]
        self._place(rows, _hashes(words) >> self._shift())
        self._indexed = count

    def _place(self, rows: Ints, slot: Words) -> None:
        """Each row into its slot or the next free one. Slots are more than rows."""
        while len(rows):
            free = self._table[slot] == 0
            self._table[slot[free]] = rows[free]
            # Of several rows for one slot, the last was written.
            waiting = self._table[slot] != rows
            rows = rows[waiting]
            slot = (slot[waiting] + np.uint64(1)) & np.uint64(len(self._table) - 1)


def holding_twice(codes: Ints) -> NDArray[np.bool_]:
    """Which rows of (n, k) codes contain a duplicate."""
    twice = np.zeros(len(codes), np.bool_)
    if codes.shape[1] > _PAIRWISE:
        ordered = np.sort(codes, axis=1)
        twice |= (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        return twice
    columns = np.ascontiguousarray(codes.T)
    for one, other in combinations(columns, 2):
        twice |= one == other
    return twice


def _hashes(words: list[Words]) -> Words:
    """A number for each name, the same however many zeros follow it; its upper bits are mixed."""
    total: Words = words[0] * _ODD[0]
    for word, odd in zip(words[1:], _ODD[1:], strict=False):
        total += word * odd
    total ^= total >> np.uint64(32)
    total *= _FINAL
    return total


def _columns(names: list[bytes]) -> tuple[Ints, list[Words]]:
    """Lengths and words of names; names that no column can hold have length -1."""
    length = np.array([len(name) for name in names])
    end = np.cumsum(length)
    held = length <= LONGEST
    words = field_words(
        FieldText(b"".join(names)),
        end - length,
        np.where(held, length, 0),
        int(length[held].max(initial=0)),
    )
    return np.where(held, length, -1), words


def _first_of_each(words: list[Words], length: Ints) -> Ints:
    """Positions of the first of equal names, ascending."""
    order = np.lexsort((*words, length))
    keys = [column[order] for column in (*words, length)]
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    # The sort is stable: the first of equal names comes first.
    return np.sort(order[new])
