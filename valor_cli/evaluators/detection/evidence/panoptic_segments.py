"""Evidence of panoptic quality: matched and unmatched segments.

The rules are those of Kirillov et al., Panoptic Segmentation, CVPR 2019, as in panopticapi: pixels
without ground truth are void and leave the union; a pair of one label matches if its IoU is above
0.5, which holds for at most one pair per segment; a prediction with more than half of its pixels
in void, or in crowd regions of its label, is not an error. Merging any shards, in any order, gives
the same numbers, bit for bit, as one pass over all images.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.evidence.panoptic_pixels import SharedPixels, shared_pixels
from valor_cli.kernels.columns.grouping import positions_of, summed
from valor_cli.kernels.geometry.masks import areas
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.metric import Call

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MATCHED_ABOVE = 0.5
"""An IoU above this can belong to one pair alone, where segments do not overlap."""


class Sums(NamedTuple):
    """(replicas, labels) matches, errors, and summed IoUs of the matches."""

    tp: Ints
    fp: Ints
    fn: Ints
    iou: Floats


class Segments(Struct, frozen=True):
    """Segments with their outcomes, by image, then in file order.

    Attributes:
        image_ids: (units,) ascending.
        labels: Names of the labels.
        gt_image, gt_label: (m,) of the ground truths that are no crowd regions.
        gt_iou: (m,) with the prediction that each matched; 0 for none.
        wrong_image, wrong_label: (w,) of the predictions that are mistakes.
        things: By label, whether it is of things, or of stuff; None where the ground truth does not
            say, or says both.
        weights: (replicas, units) how often each image counts; None for once each, in one replica.
    """

    image_ids: NDArray[np.generic]
    labels: tuple[str, ...]
    gt_image: Ints
    gt_label: Ints
    gt_iou: Floats
    wrong_image: Ints
    wrong_label: Ints
    things: tuple[bool | None, ...]
    weights: Ints | None = None

    @property
    def unit_count(self) -> int:
        """Number of images."""
        return len(self.image_ids)

    @property
    def unit_weights(self) -> Ints:
        """(replicas, units) weight of each image."""
        if self.weights is None:
            return np.ones((1, self.unit_count), np.int64)
        return self.weights

    def select(self, units: NDArray[np.bool_]) -> Segments:
        """Select images."""
        number = np.cumsum(units) - 1
        truths, wrong = units[self.gt_image], units[self.wrong_image]
        return replace(
            self,
            image_ids=self.image_ids[units],
            gt_image=number[self.gt_image[truths]],
            gt_label=self.gt_label[truths],
            gt_iou=self.gt_iou[truths],
            wrong_image=number[self.wrong_image[wrong]],
            wrong_label=self.wrong_label[wrong],
        )

    def resamples(self, weights: Ints) -> Iterator[Segments]:
        """The evidence whose replica b has image i weights[b, i] times."""
        yield replace(self, weights=weights)

    def sums(self) -> Sums:
        """Weighted counts and IoUs by label."""
        matched = self.gt_iou > 0
        hit, missed = self.gt_image[matched], self.gt_image[~matched]
        label = self.gt_label[matched]
        return Sums(
            self._tally(hit, label).astype(np.int64),
            self._tally(self.wrong_image, self.wrong_label).astype(np.int64),
            self._tally(missed, self.gt_label[~matched]).astype(np.int64),
            self._tally(hit, label, self.gt_iou[matched]),
        )

    def _tally(self, image: Ints, label: Ints, amount: Floats | None = None) -> Floats:
        """(replicas, labels) sums of amounts, 1 each if none, added row after row: in one order."""
        each = np.ones(len(image)) if amount is None else amount
        count = len(self.labels)
        return np.array([np.bincount(label, own[image] * each, count) for own in self.unit_weights])


def plan_segments(calls: Sequence[Call], slices: Sequence[str]) -> None:
    """No plan: panoptic quality has no thresholds."""


def match_segments(dataset: DetectionDataset, plan: None) -> Segments:
    """Match one shard of images.

    Raises:
        DataError: Objects are not compared as masks, crowd regions were left out, or two objects of
            one side share pixels.
    """
    _check(dataset)
    truths, found = dataset.ground_truths, dataset.detections
    shared = shared_pixels(dataset)
    own = areas(found.shapes.mask).astype(np.int64)
    seen = _sums(shared, shared.pixels, len(found))
    void = own - seen
    alike = truths.label[shared.ground_truth] == found.label[shared.detection]
    crowd = truths.crowd[shared.ground_truth]
    excused = void + _sums(shared, np.where(alike & crowd, shared.pixels, 0), len(found))
    pairs = SharedPixels(*(column[alike & ~crowd] for column in shared))
    union = areas(truths.shapes.mask)[pairs.ground_truth] + seen[pairs.detection] - pairs.pixels
    iou = pairs.pixels / union
    matched = iou > MATCHED_ABOVE
    best = np.zeros(len(truths))
    best[pairs.ground_truth[matched]] = iou[matched]
    wrong = 2 * excused <= own
    wrong[pairs.detection[matched]] = False
    objects, mistakes = np.flatnonzero(~truths.crowd), np.flatnonzero(wrong)
    objects = objects[np.argsort(truths.image[objects], kind="stable")]
    mistakes = mistakes[np.argsort(found.image[mistakes], kind="stable")]
    return Segments(
        image_ids=dataset.image_ids,
        labels=dataset.labels,
        gt_image=truths.image[objects],
        gt_label=truths.label[objects],
        gt_iou=best[objects],
        wrong_image=found.image[mistakes],
        wrong_label=found.label[mistakes],
        things=dataset.things or (None,) * len(dataset.labels),
    )


def _sums(shared: SharedPixels, pixels: Ints, length: int) -> Ints:
    """(length,) pixels of each detection."""
    return summed(shared.detection, pixels, length)


def _check(dataset: DetectionDataset) -> None:
    """What panoptic quality can be computed of."""
    if dataset.matching != "coco":
        raise DataError(
            Problem("matching", "panoptic_quality needs crowd regions, which valor leaves out"),
            hint="set `matching: coco`, or leave panoptic_quality out",
        )
    shapes: tuple[Shapes, ...] = (dataset.ground_truths.shapes, dataset.detections.shapes)
    kinds = {kind for part in shapes for kind in part.kinds} - {"mask"}
    if kinds:
        found = min(kinds).replace("_", " ")
        raise DataError(
            Problem("geometry", f"panoptic_quality compares masks, found: {found}"),
            hint="set `geometry: mask`, or leave panoptic_quality out",
        )


def merge_segments(parts: Sequence[Segments]) -> Segments:
    """Merge the evidence of several shards of images, in any order.

    Raises:
        ValueError: The shards are of different labels, or resamples.
    """
    first = parts[0]
    if any((one.labels, one.things) != (first.labels, first.things) for one in parts):
        raise ValueError("shards of one evidence share their labels")
    if any(one.weights is not None for one in parts):
        raise ValueError("only whole evidence is merged, no resample of it")
    image_ids = np.unique(np.concatenate([one.image_ids for one in parts]))
    images = [positions_of(one.image_ids, image_ids) for one in parts]
    gt_image = np.concatenate([new[one.gt_image] for new, one in zip(images, parts, strict=True)])
    wrong_image = np.concatenate(
        [new[one.wrong_image] for new, one in zip(images, parts, strict=True)]
    )
    # An image is in one shard alone, so its rows keep their order.
    truths = np.argsort(gt_image, kind="stable")
    wrong = np.argsort(wrong_image, kind="stable")
    return replace(
        first,
        image_ids=image_ids,
        gt_image=gt_image[truths],
        gt_label=np.concatenate([one.gt_label for one in parts])[truths],
        gt_iou=np.concatenate([one.gt_iou for one in parts])[truths],
        wrong_image=wrong_image[wrong],
        wrong_label=np.concatenate([one.wrong_label for one in parts])[wrong],
    )
