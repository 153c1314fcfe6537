"""Collect warnings about valid but suspicious objects.

The remarks of several sets of images add up to those of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import Detections, GroundTruths
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.detection.evidence.parameters import AREAS
from valor_cli.evaluators.id_mismatch import LITTLE, SHOWN, spellings
from valor_cli.kernels.geometry.conversion import areas
from valor_cli.kernels.geometry.shapes import Kind, Shapes

Flags = NDArray[np.bool_]


class DataWarnings(Struct, frozen=True):
    """Remarks on the objects of some images, and their labels.

    Attributes:
        true: (labels of the run) whether a ground truth that is no crowd has the label.
        crowds: The same of any ground truth.
        predicted: By model, the same of its detections.
        objects: Ground truths that are no crowds.
        counts: What is odd, by kind and by whose objects it is of: "ground truths", or a model.
        strangers: By model, the first ids of images that the ground truth does not have.
    """

    true: Flags
    crowds: Flags
    predicted: Mapping[str, Flags]
    objects: int
    counts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    strangers: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Sequence[DataWarnings]) -> DataWarnings:
        """Join remarks of several parts."""
        first = parts[0]
        counts: dict[tuple[str, str], int] = {}
        for part in parts:
            for name, count in part.counts.items():
                counts[name] = counts.get(name, 0) + count
        return cls(
            true=np.logical_or.reduce([part.true for part in parts]),
            crowds=np.logical_or.reduce([part.crowds for part in parts]),
            predicted={
                model: np.logical_or.reduce([part.predicted[model] for part in parts])
                for model in first.predicted
            },
            objects=sum(part.objects for part in parts),
            counts=counts,
            strangers={
                model: sorted({one for part in parts for one in part.strangers[model]})[:SHOWN]
                for model in first.strangers
            },
        )

    @property
    def seen(self) -> Flags:
        """(labels,) whether any object has the label."""
        return np.asarray(np.logical_or.reduce([self.crowds, *self.predicted.values()]))

    def unknown(self, model: str) -> int:
        """Detections that were dropped because their image or category is unknown."""
        return self.counts.get(("unknown", model), 0)

    def of_images(self, files: Mapping[str, str], truth: str, ids: Sequence[str]) -> list[str]:
        """A warning if few detections are in images of the ground truth.

        Args:
            files: By model, the file of its detections.
            truth: That of the ground truth.
            ids: The first ids of its images.

        Raises:
            DataError: None of a model is.
        """
        warnings = []
        for model, path in files.items():
            whole, lost = (self.counts.get((name, model), 0) for name in ("whole", "strangers"))
            if lost <= LITTLE * whole:
                continue
            message = (
                f"{f'only {whole - lost:,}' if lost < whole else 'none'} of {whole:,} detections "
                f"is of an image of {truth} ({spellings(self.strangers[model], ids)})"
            )
            if lost == whole:
                raise DataError(Problem(path, message), hint=ALIKE)
            warnings.append(f"{path}: {message}; the others are left out")
        return warnings

    def of_matching(self) -> list[str]:
        """Warnings about objects that `matching: valor` leaves out."""
        warnings = []
        if crowds := self.counts.get(("left out", TRUTHS)):
            warnings.append(
                f"matching: valor knows no crowd regions, which are left out: {crowds:,}"
            )
        for model in self.predicted:
            if count := self.counts.get(("left out", model)):
                warnings.append(
                    f"matching: valor leaves out detections of {model} with a score of 0 or less: "
                    f"{count:,}"
                )
        return warnings

    def of_shapes(self) -> list[str]:
        """Warnings about repaired shapes."""
        return [
            f"{_called(whose)}: polygons that cross themselves, mended: {count:,}"
            for whose in (TRUTHS, *self.predicted)
            if (count := self.counts.get(("mended", whose)))
        ]

    def of_objects(self, kind: Kind) -> list[str]:
        """Warnings about sizes and scores that have no effect."""
        warnings = [*self._zero_areas(TRUTHS, kind), *self._misread()]
        if huge := self.counts.get(("huge", TRUTHS)):
            warnings.append(
                f"ground truths above 1e10 square pixels, which count nowhere: {huge:,}"
            )
        for model in self.predicted:
            warnings += self._zero_areas(model, kind)
            if below := self.counts.get(("below zero", model)):
                warnings.append(
                    f"detections of {model} with a score below 0: {below:,}; average_recall leaves "
                    "them out, unless recall_score_threshold is lower"
                )
        return warnings

    def _misread(self) -> Iterator[str]:
        """Of models all of whose boxes look like something else, and ground truth's do not."""
        for model in self.predicted:
            if self._all("within a pixel", model):
                yield (
                    f"no box of {model} is larger than a pixel; boxes are x, y, width and height "
                    "in pixels: are these fractions of the image?"
                )
            elif self._all("beyond its corner", model):
                yield (
                    f"every box of {model} is wider and higher than its corner is far from that of "
                    "the image; boxes are x, y, width and height: are these x1, y1, x2 and y2?"
                )

    def _all(self, look: str, model: str) -> bool:
        """Whether all boxes of a model look so, and some of the ground truth do not."""
        theirs, own = (
            (self.counts.get(("boxes", whose), 0), self.counts.get((look, whose), 0))
            for whose in (model, TRUTHS)
        )
        return theirs[0] == theirs[1] >= ENOUGH and own[0] > own[1]

    def _zero_areas(self, whose: str, kind: Kind) -> list[str]:
        empty = self.counts.get(("no area", whose))
        if not empty:
            return []
        word = kind.replace("_", " ")
        return [f"{_called(whose)} whose {word} has no area, which match nothing: {empty:,}"]


TRUTHS = ""
"""Whose objects ground truths are: no model's."""

ALIKE = (
    "Write the ids of images alike on both sides, or have image_id name the column or key that "
    "holds them."
)

ENOUGH = 5
"""Boxes of which it is said what all of them look like."""


def _called(whose: str) -> str:
    return f"detections of {whose}" if whose else "ground truths"


def remarks_of(
    truths: GroundTruths, detections: Mapping[str, Detections], labels: int
) -> DataWarnings:
    """Collect remarks on objects; `labels` are those of the run."""
    objects = truths.label[~truths.uncounted]
    counts = {
        ("no area", TRUTHS): _zero_areas(truths.shapes),
        ("huge", TRUTHS): int((truths.area > AREAS["all"][1]).sum()),
    }
    counts |= _looks(TRUTHS, truths.shapes)
    for model, part in detections.items():
        counts |= _looks(model, part.shapes)
        counts["no area", model] = _zero_areas(part.shapes)
        counts["below zero", model] = int((part.score < 0).sum())
    return DataWarnings(
        true=np.bincount(objects, minlength=labels) > 0,
        crowds=np.bincount(truths.label, minlength=labels) > 0,
        predicted={
            model: np.bincount(part.label, minlength=labels) > 0
            for model, part in detections.items()
        },
        objects=len(objects),
        counts=counts,
    )


def _zero_areas(shapes: Shapes) -> int:
    return int((areas(shapes) == 0).sum())


def _looks(whose: str, shapes: Shapes) -> dict[tuple[str, str], int]:
    """How many boxes there are, and how many look like fractions and like two corners."""
    if shapes.kinds != ("box",):
        return {}
    x, y, width, height = shapes.box.T
    return {
        ("boxes", whose): len(x),
        ("within a pixel", whose): int(((width <= 1) & (height <= 1)).sum()),
        ("beyond its corner", whose): int(((width > x) & (height > y)).sum()),
    }
