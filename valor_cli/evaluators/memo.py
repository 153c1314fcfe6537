"""Cache values derived from evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """A cache of derived values by name; it is empty when copied to another process."""

    __slots__ = ("_found", "_last")

    def __init__(self) -> None:
        self._found: dict[object, Any] = {}
        self._last: dict[object, tuple[Any, Any]] = {}

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

    def latest(self, key: object, of: object, make: Callable[[], T]) -> T:
        """Compute `make` for an object and cache the result for that object only.

        Args:
            key: As in `once`.
            of: What it is made of: the same only where it is the same object.
            make: Makes it.
        """
        kept = self._last.get(key)
        if kept is None or kept[0] is not of:
            kept = self._last[key] = (of, make())
        found: T = kept[1]
        return found
