"""Compact columns of texts, stored as bytes.

A text is created when it is accessed. The columns are arrays, so that they can be passed between
processes through memory-mapped files.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, chain, pairwise, repeat
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
T = TypeVar("T")

_AT_ONCE: Final = 1 << 10
"""Texts that are made together, where all are looked at one after the other."""

_LONE: Final = "surrogatepass"
"""Half a character, which no file can hold, is a report's business."""


class _Column(Sequence[T], Generic[T]):
    """A sequence, equal to every other of the same elements."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, str) or not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn(_Column[str | None]):
    """Texts or None.

    Attributes:
        content: The bytes of all, as UTF-8, one text after the other.
        ends: (n + 1,) where each begins and the last ends, from any number on.
        none: (n,) which are no texts; None: all are.
    """

    content: NDArray[np.uint8]
    ends: Ints
    none: NDArray[np.bool_] | None = None

    @staticmethod
    def of(texts: Iterable[str | None]) -> TextColumn:
        """The column of some texts."""
        writer = TextWriter()
        for text in texts:
            writer.add(text)
        return writer.column()

    @staticmethod
    def nothing(count: int) -> TextColumn:
        """A column of None."""
        none = np.ones(count, np.bool_)
        return TextColumn(np.zeros(0, np.uint8), np.zeros(count + 1, np.int64), none)

    @staticmethod
    def joined(parts: Sequence[TextColumn]) -> TextColumn:
        """Concatenate columns."""
        if len(parts) == 1:
            return parts[0]
        return TextColumn(
            np.concatenate([part.content for part in parts]) if parts else np.zeros(0, np.uint8),
            ends_of([np.diff(part.ends) for part in parts]),
            _absent(parts),
        )

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, at: int) -> str | None: ...
    @overload
    def __getitem__(self, at: slice) -> TextColumn: ...
    def __getitem__(self, at: int | slice) -> str | TextColumn | None:
        if isinstance(at, slice):
            return self.part(*_bounds(at, len(self)))
        at = _position(at, len(self))
        if self.none is not None and self.none[at]:
            return None
        low, high = (self.ends[at : at + 2] - self.ends[0]).tolist()
        return str(self.content[low:high].data, "utf-8", _LONE)

    def __iter__(self) -> Iterator[str | None]:
        for low in range(0, len(self), _AT_ONCE):
            yield from self._some(low, min(low + _AT_ONCE, len(self)))

    def part(self, low: int, high: int) -> TextColumn:
        """The texts from `low` to below `high`, without copying."""
        begin, end = (self.ends[[low, high]] - self.ends[0]).tolist()
        return TextColumn(
            self.content[begin:end],
            self.ends[low : high + 1],
            None if self.none is None else self.none[low:high],
        )

    def take(self, at: Ints) -> TextColumn:
        """Select texts in any order; bytes are copied."""
        starts = self.ends[at] - self.ends[0]
        ends = ends_of([np.diff(self.ends)[at]])
        view = self.content.data
        pairs = zip(starts.tolist(), (starts + np.diff(ends)).tolist(), strict=True)
        content = b"".join([view[low:high] for low, high in pairs])
        flags = None if self.none is None else self.none[at]
        return TextColumn(np.frombuffer(content, np.uint8), ends, flags)

    def digests(self) -> NDArray[np.uint64]:
        """(n,) 64-bit hashes of the texts, the same on every machine."""
        view = self.content.data
        ends = (self.ends - self.ends[0]).tolist()
        found = b"".join(
            [
                blake2b(view[ends[at] : ends[at + 1]], digest_size=8).digest()
                for at in range(len(self))
            ]
        )
        return np.frombuffer(found, "<u8").astype(np.uint64, copy=False)

    def there(self) -> NDArray[np.bool_]:
        """(n,) whether each is a text."""
        return np.ones(len(self), np.bool_) if self.none is None else ~self.none

    def _some(self, low: int, high: int) -> Iterable[str | None]:
        ends = (self.ends[low : high + 1] - self.ends[0]).tolist()
        first = ends[0]
        whole = self.content[first : ends[-1]].tobytes()
        if whole.isascii():
            # Characters are bytes: they are made once, and cut.
            text = whole.decode("ascii")
            texts = [text[a - first : b - first] for a, b in pairwise(ends)]
        else:
            texts = [str(whole[a - first : b - first], "utf-8", _LONE) for a, b in pairwise(ends)]
        if self.none is None:
            return texts
        flags = self.none[low:high].tolist()
        return [None if none else text for none, text in zip(flags, texts, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class ListColumn(_Column[tuple[str, ...] | None]):
    """Tuples of texts, or None.

    Attributes:
        texts: Those of all, one after the other.
        ends: (n + 1,) where each tuple begins in `texts` and the last ends, from any number on.
        none: (n,) which are no tuples; None: all are.
    """

    texts: TextColumn
    ends: Ints
    none: NDArray[np.bool_] | None = None

    @staticmethod
    def of(lists: Iterable[tuple[str, ...] | None]) -> ListColumn:
        """The column of some tuples."""
        writer = ListWriter()
        for one in lists:
            writer.add(one)
        return writer.column()

    @staticmethod
    def nothing(count: int, *, none: bool = False) -> ListColumn:
        """A column of empty tuples, or of None."""
        flags = np.ones(count, np.bool_) if none else None
        return ListColumn(TextColumn.nothing(0), np.zeros(count + 1, np.int64), flags)

    @staticmethod
    def joined(parts: Sequence[ListColumn]) -> ListColumn:
        """Concatenate columns."""
        if len(parts) == 1:
            return parts[0]
        return ListColumn(
            TextColumn.joined([part.texts for part in parts]),
            ends_of([np.diff(part.ends) for part in parts]),
            _absent(parts),
        )

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, at: int) -> tuple[str, ...] | None: ...
    @overload
    def __getitem__(self, at: slice) -> ListColumn: ...
    def __getitem__(self, at: int | slice) -> tuple[str, ...] | ListColumn | None:
        if isinstance(at, slice):
            return self.part(*_bounds(at, len(self)))
        at = _position(at, len(self))
        if self.none is not None and self.none[at]:
            return None
        low, high = (self.ends[at : at + 2] - self.ends[0]).tolist()
        return tuple(self.texts[one] or "" for one in range(low, high))

    def __iter__(self) -> Iterator[tuple[str, ...] | None]:
        flags = None if self.none is None else self.none.tolist()
        texts = iter(self.texts)
        for at, count in enumerate(np.diff(self.ends).tolist()):
            if flags is not None and flags[at]:
                yield None
            elif count == 1:
                yield (next(texts) or "",)
            else:
                yield tuple(next(texts) or "" for _ in range(count))

    def part(self, low: int, high: int) -> ListColumn:
        """The lists from `low` to below `high`, without copying."""
        begin, end = (self.ends[[low, high]] - self.ends[0]).tolist()
        flags = None if self.none is None else self.none[low:high]
        return ListColumn(self.texts.part(begin, end), self.ends[low : high + 1], flags)

    def take(self, at: Ints) -> ListColumn:
        """Select lists in any order; bytes are copied."""
        counts = np.diff(self.ends)[at]
        starts = self.ends[at] - self.ends[0]
        ends = ends_of([counts])
        rows = np.arange(int(ends[-1])) + np.repeat(starts - ends[:-1], counts)
        flags = None if self.none is None else self.none[at]
        return ListColumn(self.texts.take(rows), ends, flags)

    def there(self) -> NDArray[np.bool_]:
        """(n,) whether each is a tuple."""
        return np.ones(len(self), np.bool_) if self.none is None else ~self.none

    def filled(self) -> NDArray[np.bool_]:
        """(n,) whether each has a text."""
        return np.asarray(np.diff(self.ends) > 0)


def _absent(parts: Sequence[TextColumn | ListColumn]) -> NDArray[np.bool_] | None:
    """Which values of several columns are None; None where all are there."""
    if all(part.none is None for part in parts):
        return None
    return ~np.concatenate([part.there() for part in parts])


def _flags(none: list[int], count: int) -> NDArray[np.bool_] | None:
    """Which of so many values are None; None where all are there."""
    if not none:
        return None
    flags = np.zeros(count, np.bool_)
    flags[none] = True
    return flags


class TextWriter:
    """Builds a column of texts."""

    __slots__ = ("_content", "_ends", "_none")

    def __init__(self) -> None:
        self._content = bytearray()
        self._ends: list[int] = []
        self._none: list[int] = []

    def add(self, text: str | None) -> None:
        """One text more."""
        if text is None:
            self._none.append(len(self._ends))
        else:
            self._content += text.encode("utf-8", _LONE)
        self._ends.append(len(self._content))

    def column(self) -> TextColumn:
        """The column of all items; the writer cannot be used afterwards."""
        ends = np.array([0, *self._ends], np.int64)
        none = _flags(self._none, len(self._ends))
        return TextColumn(np.frombuffer(self._content, np.uint8), ends, none)


class ListWriter:
    """Builds a column of tuples of texts."""

    __slots__ = ("_ends", "_none", "_texts")

    def __init__(self) -> None:
        self._texts = TextWriter()
        self._ends: list[int] = [0]
        self._none: list[int] = []

    def add(self, texts: Sequence[str] | None) -> None:
        """One tuple more."""
        if texts is None:
            self._none.append(len(self._ends) - 1)
            texts = ()
        for one in texts:
            self._texts.add(one)
        self._ends.append(self._ends[-1] + len(texts))

    def column(self) -> ListColumn:
        """The column of all items; the writer cannot be used afterwards."""
        none = _flags(self._none, len(self._ends) - 1)
        return ListColumn(self._texts.column(), np.array(self._ends, np.int64), none)


class Constant(_Column[T]):
    """A constant sequence."""

    __slots__ = ("_count", "value")

    def __init__(self, value: T, count: int) -> None:
        self.value = value
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if isinstance(at, slice):
            return Constant(self.value, len(range(*at.indices(self._count))))
        _position(at, self._count)
        return self.value

    def __iter__(self) -> Iterator[T]:
        return repeat(self.value, self._count)


class Chained(_Column[T]):
    """Concatenated sequences, without copying."""

    __slots__ = ("_ends", "parts")

    def __init__(self, parts: Sequence[Sequence[T]]) -> None:
        self.parts = parts
        self._ends = list(accumulate(map(len, parts), initial=0))

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        at = _position(at, len(self))
        part = bisect_right(self._ends, at) - 1
        return self.parts[part][at - self._ends[part]]

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.parts)


def ends_of(lengths: Sequence[NDArray[Any]]) -> Ints:
    """Start of each item of given lengths, and end of the last."""
    ends = np.zeros(1 + sum(map(len, lengths)), np.int64)
    if lengths:
        np.cumsum(np.concatenate(lengths), out=ends[1:])
    return ends


def _position(at: int, count: int) -> int:
    found = at + count if at < 0 else at
    if not 0 <= found < count:
        raise IndexError(f"no element {at} of {count}")
    return found


def _bounds(at: slice, count: int) -> tuple[int, int]:
    low, high, step = at.indices(count)
    if step != 1:
        raise ValueError("columns are cut into neighbours alone")
    return low, max(low, high)
