"""Label maps: pairs of images whose pixels are labels, read when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.kernels.geometry.label_maps import RawPair, UnexpectedValue, unexpected_values
from valor_cli.results import Illustration, InputFile, MetricExample, Picture, Scalar

_VALUES_SHOWN = 5
_VOID = 255
"""Label that most data sets use for ignored pixels."""


class Stored(NamedTuple):
    """An unread file: its size (height, width) and SHA-256."""

    size: tuple[int, int]
    sha256: str


class LabelMap(Protocol):
    """One label map, in a file."""

    @property
    def path(self) -> str:
        """The file."""

    def look(self, *, decode: bool = False) -> Stored:
        """Read the file and its header. Raises a DataError if invalid.

        Args:
            decode: Whether to decode the pixels too: some damage shows only then.
        """

    def values(self) -> NDArray[np.unsignedinteger]:
        """(height, width) uint8 or uint16 values of the pixels. Raises as `look` does."""


class LabelMaps(Struct, frozen=True):
    """One side of a segmentation run, from one input.

    Attributes:
        path: The input, as the user wrote it.
        folder: The folder of the files.
        maps: By sample name.
        texts: The files beside the PNGs that were read, a manifest or a JSON file.
        metadata: By name of the metadata and of the sample.
        meanings: Where pixel values are positions in a list, the value that each stands for, None
            for no label; None where they are values themselves.
        categories: Names by value, in order, if the input says them.
        others: Image files that are no PNG, which were passed over.
        images: Id of the image by sample name, if the input says ids: they decide then, and not
            names, what belongs together.
    """

    path: str
    folder: str
    maps: Mapping[str, LabelMap]
    texts: Sequence[InputFile] = ()
    metadata: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    meanings: Sequence[int | None] | None = None
    categories: Mapping[int, str] | None = None
    others: Sequence[str] = ()
    images: Mapping[str, int | str] | None = None

    def metadata_of(self, samples: Sequence[str]) -> dict[str, list[Scalar]]:
        """By name of the metadata, the values of some samples."""
        return {name: [said[one] for one in samples] for name, said in self.metadata.items()}


def check_size(
    first: LabelMap,
    size: Sequence[int],
    other: LabelMap,
    own: Sequence[int],
    noun: str = "its ground truth ",
) -> None:
    """Compare the sizes (height, width) of two files of a sample.

    Args:
        first, other: The files.
        size, own: Their sizes.
        noun: What the first is of the other, for the message.

    Raises:
        DataError: They differ.
    """
    if size != own:
        expected = f"{noun}{first.path} is {size[1]} wide and {size[0]} high"
        message = f"is {own[1]} wide and {own[0]} high; {expected}"
        raise DataError(Problem(other.path, message))


class UnexpectedPixels:
    """Pixel values that are not labels, and unreadable files."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._more = 0
        self._truths: set[int] = set()
        self._hints: list[str] = []
        self._unexpected = False

    def note(self, places: tuple[str, str], pair: RawPair) -> None:
        """Record the values of one pair; `places` are its files, ground truth first."""
        found = unexpected_values(pair)
        for place, in_truth in zip(places, (True, False), strict=True):
            side = [one for one in found if one.in_truth is in_truth]
            if side:
                self._unexpected = True
                self._problems.append(Problem(place, _message(side)))
        self._truths.update(one.value for one in found if one.in_truth)

    def note_error(self, error: DataError) -> None:
        """Record a pair that cannot be read."""
        self._problems += error.problems
        self._more += error.total - len(error.problems)
        self._hints.append(error.hint)

    def stop(self) -> None:
        """Raise an error if anything was recorded.

        Raises:
            DataError: Files hold values that are no label, or could not be read.
        """
        if self._problems:
            hints = [*filter(None, self._hints), *([self._hint()] if self._unexpected else [])]
            total = len(self._problems) + self._more
            raise DataError(self._problems[:LISTED], total=total, hint="\n".join(hints))

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

    def image_files(self) -> Mapping[str, str]:
        """Of each sample its id: what the folder of images is searched for."""
        return dict(zip(self.sample_ids, self.sample_ids, strict=True))

    def illustrate(self, examples: Sequence[MetricExample]) -> list[Illustration]:
        """The image of each example; `Picture.file` is the sample's id."""
        sides = dict(zip(self.sample_ids, self.sizes.tolist(), strict=True))
        names = [str(one.sample_id) for one in examples]
        return [Illustration(Picture(one, sides[one][1], sides[one][0])) for one in names]


def _message(side: list[UnexpectedValue]) -> str:
    shown = ", ".join(
        f"{one.value} ({one.pixels:,} pixel{'s' * (one.pixels != 1)})"
        for one in side[:_VALUES_SHOWN]
    )
    more = len(side) - _VALUES_SHOWN
    rest = f" and {more:,} more" if more > 0 else ""
    return f"no label for the value{'s' * (len(side) > 1)} {shown}{rest}"
