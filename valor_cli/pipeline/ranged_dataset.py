"""The dataset of one model when it was loaded in ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.kernels.columns.text_columns import Chained
from valor_cli.metric import Dataset
from valor_cli.results import Illustration, MetricExample

D = TypeVar("D", bound=Dataset)


class RangedDataset(Struct, Generic[D], frozen=True):
    """A dataset whose evidence exists already.

    Attributes:
        parts: Those of the ranges, in their order; empty ones where nobody asks for more than what
            evidence says.
        counts: How many units each had.
        show: What is shown of examples from these parts.
    """

    parts: Sequence[D]
    counts: Sequence[int]
    show: Callable[[Sequence[D], Sequence[MetricExample]], Sequence[Illustration]]

    @property
    def unit_count(self) -> int:
        """Number of units."""
        return sum(self.counts)

    @property
    def unit_ids(self) -> Sequence[Any]:
        """(units,) ids of the units; numbers where ids are not needed."""
        if sum(part.unit_count for part in self.parts) < self.unit_count:
            return range(self.unit_count)
        return Chained([part.unit_ids for part in self.parts])

    def shard(self, units: NDArray[np.bool_]) -> Any:
        """Units of one range; empty if only evidence was kept.

        Raises:
            ValueError: They are of several ranges, of which there is evidence.
        """
        low = 0
        for part, count in zip(self.parts, self.counts, strict=True):
            own, low = units[low : low + count], low + count
            if own.sum() == units.sum():
                return part.shard(own) if part.unit_count == count else part
        raise ValueError("the evidence of what was loaded in ranges is made")

    def illustrate(self, examples: Sequence[MetricExample]) -> Sequence[Illustration]:
        """The illustration of each example."""
        return self.show(self.parts, examples)

    def sample_texts(self) -> Mapping[str, Sequence[str | None]]:
        """The texts of the units by field, for fields that some unit has."""
        parts = [part.sample_texts() for part in self.parts]
        columns = {name: Chained([part[name] for part in parts]) for name in parts[0]}
        return {
            name: column
            for name, column in columns.items()
            if any(text is not None for text in column)
        }

    def image_files(self) -> Mapping[Any, str]:
        """None: a run with images is loaded whole."""
        return {}

    def verify(self) -> None:
        """Do nothing: all data is already read."""
