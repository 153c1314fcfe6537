"""Evidence of semantic segmentation: a sparse confusion matrix for each image.

A label without ground truth has no value, save the precision of one that is predicted, and enters
no average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Annotated, NamedTuple, TypeVar

import numpy as np
from annotated_types import Interval
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.evaluators.memo import Memo
from valor_cli.evaluators.ratios import Margins, Ratios, Words
from valor_cli.kernels.columns.grouping import grouped, summed
from valor_cli.metric import Call, EvidenceCounts, OneSided

Ints = NDArray[np.int64]

T = TypeVar("T")

NO_GROUND_TRUTH = "no ground truth pixels"
NO_LABEL = "no label has ground truth pixels"
NO_PREDICTIONS = "0/0: no pixel is predicted so; zero_division stands in"
WORDS = Words(NO_PREDICTIONS, NO_PREDICTIONS, NO_GROUND_TRUTH, NO_LABEL)

DilationRatio = Annotated[float, Interval(gt=0, le=1)]

BOUNDARIES = "boundaries"
"""What a metric lists under `Metric.evidence` that asks for the outlines of labels."""


class CountingPlan(Struct, frozen=True):
    """Plan of the evidence that the metrics of a run need.

    Attributes:
        dilation_ratios: How far boundaries reach, as parts of an image's diagonal; ascending.
    """

    dilation_ratios: tuple[float, ...] = ()


class Overlaps(NamedTuple):
    """Pixel counts of labels, per image or summed.

    Attributes:
        truth: Pixels of the label's ground truth.
        prediction: Pixels predicted as the label.
        both: Pixels that are both.
    """

    truth: Ints
    prediction: Ints
    both: Ints

    @property
    def union(self) -> Ints:
        """Pixels in either."""
        return self.truth + self.prediction - self.both


class ImageLabels(NamedTuple):
    """(r,) labels that occur in each image, on either side."""

    image: Ints
    label: Ints
    pixels: Overlaps


class Cells(NamedTuple):
    """(c,) nonzero cells of the images' matrices, by image, ground truth, prediction.

    Attributes:
        image: Number of the image.
        truth, prediction: Codes: the numbers of labels, their count for the background, and one
            more for what a prediction leaves open.
        pixels: Of the image that have both.
    """

    image: Ints
    truth: Ints
    prediction: Ints
    pixels: Ints


class Images(NamedTuple):
    """(units,) pixel counts of each image.

    Attributes:
        pixels: Those that count.
        right: Those of them that are predicted right, as background too.
    """

    pixels: Ints
    right: Ints


class Confusions(Struct, frozen=True):
    """A sparse confusion matrix of pixels for each image.

    No label (an excluded background, what a prediction leaves open) has a row and a column too.
    Ignored pixels are in no matrix.

    Attributes:
        plan: The boundaries decided.
        sample_ids: (units,) ascending.
        labels: Names of the labels.
        cells: What pixels are and what they are predicted as.
        boundaries: Boundary pixels, for each dilation ratio of the plan.
        weights: (replicas, units) how often each image counts; None for once each, in one replica.
    """

    plan: CountingPlan
    sample_ids: tuple[str, ...]
    labels: tuple[str, ...]
    cells: Cells
    boundaries: tuple[ImageLabels, ...] = ()
    weights: Ints | None = None
    # What was computed already: of the cells, and of the cells with these weights.
    _shared: Memo = field(default_factory=Memo)
    _known: Memo = field(default_factory=Memo)

    @property
    def unit_count(self) -> int:
        """Number of images."""
        return len(self.sample_ids)

    @property
    def unit_weights(self) -> Ints:
        """(replicas, units) weight of each image."""
        if self.weights is None:
            return np.ones((1, self.unit_count), np.int64)
        return self.weights

    def select(self, units: NDArray[np.bool_]) -> Confusions:
        """Select images."""
        number = np.cumsum(units) - 1
        kept = units[self.cells.image]
        cells = Cells(*(column[kept] for column in self.cells))
        chosen = np.flatnonzero(units).tolist()
        return replace(
            self,
            sample_ids=tuple(self.sample_ids[unit] for unit in chosen),
            cells=cells._replace(image=number[cells.image]),
            boundaries=tuple(_selected(part, units, number) for part in self.boundaries),
            _shared=Memo(),
            _known=Memo(),
        )

    def resamples(self, weights: Ints) -> Iterator[Confusions]:
        """The evidence whose replica b has image i weights[b, i] times."""
        yield replace(self, weights=weights, _known=Memo())

    def image_labels(self) -> ImageLabels:
        """Pixel counts of each label in each image, unweighted."""
        return self.once("image labels", self._image_labels)

    def images(self) -> Images:
        """Pixel counts of each image, unweighted."""
        return self.once("images", self._images)

    def overlaps(self) -> Overlaps:
        """(replicas, labels) pixel counts of each label."""
        return self._known.once("overlaps", lambda: self._over_images(self.image_labels()))

    def boundary_overlaps(self, dilation_ratio: float) -> Overlaps:
        """(replicas, labels) boundary pixel counts of each label.

        Args:
            dilation_ratio: One of the plan's.
        """
        at = self.plan.dilation_ratios.index(float(dilation_ratio))
        return self._over_images(self.boundaries[at])

    def matrix(self) -> Ints:
        """(labels + 1, labels + 1) pixel counts of the first replica, as `matrices`."""
        return np.asarray(self.matrices()[0])

    def matrices(self) -> Ints:
        """(replicas, labels + 1, labels + 1) pixel counts, ground truth in rows; the last is no
        label.
        """
        width = len(self.labels) + 1
        image, truth, prediction, pixels = self.cells
        column = np.minimum(prediction, width - 1)
        sums = self._sums(truth * width + column, image, pixels, width * width)
        return np.asarray(sums.reshape(-1, width, width))

    def one_sided(self) -> OneSided:
        """Labels that occur on one side only."""
        truth, prediction = (part[0] for part in self.overlaps()[:2])
        return OneSided(
            tuple(compress(self.labels, ((truth > 0) & (prediction == 0)).tolist())),
            tuple(compress(self.labels, ((truth == 0) & (prediction > 0)).tolist())),
        )

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Compute a value that does not depend on image weights, once for all resamples.

        Args:
            key: Names it among all that is made of this evidence.
            make: Makes it.
        """
        return self._shared.once(key, make)

    def _over_images(self, rows: ImageLabels) -> Overlaps:
        return Overlaps(
            *(self._sums(rows.label, rows.image, part, len(self.labels)) for part in rows.pixels)
        )

    def _sums(self, group: Ints, image: Ints, pixels: Ints, length: int) -> Ints:
        """(replicas, length) pixels of each group, as often as the image of each row counts."""
        if self.weights is None:
            return summed(group, pixels, length)[None]
        return np.array([summed(group, row[image] * pixels, length) for row in self.weights])

    def _image_labels(self) -> ImageLabels:
        image, truth, prediction, pixels = self.cells
        count = len(self.labels)
        none = np.zeros(len(pixels), np.int64)
        right = np.where(truth == prediction, pixels, 0)
        # A row for the ground truth of each cell, which counts what is right, and one for the
        # prediction, each where it is a label.
        known = np.concatenate([truth, prediction]) < count
        image, label, *pixels_of = (
            np.concatenate(halves)[known]
            for halves in (
                (image, image),
                (truth, prediction),
                (pixels, none),
                (none, pixels),
                (right, none),
            )
        )
        order, starts = grouped(image * count + label)
        first = order[starts[:-1]]
        summed = (np.add.reduceat(np.append(one[order], 0), starts)[:-1] for one in pixels_of)
        return ImageLabels(image[first], label[first], Overlaps(*summed))

    def _images(self) -> Images:
        image, truth, prediction, pixels = self.cells
        right = np.where(truth == prediction, pixels, 0)
        return Images(*(summed(image, one, self.unit_count) for one in (pixels, right)))


