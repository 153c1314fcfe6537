"""Structs that COCO JSON is decoded into: which keys are read, and their types."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from valor_cli.data.formats.coco.tables import Id

Sides: TypeAlias = tuple[float, float, float, float]


class Rle(msgspec.Struct, gc=False):
    """A run-length mask: compressed to a string, or a list."""

    size: tuple[int, int]
    counts: str | list[int]


Segmentation: TypeAlias = Rle | list[list[float]]


Absent: TypeAlias = UnsetType
"""The type of keys that sound files do not have: another name of one that is read."""


class Detection(msgspec.Struct, gc=False):
    """A detection with its box."""

    image_id: Id
    category_id: Id
    bbox: Sides
    score: float


class SegmentedDetection(msgspec.Struct, gc=False):
    """A detection with its segmentation; a third faster than `AnyDetection`."""

    image_id: Id
    category_id: Id
    segmentation: Segmentation
    score: float
    bbox: ClassVar[UnsetType] = UNSET


class AnyDetection(msgspec.Struct, gc=False):
    """A detection with all fields."""

    image_id: Id
    category_id: Id
    score: float
    bbox: Sides | UnsetType = UNSET
    segmentation: Segmentation | UnsetType | None = UNSET
    keypoints: list[float] | UnsetType | None = UNSET
    polygon: Absent = UNSET
    mask: Absent = UNSET


class Annotation(msgspec.Struct, gc=False):
    """A ground truth object with its box."""

    image_id: Id
    category_id: Id
    bbox: Sides
    id: Id | UnsetType = UNSET
    area: float | UnsetType = UNSET
    iscrowd: int | bool = False
    crowd: Absent = UNSET
    is_crowd: Absent = UNSET


class SegmentedAnnotation(msgspec.Struct, gc=False):
    """A ground truth object with its segmentation."""

    image_id: Id
    category_id: Id
    segmentation: Segmentation
    id: Id | UnsetType = UNSET
    area: float | UnsetType = UNSET
    iscrowd: int | bool = False
    crowd: Absent = UNSET
    is_crowd: Absent = UNSET
    bbox: ClassVar[UnsetType] = UNSET


class AnyAnnotation(msgspec.Struct, gc=False):
    """A ground truth object with all fields."""

    image_id: Id
    category_id: Id
    id: Id | UnsetType = UNSET
    area: float | UnsetType = UNSET
    iscrowd: int | bool = False
    crowd: Absent = UNSET
    is_crowd: Absent = UNSET
    bbox: Sides | UnsetType = UNSET
    segmentation: Segmentation | UnsetType | None = UNSET
    keypoints: list[float] | UnsetType | None = UNSET
    polygon: Absent = UNSET
    mask: Absent = UNSET


AnyRow: TypeAlias = (
    Detection | SegmentedDetection | AnyDetection | Annotation | SegmentedAnnotation | AnyAnnotation
)
Row = TypeVar("Row", bound=AnyRow)


class Category(msgspec.Struct, gc=False):
    id: Id
    name: str


class Image(msgspec.Struct, gc=False):
    id: Id
    width: int | None = None
    height: int | None = None
    file_name: str | None = None


class Dataset(msgspec.Struct, Generic[Row], gc=False):
    """Detections in a COCO dictionary."""

    annotations: list[Row]
    categories: list[Category] | UnsetType = UNSET


class GroundTruth(msgspec.Struct, Generic[Row], gc=False):
    images: list[Image]
    annotations: list[Row]
    categories: list[Category]


class ImageObjects(msgspec.Struct, gc=False):
    images: list[dict[str, Any]]


class FederatedImage(msgspec.Struct, gc=False):
    neg_category_ids: list[Id] | None = None
    not_exhaustive_category_ids: list[Id] | None = None


class FederatedCategory(msgspec.Struct, gc=False):
    frequency: Literal["r", "c", "f"] | None = None


class Federated(msgspec.Struct, gc=False):
    """Fields of LVIS that COCO does not have, read separately."""

    images: list[FederatedImage]
    categories: list[FederatedCategory]


LVIS_KEYS: Final = {
    "negative": "neg_category_ids",
    "not_exhaustive": "not_exhaustive_category_ids",
}
"""LVIS's keys of an image, by the column they become."""
