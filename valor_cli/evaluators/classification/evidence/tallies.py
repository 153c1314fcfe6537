"""Evidence of a shard and the calls it serves in; sums of it out, which take the place of its rows.

Metrics of classification that read sums of rows ask the evidence for them by name, and say how a
sum is made of rows (`tally`). Rows make it; what is condensed has it. So a metric has one body, and
what it asks of a shard is what it will ask of all shards together: to condense a shard is to let
the calls ask it, and to keep what they were given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Never, NoReturn, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.memo import Memo
from valor_cli.results import Scalar

T = TypeVar("T")
S = TypeVar("S", bound="Mergeable")


class Mergeable(Protocol):
    """Something of the rows of a shard that can be had of all shards together."""

    @staticmethod
    def merged(parts: Sequence[Any]) -> Any:
        """That of the rows of all parts; whatever their order, and however they were cut."""


@dataclass(frozen=True, slots=True)
class Tallied:
    """What some calls need of the rows of a data set, without the rows.

    Metrics get that of one label key (`by_key`). It is bound to what it was condensed for: samples
    can neither be chosen nor be drawn again.

    Attributes:
        labels, keys, labels_of: As in `Scored`.
        unit_count: How many samples there are.
        tallies: By key, what the calls ask of its rows, by its name.
    """

    labels: tuple[str, ...]
    keys: tuple[str | None, ...]
    labels_of: tuple[tuple[int, ...], ...]
    unit_count: int
    tallies: tuple[Mapping[Hashable, Mergeable], ...]
    _known: Memo = field(default_factory=Memo, repr=False, compare=False)

    @property
    def resampled(self) -> bool:
        """Whether samples stand here more or less than once: never."""
        return False

    def tally(self, name: Hashable, make: Callable[[Never], S]) -> S:
        """What was kept of the rows of the one key under that name, whatever would make it.

        Raises:
            ValueError: No call that this was condensed for asks it.
        """
        (tallies,) = self.tallies
        if name not in tallies:
            raise ValueError(f"condensed for calls that do not ask {name!r}")
        found: S = tallies[name]  # type: ignore[assignment]
        return found

    def known(self, key: object, compute: Callable[[], T]) -> T:
        """What `compute` finds of the tallies; found once."""
        return self._known.once(key, compute)

    def select(self, units: NDArray[np.bool_]) -> Self:
        """Nothing: which samples stand behind a sum is not known.

        Raises:
            ValueError: Always.
        """
        _no_rows()

    def resamples(self, weights: NDArray[np.int64]) -> Iterator[Self]:
        """Nothing, likewise.

        Raises:
            ValueError: Always.
        """
        _no_rows()

    def parts(self) -> Sequence[tuple[Mapping[str, Scalar], Tallied]]:
        """As `by_key`."""
        return self.known("parts", lambda: [self._part(at) for at in range(len(self.keys))])

    def _part(self, at: int) -> tuple[Mapping[str, Scalar], Tallied]:
        labels = tuple(self.labels[label] for label in self.labels_of[at])
        part = replace(
            self,
            labels=labels,
            keys=(self.keys[at],),
            labels_of=(tuple(range(len(labels))),),
            tallies=(self.tallies[at],),
            _known=Memo(),
        )
        key = self.keys[at]
        return {} if key is None else {"label_key": key}, part


def merge_tallied(parts: Sequence[Tallied]) -> Tallied:
    """What the calls need of several shards together, in any order.

    Raises:
        ValueError: The shards were condensed for different calls.
    """
    first = parts[0]
    names = [tallies.keys() for tallies in first.tallies]
    if any([tallies.keys() for tallies in one.tallies] != names for one in parts):
        raise ValueError("shards of one evidence are condensed for the same calls")
    if len(parts) == 1:
        return first
    tallies = tuple(
        {name: one.merged([each[name] for each in own]) for name, one in own[0].items()}
        for own in zip(*(part.tallies for part in parts), strict=True)
    )
    units = sum(part.unit_count for part in parts)
    return replace(first, unit_count=units, tallies=tallies, _known=Memo())


def added(parts: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    """By field, the sum over all parts: of records of whole numbers."""
    return map(sum, zip(*parts, strict=True))


def _no_rows() -> NoReturn:
    raise ValueError("condensed evidence has no rows")