def _selected(rows: ImageLabels, units: NDArray[np.bool_], number: Ints) -> ImageLabels:
    kept = units[rows.image]
    pixels = Overlaps(*(part[kept] for part in rows.pixels))
    return ImageLabels(number[rows.image[kept]], rows.label[kept], pixels)


def margins(confusions: Confusions) -> Margins:
    """Correct, predicted and true pixels of each label."""
    truth, prediction, both = confusions.overlaps()
    return Margins(both, prediction, truth, truth > 0)


def ious(confusions: Confusions) -> Ratios:
    """Intersection over union of each label."""
    pixels = confusions.overlaps()
    return Ratios.of_truth(pixels.both, pixels.union, pixels.truth)


def plan_counting(calls: Sequence[Call], slices: Sequence[str]) -> CountingPlan:
    """The dilation ratios of all boundary metrics."""
    ratios = {
        float(call.parameters["dilation_ratio"])
        for call in calls
        if BOUNDARIES in call.metric.evidence
    }
    return CountingPlan(tuple(sorted(ratios)))


def counted(confusions: Confusions) -> Iterator[EvidenceCounts]:
    """Counts of pixels in each replica, as `confusion_matrix` has them."""
    for pixels in confusions.matrices():
        # The last row and column are those of no label.
        tp = pixels.diagonal()[:-1]
        fp, fn = pixels[:, :-1].sum(axis=0) - tp, pixels[:-1].sum(axis=1) - tp
        yield EvidenceCounts(tuple(confusions.labels), tp, fp, fn, pixels[:-1, :-1])
