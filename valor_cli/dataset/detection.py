"""Boxes of images: ground truths and one model's detections as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class GroundTruths:
    """The right boxes.

    Attributes:
        image, label: (m,) positions in the dataset's `image_ids` and `labels`.
        box: (m, 4) x, y, width, height in pixels.
        area: (m,) area in pixels that decides the size class; of the mask where there is one.
        crowd: (m,) whether it marks a region of many objects.
    """

    image: NDArray[np.int64]
    label: NDArray[np.int64]
    box: NDArray[np.float64]
    area: NDArray[np.float64]
    crowd: NDArray[np.bool_]

    def where(self, rows: NDArray[np.bool_], image: NDArray[np.int64]) -> GroundTruths:
        """Some rows, with images renumbered by `image`."""
        return GroundTruths(
            image[self.image[rows]],
            self.label[rows],
            self.box[rows],
            self.area[rows],
            self.crowd[rows],
        )


@dataclass(frozen=True, slots=True)
class Detections:
    """The predicted boxes, in file order inside each image.

    Attributes:
        image, label, box: As in `GroundTruths`.
        score: (n,) confidence, higher is surer.
    """

    image: NDArray[np.int64]
    label: NDArray[np.int64]
    box: NDArray[np.float64]
    score: NDArray[np.float64]

    def where(self, rows: NDArray[np.bool_], image: NDArray[np.int64]) -> Detections:
        """Some rows, with images renumbered by `image`."""
        return Detections(
            image[self.image[rows]], self.label[rows], self.box[rows], self.score[rows]
        )


@dataclass(frozen=True, slots=True)
class DetectionDataset:
    """What one model is held against.

    Attributes:
        image_ids: (units,) ascending; every image, also those without any box.
        labels: Names, in the order of the file's categories.
    """

    image_ids: NDArray[np.generic]
    labels: tuple[str, ...]
    ground_truths: GroundTruths
    detections: Detections

    @property
    def unit_count(self) -> int:
        """How many images there are."""
        return len(self.image_ids)

    def shard(self, units: NDArray[np.bool_]) -> DetectionDataset:
        """The part with those images only; `units` is a mask over `image_ids`."""
        image = np.cumsum(units) - 1
        truths, detections = self.ground_truths, self.detections
        return DetectionDataset(
            self.image_ids[units],
            self.labels,
            truths.where(units[truths.image], image),
            detections.where(units[detections.image], image),
        )
