"""A column of floats in; its numbers, and None for each NaN, out, as they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

_AT_ONCE: Final = 1 << 12


class NumberColumn(Sequence[float | None]):
    """Numbers, or None; eight bytes each."""

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
