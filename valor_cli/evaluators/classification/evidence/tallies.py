"""Condense the evidence of a shard to the sums that the metrics use.

Metrics that use sums of rows request them from the evidence by name, and define how a sum is made
of rows (`tally`). Evidence with rows computes it; condensed evidence stores it. So a metric has
one implementation, and requests the same of a shard as of all shards together: to condense a shard
is to run the calls on it and keep what they requested.
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
    """A quantity that can be summed over shards."""

    @staticmethod
    def merged(parts: Sequence[Any]) -> Any:
        """Merge parts; independent of their order and of how rows were divided."""


@dataclass(frozen=True, slots=True)
class CondensedScores:
    """What some calls need of a dataset's rows, without the rows.

    Metrics get that of one label key (`by_key`). It is bound to what it was condensed for: samples
    can neither be chosen nor be drawn again.

    Attributes:
        labels, keys, labels_of: As in `Scored`.
        unit_count: How many samples there are.
        tallies: By key, what the calls ask of its rows, by its name.
        has_sets: Whether samples have sets of labels.
    """

    labels: tuple[str, ...]
    keys: tuple[str | None, ...]
    labels_of: tuple[tuple[int, ...], ...]
    unit_count: int
    tallies: tuple[Mapping[Hashable, Mergeable], ...]
    has_sets: bool = False
    _known: Memo = field(default_factory=Memo, repr=False, compare=False)

    @property
    def resampled(self) -> bool:
        """Whether samples are weighted: never."""
        return False

    def tally(self, name: Hashable, make: Callable[[Never], S]) -> S:
        """The stored sum of that name.

        Raises:
            ValueError: No call that this was condensed for asks it.
        """
        (tallies,) = self.tallies
        if name not in tallies:
            raise ValueError(f"condensed for calls that do not ask {name!r}")
        found: S = tallies[name]  # type: ignore[assignment]
        return found

    def known(self, key: object, compute: Callable[[], T]) -> T:
        """Compute a value from the sums, once."""
        return self._known.once(key, compute)

    def select(self, units: NDArray[np.bool_]) -> Self:
        """Not supported, because the samples behind a sum are unknown.

        Raises:
            ValueError: Always.
        """
        _no_rows()

    def resamples(self, weights: NDArray[np.int64]) -> Iterator[Self]:
        """Not supported, because the samples behind a sum are unknown.

        Raises:
            ValueError: Always.
        """
        _no_rows()

    def parts(self) -> Sequence[tuple[Mapping[str, Scalar], CondensedScores]]:
        """As `by_key`."""
        return self.known("parts", lambda: [self._part(at) for at in range(len(self.keys))])

    def _part(self, at: int) -> tuple[Mapping[str, Scalar], CondensedScores]:
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


def merge_tallied(parts: Sequence[CondensedScores]) -> CondensedScores:
    """Merge the condensed evidence of shards, in any order.

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
    """Field-wise sum of records over all parts."""
    return map(sum, zip(*parts, strict=True))


def _no_rows() -> NoReturn:
    raise ValueError("condensed evidence has no rows")
