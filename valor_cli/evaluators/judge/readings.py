"""What a reply has to be: its form, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Unfit(ValueError):  # noqa: N818  # what it says of the reply
    """A reply that cannot be used; the words are told to the judge, and to the user."""


@dataclass(frozen=True)
class Reading(Generic[T]):
    """A kind of reply.

    Attributes:
        name: Of the schema.
        schema: JSON Schema of the reply; None where any text will do.
        read: The reply to what it says. Raises `Unfit`.
        imagined: A reply of this kind, of a likely length, for estimates.
    """

    name: str
    schema: Mapping[str, Any] | None
    read: Callable[[str], T]
    imagined: str


class Judged(NamedTuple):
    """A verdict with its reason; `context` is the number, from 1, that it names, or None."""

    verdict: bool
    reason: str = ""
    context: int | None = None
