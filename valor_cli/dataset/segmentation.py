"""Pairs of label maps, to be read when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from valor_cli.dataset.stray_pixels import StrayPixels
from valor_cli.errors import DataError
from valor_cli.kernels.label_maps import RawPair
from valor_cli.results import Illustration, MetricExample, Picture


@dataclass(frozen=True, slots=True)
class SegmentationDataset:
    """Ground truth and one model's predictions, a pair of label maps an image.

    Attributes:
        sample_ids: (units,) ascending, distinct.
        labels: Names of the labels, in the order of their values; an excluded background is none.
        sizes: (units, 2) height and width.
        places: (units,) the files of each pair, ground truth first, for messages.
        read: Reads the pair of that name. It can be pickled.
    """

    sample_ids: tuple[str, ...]
    labels: tuple[str, ...]
    sizes: NDArray[np.int64]
    places: tuple[tuple[str, str], ...]
    read: Callable[[str], RawPair]

    @property
    def unit_count(self) -> int:
        """How many images there are."""
        return len(self.sample_ids)

    @property
    def unit_ids(self) -> Sequence[str]:
        """(units,) what the files call them."""
        return self.sample_ids

    def shard(self, units: NDArray[np.bool_]) -> SegmentationDataset:
        """The part with those images only; `units` is a mask over `sample_ids`."""
        kept = units.tolist()
        return replace(
            self,
            sample_ids=tuple(compress(self.sample_ids, kept)),
            sizes=self.sizes[units],
            places=tuple(compress(self.places, kept)),
        )

    def verify(self) -> None:
        """Read every pair.

        Raises:
            DataError: A file is damaged, or a pixel has a value that is no label.
        """
        stray = StrayPixels()
        for sample, places in zip(self.sample_ids, self.places, strict=True):
            try:
                stray.note(places, self.read(sample))
            except DataError as error:
                stray.note_error(error)
        stray.stop()

    def told(self) -> Mapping[str, Sequence[str | None]]:
        """Nothing: images have no texts."""
        return {}

    def illustrate(self, examples: Sequence[MetricExample]) -> list[Illustration]:
        """The image of each example; `Picture.file` is the sample's id."""
        at = {sample: index for index, sample in enumerate(self.sample_ids)}
        found: list[Illustration] = []
        for one in examples:
            height, width = self.sizes[at[str(one.sample_id)]].tolist()
            found.append(Illustration(Picture(str(one.sample_id), width, height)))
        return found
