"""Ground truth objects and the detections of one model, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.gallery import Gallery, shown_objects
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.results import Illustration, MetricExample

Ints = NDArray[np.int64]


class _Objects(Struct, frozen=True):
    image: Ints

    def __len__(self) -> int:
        return len(self.image)

    def where(self, rows: NDArray[np.bool_], image: Ints) -> Self:
        """Select rows, with images renumbered by `image`."""
        columns = {name: getattr(self, name) for name in self.__struct_fields__}
        found = {
            name: column.take(rows) if isinstance(column, Shapes) else column[rows]
            for name, column in columns.items()
            if column is not None
        }
        return replace(self, **{**found, "image": image[self.image[rows]]})


class GroundTruths(_Objects, frozen=True):
    """Ground truth objects.

    Attributes:
        image, label: (m,) positions in the dataset's `image_ids` and `labels`.
        shapes: Their geometry, all of one kind.
        area: (m,) area in pixels that decides the size class; of the mask where there is one.
        crowd: (m,) whether it marks a region of many objects.
        number: (m,) row in the whole dataset, which a shard keeps.
        keypoints: (m, k, 3) x, y, visibility; None unless a metric needs them.
        difficult: (m,) whether it is neither found nor missed, as in PASCAL VOC; None: none is.
    """

    label: Ints
    shapes: Shapes
    area: NDArray[np.float64]
    crowd: NDArray[np.bool_]
    number: Ints
    keypoints: NDArray[np.float64] | None = None
    difficult: NDArray[np.bool_] | None = None

    @property
    def uncounted(self) -> NDArray[np.bool_]:
        """(m,) crowds and difficult objects, which are neither true positives nor false
        negatives.
        """
        return self.crowd if self.difficult is None else self.crowd | self.difficult


class Detections(_Objects, frozen=True):
    """Predicted objects, in file order within each image.

    Attributes:
        image, label, shapes, number, keypoints: As in `GroundTruths`.
        score: (n,) confidence, higher is surer.
    """

    label: Ints
    shapes: Shapes
    score: NDArray[np.float64]
    number: Ints
    keypoints: NDArray[np.float64] | None = None


class Federation(Struct, frozen=True):
    """The federated annotations of LVIS for its images and labels.

    Attributes:
        negative: (u, labels) whether an image was searched for a label and has none.
        not_exhaustive: (u, labels) whether not every object of a label is marked in an image.
        frequency: (labels,) "r", "c" or "f": in how many images of the training set it occurs.
    """

    negative: NDArray[np.bool_]
    not_exhaustive: NDArray[np.bool_]
    frequency: tuple[str, ...]

    def of_labels(self, labels: Ints) -> Federation:
        """Select labels."""
        return Federation(
            self.negative[:, labels],
            self.not_exhaustive[:, labels],
            tuple(self.frequency[label] for label in labels.tolist()),
        )


class DetectionDataset(Struct, frozen=True):
    """Ground truth and the detections of one model.

    Attributes:
        image_ids: (units,) ascending; every image, also those without any object.
        labels: Names, in the order of the file's categories.
        matching: The rule by which detections meet ground truths, "coco" or "valor".
        federation: Of LVIS data; None unless a metric needs it.
        gallery: What it takes to show an object; a shard has none.
        things: By label, whether it is of things or of stuff, None where that is open; None for all
            where the ground truth does not say.
        inclusive_pixels: Whether boxes were made a pixel wider and higher.
    """

    image_ids: NDArray[np.generic]
    labels: tuple[str, ...]
    ground_truths: GroundTruths
    detections: Detections
    matching: str = "coco"
    federation: Federation | None = None
    gallery: Gallery | None = None
    things: tuple[bool | None, ...] | None = None
    inclusive_pixels: bool = False

    @property
    def unit_count(self) -> int:
        """Number of images."""
        return len(self.image_ids)

    @property
    def unit_ids(self) -> Sequence[Any]:
        """(units,) ids in the input files."""
        return list(self.image_ids)

    def shard(self, units: NDArray[np.bool_]) -> DetectionDataset:
        """Select images; `units` is a mask over `image_ids`."""
        image = np.cumsum(units) - 1
        truths, detections, federation = self.ground_truths, self.detections, self.federation
        return replace(
            self,
            image_ids=self.image_ids[units],
            ground_truths=truths.where(units[truths.image], image),
            detections=detections.where(units[detections.image], image),
            federation=federation
            and replace(
                federation,
                negative=federation.negative[units],
                not_exhaustive=federation.not_exhaustive[units],
            ),
            gallery=None,
        )

    def verify(self) -> None:
        """Do nothing: all data is already read."""

    def sample_texts(self) -> Mapping[str, Sequence[str | None]]:
        """No texts: samples are images."""
        return {}

    def image_files(self) -> Mapping[Any, str]:
        """The file of each image for which files name one."""
        return {} if self.gallery is None else self.gallery.files_of(self.image_ids)

    def illustrate(self, examples: Sequence[MetricExample]) -> list[Illustration]:
        """The image and objects of each example, from the whole dataset."""
        gallery, truths, found = self.gallery or Gallery(), self.ground_truths, self.detections
        refs = [ref for one in examples for ref in one.objects]
        of_truth = [ref for ref in refs if ref.role == "ground_truth"]
        others = [ref for ref in refs if ref.role == "prediction"]
        shown = {
            **shown_objects(of_truth, self.labels, gallery.truth_ids, truths.shapes, truths.label),
            **shown_objects(
                others, self.labels, gallery.detection_ids, found.shapes, found.label, found.score
            ),
        }
        return [
            Illustration(gallery.picture(one.sample_id), tuple(shown[ref] for ref in one.objects))
            for one in examples
        ]
