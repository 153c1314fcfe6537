"""Count the pixels that segments of ground truth and prediction share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import DetectionDataset, Detections, GroundTruths
from valor_cli.errors import LISTED, DataError, Problem, printable
from valor_cli.kernels.columns.grouping import blocks, grouped, spread, summed
from valor_cli.kernels.geometry.masks import RUNS_AT_ONCE, Runs, bounds

Ints = NDArray[np.int64]

_HINT = (
    "Panoptic quality gives each pixel to one object at most: give masks that do not overlap, as "
    "COCO panoptic has them, or leave panoptic_quality out."
)


class SharedPixels(NamedTuple):
    """(p,) pairs of one image that share pixels, by image, then ground truth, then detection.

    Attributes:
        ground_truth, detection: Rows of the dataset.
        pixels: How many they share.
    """

    ground_truth: Ints
    detection: Ints
    pixels: Ints


def shared_pixels(dataset: DetectionDataset) -> SharedPixels:
    """All pairs that share pixels, in one sweep along the runs of all masks.

    Args:
        dataset: Its objects are masks; those of one image are of one size.

    Raises:
        DataError: Two ground truths, or two detections, of one image share pixels.
    """
    size = _image_pixels(dataset)
    truths, found = _Side(dataset.ground_truths, size), _Side(dataset.detections, size)
    none = np.zeros(0, np.int64)
    parts = [SharedPixels(none, none, none)]
    overlaps = _Overlaps(dataset)
    for block in blocks(truths.work + found.work, RUNS_AT_ONCE):
        lines = truths.line(block), found.line(block)
        overlaps.note("ground truths", lines[0])
        overlaps.note("detections", lines[1])
        parts.append(_shared(*lines))
    overlaps.stop()
    shared = SharedPixels(*map(np.concatenate, zip(*parts, strict=True)))
    return shared._replace(
        ground_truth=truths.rows[shared.ground_truth], detection=found.rows[shared.detection]
    )


def _image_pixels(dataset: DetectionDataset) -> Ints:
    """(units,) pixels of each image; 0 where unknown."""
    size = np.zeros(dataset.unit_count, np.int64)
    for objects in (dataset.ground_truths, dataset.detections):
        np.maximum.at(size, objects.image, objects.shapes.mask.size.prod(axis=1))
    return size


class _Line(NamedTuple):
    """The runs of the objects of some images on one line, by where they begin.

    Attributes:
        begin, end: (r,) first pixel and the one after the last; the images stand one after the
            other.
        owner: (r,) place of the object among all, by image.
    """

    begin: Ints
    end: Ints
    owner: Ints


class _Side:
    """The objects of one side by image.

    Attributes:
        rows: (n,) rows of the dataset, by image; inside each in their order.
        work: (units,) runs of each image.
    """

    def __init__(self, objects: GroundTruths | Detections, size: Ints) -> None:
        self.rows, _ = grouped(objects.image)
        self._objects = objects
        self._offset = np.concatenate([[0], np.cumsum(size)])
        self._bounds = np.searchsorted(objects.image[self.rows], np.arange(len(size) + 1))
        runs = np.diff(objects.shapes.mask.starts).astype(np.float64)
        self.work = summed(objects.image, runs, len(size))

    def line(self, images: slice) -> _Line:
        """The runs of some images."""
        first, last = self._bounds[images.start], self._bounds[images.stop]
        rows = self.rows[first:last]
        runs = Runs(self._objects.shapes.mask.take(rows))
        counts = np.diff(runs.starts)
        shift = np.repeat(self._offset[self._objects.image[rows]] - runs.offset[:-1], counts)
        begin, end = runs.begin + shift, runs.end + shift
        order = np.argsort(begin)
        owner = np.repeat(np.arange(first, last), counts)
        return _Line(begin[order], end[order], owner[order])


def _shared(truths: _Line, found: _Line) -> SharedPixels:
    """Shared pixels by places; the runs of each line are apart."""
    first = np.searchsorted(truths.end, found.begin, side="right")
    count = np.searchsorted(truths.begin, found.end, side="left") - first
    t, d = spread(first, count), np.repeat(np.arange(len(count)), count)
    pixels = np.minimum(truths.end[t], found.end[d]) - np.maximum(truths.begin[t], found.begin[d])
    width = int(found.owner.max(initial=0)) + 1
    keys, pair = np.unique(truths.owner[t] * width + found.owner[d], return_inverse=True)
    return SharedPixels(*np.divmod(keys, width), summed(pair, pixels, len(keys)))


class _Overlaps:
    """Objects of one side that share pixels: the first kept, the rest counted."""

    def __init__(self, dataset: DetectionDataset) -> None:
        self._dataset = dataset
        self._problems: list[Problem] = []
        self._total = 0

    def note(self, side: str, line: _Line) -> None:
        """Note the pairs whose runs share a pixel."""
        reach = np.maximum.accumulate(line.end)
        late = np.flatnonzero(line.begin[1:] < reach[:-1]) + 1
        if not len(late):
            return
        # The run before that reaches furthest covers where this one begins.
        furthest = np.maximum.accumulate(np.where(line.end == reach, np.arange(len(reach)), 0))
        pairs = np.sort(line.owner[np.column_stack([furthest[late - 1], late])], axis=1)
        pairs = np.unique(pairs, axis=0)
        self._total += len(pairs)
        kept = pairs[: LISTED - len(self._problems)]
        self._problems += [self._problem(side, *pair) for pair in kept.tolist()]

    def _problem(self, side: str, one: int, other: int) -> Problem:
        dataset = self._dataset
        objects = dataset.ground_truths if side == "ground truths" else dataset.detections
        rows = grouped(objects.image)[0][[one, other]]
        boxes = bounds(objects.shapes.mask.take(rows)).astype(np.int64).tolist()
        labels = [printable(dataset.labels[label]) for label in objects.label[rows].tolist()]
        a, b = (f"'{label}' in the box {box}" for label, box in zip(labels, boxes, strict=True))
        image = dataset.image_ids[objects.image[rows[0]]]
        return Problem(f"image {image}", f"two {side} share pixels: {a} and {b}")

    def stop(self) -> None:
        """Raise what was noted, if anything was."""
        if self._total:
            raise DataError(self._problems, total=self._total, hint=_HINT)
