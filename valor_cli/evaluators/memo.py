"""Cache values derived from evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """A cache of derived values by name; it is empty when copied to another process."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[object, Any] = {}

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Compute `make` once and cache the result.

        Args:
            key: Names it among all that is kept here.
            make: Makes it.
        """
        if key not in self._found:
            self._found[key] = make()
        found: T = self._found[key]
        return found
