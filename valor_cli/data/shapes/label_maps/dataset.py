"""Pairs of label maps, to be read when they are needed, and what is wrong with their pixels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.label_maps import RawPair, UnexpectedValue, unexpected_values
from valor_cli.results import Illustration, MetricExample, Picture

_VALUES_SHOWN = 5
_VOID = 255
"""Label that most data sets use for ignored pixels."""


class UnexpectedPixels:
    """Pixel values that are not labels, and unreadable files: the first kept, all counted."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._total = 0
        self._truths: set[int] = set()
        self._hints: dict[str, None] = {}
        self._stray = False

    def note(self, places: tuple[str, str], pair: RawPair) -> None:
        """Record the values of one pair; `places` are its files, ground truth first."""
        found = unexpected_values(pair)
        for place, in_truth in zip(places, (True, False), strict=True):
            side = [one for one in found if one.in_truth is in_truth]
            if side:
                self._stray = True
                self._keep([Problem(place, _message(side))], 1)
        self._truths.update(one.value for one in found if one.in_truth)

    def note_error(self, error: DataError) -> None:
        """Record a pair that cannot be read."""
        self._keep(error.problems, error.total)
        if error.hint:
            self._hints[error.hint] = None

    def _keep(self, problems: Sequence[Problem], total: int) -> None:
        self._problems += problems[: LISTED - len(self._problems)]
        self._total += total

    def stop(self) -> None:
        """Raise an error if anything was recorded.

        Raises:
            DataError: Files hold values that are no label, or could not be read.
        """
        if self._total:
            hints = [*self._hints, *([self._hint()] if self._stray else [])]
            raise DataError(self._problems, total=self._total, hint="\n".join(hints))

    def _hint(self) -> str:
        hint = "Every value needs a label: `labels` under `data:` names the values."
        if len(self._truths) == 1 or _VOID in self._truths:
            value = _VOID if _VOID in self._truths else min(self._truths)
            hint += f"\nIgnore pixels with `ignore_index: {value}`."
        return hint


class SegmentationDataset(Struct, frozen=True):
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
        """Number of images."""
        return len(self.sample_ids)

    @property
    def unit_ids(self) -> Sequence[str]:
        """(units,) ids in the input files."""
        return self.sample_ids

    def shard(self, units: NDArray[np.bool_]) -> SegmentationDataset:
        """Select images; `units` is a mask over `sample_ids`."""
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
        unexpected = UnexpectedPixels()
        for sample, places in zip(self.sample_ids, self.places, strict=True):
            try:
                unexpected.note(places, self.read(sample))
            except DataError as error:
                unexpected.note_error(error)
        unexpected.stop()

    def sample_texts(self) -> Mapping[str, Sequence[str | None]]:
        """No texts: samples are images."""
        return {}

    def illustrate(self, examples: Sequence[MetricExample]) -> list[Illustration]:
        """The image of each example; `Picture.file` is the sample's id."""
        at = {sample: index for index, sample in enumerate(self.sample_ids)}
        found: list[Illustration] = []
        for one in examples:
            height, width = self.sizes[at[str(one.sample_id)]].tolist()
            found.append(Illustration(Picture(str(one.sample_id), width, height)))
        return found


def _message(side: list[UnexpectedValue]) -> str:
    shown = ", ".join(
        f"{one.value} ({one.pixels:,} pixel{'s' * (one.pixels != 1)})"
        for one in side[:_VALUES_SHOWN]
    )
    more = len(side) - _VALUES_SHOWN
    rest = f" and {more:,} more" if more > 0 else ""
    return f"no label for the value{'s' * (len(side) > 1)} {shown}{rest}"
