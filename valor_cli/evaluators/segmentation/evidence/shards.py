"""Count pixels in one shard of images, and merge the evidence of shards.

Merging any shards, in any order, gives the same numbers, bit for bit, as one pass over all images.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from valor_cli.data.shapes.label_maps import SegmentationDataset, UnexpectedPixels
from valor_cli.errors import DataError
from valor_cli.evaluators.segmentation.evidence.confusions import (
    Cells,
    Confusions,
    CountingPlan,
    ImageLabels,
    Ints,
    Overlaps,
)
from valor_cli.kernels import engine
from valor_cli.kernels.columns.grouping import grouped
from valor_cli.kernels.geometry.label_maps import (
    UNKNOWN,
    BoundaryCounts,
    LabelPairCounts,
    RawPair,
    count_boundaries,
    count_pixels,
)
from valor_cli.kernels.threads import in_order, usable_threads
from valor_cli.paths import is_url

FEW: Final = 16
"""Images that are counted before further threads would have begun."""

MOST_PIXELS: Final = 1 << 23
"""Of an image: of larger ones, one pair is in memory at a time."""

_PAIR: Final = 8
"""More bytes than a pixel of a pair takes at any time, of 8-bit maps."""

_LARGEST_BLOCK: Final = 24 << 20
"""Of larger ones than 32 MiB the allocator learns nothing."""


def count_confusions(dataset: SegmentationDataset, plan: CountingPlan) -> Confusions:
    """Count one shard of images; each thread holds one pair of label maps in memory.

    Raises:
        DataError: Files cannot be read, or pixels have values that are no label.
    """
    stray = UnexpectedPixels()
    cells: list[LabelPairCounts] = []
    edges: list[list[BoundaryCounts]] = []
    count = len(dataset.labels)

    def counted(sample: str) -> _Counts | DataError:
        try:
            pair = dataset.read(sample)
        except DataError as error:
            return error
        found = count_pixels(pair)
        if (found.truth == UNKNOWN).any() or (found.prediction == UNKNOWN).any():
            return _Counts(found, [], pair)
        return _Counts(found, [count_boundaries(pair, count, at) for at in plan.dilation_ratios])

    _keep_freed_memory(dataset)
    found = in_order(counted, dataset.sample_ids, _threads(dataset))
    for places, one in zip(dataset.places, found, strict=True):
        if isinstance(one, DataError):
            stray.note_error(one)
        elif one.unexpected is not None:
            stray.note(places, one.unexpected)
        else:
            cells.append(one.meetings)
            edges.append(one.boundaries)
    stray.stop()
    return Confusions(
        plan,
        dataset.sample_ids,
        dataset.labels,
        Cells(
            np.repeat(np.arange(len(cells)), [len(one.pixels) for one in cells]),
            *(_joined([one[column] for one in cells]) for column in range(3)),
        ),
        tuple(_outlines([one[at] for one in edges]) for at in range(len(plan.dilation_ratios))),
    )


class _Counts(NamedTuple):
    """Of one pair of label maps; the pair itself if pixels have values that are no label."""

    meetings: LabelPairCounts
    boundaries: list[BoundaryCounts]
    unexpected: RawPair | None = None


def _keep_freed_memory(dataset: SegmentationDataset) -> None:
    """Have what the last pair took used for the next.

    The allocator of Linux gives large blocks back to the system when they are freed, and every page
    has to be fetched anew, which takes as long as inflating does; unless a block that is larger by
    far was freed before.
    """
    pixels = int(dataset.sizes.prod(axis=1).max(initial=0))
    block = np.empty(min(_PAIR * pixels, _LARGEST_BLOCK), np.uint8)
    del block


def _threads(dataset: SegmentationDataset) -> int:
    """How many are worth it, with the one that hands out the samples and does no more.

    One alone where Pillow decodes, which takes a picture at a time, and where files are remote.
    """
    pixels = int(dataset.sizes.prod(axis=1).max(initial=0))
    if engine.compiled is None or dataset.unit_count < FEW or pixels > MOST_PIXELS:
        return 1
    if any(is_url(path) for places in dataset.places for path in places):
        return 1
    threads = usable_threads()
    return threads + 1 if threads > 1 else 1


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _outlines(counts: Sequence[BoundaryCounts]) -> ImageLabels:
    """The labels that have a boundary, on either side, image after image."""
    rows: list[ImageLabels] = []
    for image, one in enumerate(counts):
        label = np.flatnonzero(one.truth + one.prediction)
        pixels = Overlaps(*(side[label] for side in one))
        rows.append(ImageLabels(np.full(len(label), image), label, pixels))
    return _concatenated(rows)


def _concatenated(rows: Sequence[ImageLabels]) -> ImageLabels:
    return ImageLabels(
        _joined([one.image for one in rows]),
        _joined([one.label for one in rows]),
        Overlaps(*(_joined([one.pixels[side] for one in rows]) for side in range(3))),
    )


def merge_confusions(parts: Sequence[Confusions]) -> Confusions:
    """Merge the evidence of several shards of images, in any order.

    Raises:
        ValueError: The shards were counted under different plans or labels, or are resamples.
    """
    first = parts[0]
    for part in parts:
        if (part.plan, part.labels) != (first.plan, first.labels):
            raise ValueError("shards of one evidence share their plan and their labels")
        if part.weights is not None:
            raise ValueError("only whole evidence is merged, no resample of it")
    if len(parts) == 1:
        return first
    names = [name for part in parts for name in part.sample_ids]
    by_name = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[by_name] = np.arange(len(names))
    offsets = np.cumsum([0, *(part.unit_count for part in parts[:-1])]).tolist()
    cells = Cells(*(_joined([part.cells[column] for part in parts]) for column in range(4)))
    shift = np.repeat(offsets, [len(part.cells.image) for part in parts])
    image = place[cells.image + shift]
    # An image is in one shard only, where its cells are in order.
    order, _ = grouped(image)
    return Confusions(
        first.plan,
        tuple(names[at] for at in by_name),
        first.labels,
        Cells(*(column[order] for column in cells._replace(image=image))),
        tuple(
            _merged([part.boundaries[at] for part in parts], offsets, place)
            for at in range(len(first.boundaries))
        ),
    )


def _merged(parts: Sequence[ImageLabels], offsets: Sequence[int], place: Ints) -> ImageLabels:
    moved = [
        part._replace(image=place[part.image + offset])
        for part, offset in zip(parts, offsets, strict=True)
    ]
    rows = _concatenated(moved)
    order, _ = grouped(rows.image)
    pixels = Overlaps(*(side[order] for side in rows.pixels))
    return ImageLabels(rows.image[order], rows.label[order], pixels)
