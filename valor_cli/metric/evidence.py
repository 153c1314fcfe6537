"""What wings make of data, and the data itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.results import Illustration, MetricExample


class Evidence(Protocol):
    """What a wing's metrics share. Units (images, samples) are what intervals resample."""

    @property
    def unit_count(self) -> int:
        """How many units there are."""

    def select(self, units: NDArray[np.bool_]) -> Self:
        """The evidence of those units alone, by a mask over all units."""

    def resamples(self, weights: NDArray[np.int64]) -> Iterable[Self]:
        """For each row b of `weights` the evidence in which unit i stands weights[b, i] times."""


class Dataset(Protocol):
    """Ground truth and one model's predictions, as columns."""

    @property
    def unit_count(self) -> int:
        """How many units there are."""

    @property
    def unit_ids(self) -> Sequence[Any]:
        """(units,) what the files call them."""

    def shard(self, units: NDArray[np.bool_]) -> Self:
        """The part with those units only."""

    def illustrate(self, examples: Sequence[MetricExample]) -> Sequence[Illustration]:
        """What is shown of each example."""

    def told(self) -> Mapping[str, Sequence[str | None]]:
        """By field, the texts of the units as reports show them; nothing of images."""

    def verify(self) -> None:
        """Look at what only making evidence would read.

        Raises:
            DataError: Something in it cannot be used.
        """


E = TypeVar("E", bound=Evidence)
D = TypeVar("D", bound=Dataset)
R = TypeVar("R")
"""What a metric reads: evidence, or of evidence by samples what is its own."""
