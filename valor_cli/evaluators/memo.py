"""What is computed of evidence, kept to be found once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """What was computed already, by name; other processes get it empty and compute their own."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[object, Any] = {}

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()

    def once(self, key: object, make: Callable[[], T]) -> T:
        """What `make` makes, made the first time that it is asked for.

        Args:
            key: Names it among all that is kept here.
            make: Makes it.
        """
        if key not in self._found:
            self._found[key] = make()
        found: T = self._found[key]
        return found
