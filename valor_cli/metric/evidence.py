"""What wings make of data, and the data itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.results import Illustration, MetricExample


class Evidence(Protocol):
    """Data shared by the metrics of a wing. Units (images, samples) are what intervals resample."""

    @property
    def unit_count(self) -> int:
        """Number of units."""

    def select(self, units: NDArray[np.bool_]) -> Self:
        """Select units by a mask over all units."""

    def resamples(self, weights: NDArray[np.int64]) -> Iterable[Self]:
        """For each row b of `weights`, the evidence in which unit i counts weights[b, i] times.

        Evidence may have the replicas of several rows, the next ones in order: its metrics then
        find `MetricValue.replicas`.
        """


class Dataset(Protocol):
    """Ground truth and one model's predictions, as columns."""

    @property
    def unit_count(self) -> int:
        """Number of units."""

    @property
    def unit_ids(self) -> Sequence[Any]:
        """(units,) ids in the input files."""

    def shard(self, units: NDArray[np.bool_]) -> Self:
        """Select units."""

    def illustrate(self, examples: Sequence[MetricExample]) -> Sequence[Illustration]:
        """The illustration of each example."""

    def sample_texts(self) -> Mapping[str, Sequence[str | None]]:
        """The texts of the units by field, as reports show them; empty for images."""

    def image_files(self) -> Mapping[Any, str]:
        """The image file of each unit that has one, by unit id, as in `Picture.file`."""

    def verify(self) -> None:
        """Check data that is otherwise read only when evidence is built.

        Raises:
            DataError: Something in it cannot be used.
        """


E = TypeVar("E", bound=Evidence)
D = TypeVar("D", bound=Dataset)
R = TypeVar("R")
"""What a metric reads: evidence, or of evidence by samples what is its own."""
