"""Store per-sample values as compact columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from valor_cli.kernels.columns.text_columns import ends_of
from valor_cli.results import Mark

T = TypeVar("T")

_AT_ONCE: Final = 1 << 12


class NumberColumn(Sequence[float | None]):
    """A column of numbers or None in eight bytes each."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> float | None: ...
    @overload
    def __getitem__(self, at: slice) -> NumberColumn: ...
    def __getitem__(self, at: int | slice) -> float | NumberColumn | None:
        if isinstance(at, slice):
            return NumberColumn(self.values[at])
        value = float(self.values[at])
        return value if value == value else None

    def __iter__(self) -> Iterator[float | None]:
        for low in range(0, len(self.values), _AT_ONCE):
            for value in self.values[low : low + _AT_ONCE].tolist():
                yield value if value == value else None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The floats, NaN for None."""
        if copy is False:
            return self.values if dtype is None else self.values.astype(dtype, copy=False)
        return np.array(self.values, dtype)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


@dataclass(frozen=True, slots=True, eq=False)
class ValueColumn(Sequence[T], Generic[T]):
    """Values stored as MessagePack and decoded on access; most are empty.

    Attributes:
        content: The bytes of all, one value after the other.
        ends: (n + 1,) where each begins and the last ends; an empty value has no bytes.
        empty: What is read of no bytes.
        made: Makes a value of what was read.
    """

    content: NDArray[np.uint8]
    ends: NDArray[np.int64]
    empty: T
    made: Callable[[Any], T]

    @staticmethod
    def of(
        values: Iterable[T], empty: T, said: Callable[[T], Any], made: Callable[[Any], T]
    ) -> ValueColumn[T]:
        """The column of some values.

        Args:
            values: One after the other.
            empty: What most of them are.
            said: Makes of any other what MessagePack has.
            made: The way back.

        Raises:
            TypeError, ValueError, OverflowError: One of them is something else, as a number of
                more than 64 bits is.
        """
        # Only runs over much data need it.
        from msgspec.msgpack import encode

        parts = [b"" if one == empty else encode(said(one)) for one in values]
        content = np.frombuffer(b"".join(parts), np.uint8)
        return ValueColumn(content, ends_of([np.array([*map(len, parts)], np.int64)]), empty, made)

    @staticmethod
    def joined(parts: Sequence[ValueColumn[T]]) -> ValueColumn[T]:
        """Concatenate columns."""
        first = parts[0]
        if len(parts) == 1:
            return first
        content = np.concatenate([part.content for part in parts])
        ends = ends_of([np.diff(part.ends) for part in parts])
        return ValueColumn(content, ends, first.empty, first.made)

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if isinstance(at, slice):
            return self.take(np.arange(len(self))[at])
        at = range(len(self))[at]
        low, high = self.ends[at : at + 2].tolist()
        return self.empty if low == high else self.made(_decode()(self.content[low:high].data))

    def __iter__(self) -> Iterator[T]:
        if not len(self.content):
            return repeat(self.empty, len(self))
        return self._decoded()

    def _decoded(self) -> Iterator[T]:
        decode, view, low = _decode(), self.content.data, 0
        for high in self.ends[1:].tolist():
            yield self.empty if low == high else self.made(decode(view[low:high]))
            low = high

    def take(self, at: NDArray[np.int64]) -> ValueColumn[T]:
        """Select values by position."""
        starts, lengths = self.ends[at], np.diff(self.ends)[at]
        view = self.content.data
        pairs = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        content = b"".join([view[low:high] for low, high in pairs])
        ends = ends_of([lengths])
        return ValueColumn(np.frombuffer(content, np.uint8), ends, self.empty, self.made)


def _decode() -> Callable[[memoryview], Any]:
    from msgspec.msgpack import decode

    return decode


def packed_details(details: Sequence[Any]) -> Sequence[Any]:
    """Pack the details of each sample; unchanged if they cannot be packed."""
    return _packed(details, None, _as_it_is, _as_it_is)


def packed_marks(marks: Sequence[tuple[Mark, ...]]) -> Sequence[tuple[Mark, ...]]:
    """The marks of each sample, packed, since each takes five hundred bytes as an object."""
    return _packed(marks, (), _said, _marks)


def _packed(
    values: Sequence[Any], empty: Any, said: Callable[[Any], Any], made: Callable[[Any], Any]
) -> Sequence[Any]:
    try:
        return ValueColumn.of(values, empty, said, made)
    except (TypeError, ValueError, OverflowError):
        return values


def _as_it_is(value: Any) -> Any:
    return value


def _said(marks: tuple[Mark, ...]) -> list[tuple[Any, ...]]:
    return [(one.field, one.start, one.end, one.kind, one.secret) for one in marks]


def _marks(said: list[list[Any]]) -> tuple[Mark, ...]:
    return tuple(Mark(*one) for one in said)
