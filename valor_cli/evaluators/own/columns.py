"""The columns of a dataset, as own metrics of columns read them."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.dataset import DetectionDataset
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.own.sample import COLUMNS
from valor_cli.kernels.columns.grouping import spread
from valor_cli.kernels.geometry.conversion import bounds

Ints = NDArray[np.int64]
Objects = NDArray[Any]

TextColumns: Final = make_dataclass(
    "TextColumns", ["sample_ids", *COLUMNS], frozen=True, slots=True
)
"""Arrays of what `Sample` has of one sample."""

# Pickled by that name, which makers of dataclasses set from Python 3.12 on.
TextColumns.__module__ = __name__


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """Samples with their labels and scores.

    Attributes:
        labels: The names of all labels.
        sample_ids: (n,) ids.
        ground_truth: (n,) names; of samples with sets of labels (n, labels), whether each is in it.
        prediction: (n,) the names of the top labels; None: no label has a score.
        scores: (n, labels) scores; 0 where none is listed.
    """

    labels: tuple[str, ...]
    sample_ids: Objects
    ground_truth: Objects
    prediction: Objects
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ObjectColumns:
    """Objects of all images, those of an image together.

    Attributes:
        image: (n,) the position of its image in `sample_ids`; ascending.
        label: (n,) names.
        box: (n, 4) x, y, width, height in pixels; of other shapes their bounds.
        score: (n,) of detections; None of ground truths.
        crowd: (n,) whether a ground truth is a region of many; None of detections.
    """

    image: Ints
    label: Objects
    box: NDArray[np.float64]
    score: NDArray[np.float64] | None = None
    crowd: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class ImageColumns:
    """Images with their objects.

    Attributes:
        labels: The names of all labels.
        sample_ids: (images,) ids.
        ground_truths, detections: Their objects.
    """

    labels: tuple[str, ...]
    sample_ids: Objects
    ground_truths: ObjectColumns
    detections: ObjectColumns


if TYPE_CHECKING:
    Columns: TypeAlias = Any
else:
    Columns = TextColumns | LabelColumns | ImageColumns


def columns_of(data: Any) -> Columns:
    """The columns of a dataset.

    Raises:
        ConfigError: Samples have several labels each, of different keys.
    """
    if isinstance(data, TextDataset):
        named = {name: _objects(getattr(data, name)) for name in COLUMNS}
        return TextColumns(sample_ids=_objects(data.sample_ids), **named)
    if isinstance(data, ClassificationDataset):
        return _labels(data)
    return _images(data)


def taken(columns: Columns, order: Ints) -> Columns:
    """The columns of some samples, in that order; one that comes twice is two samples."""
    if isinstance(columns, ImageColumns):
        return replace(
            columns,
            sample_ids=columns.sample_ids[order],
            ground_truths=_objects_of(columns.ground_truths, order),
            detections=_objects_of(columns.detections, order),
        )
    return replace(
        columns,
        **{
            name: getattr(columns, name)[order]
            for name in columns.__dataclass_fields__
            if name != "labels"
        },
    )


def ids_of(data: Any) -> list[str]:
    """The ids of a dataset's units, as text."""
    ids = np.asarray(data.unit_ids).tolist()
    return [one.decode() if isinstance(one, bytes) else one for one in ids]


def _labels(data: ClassificationDataset) -> LabelColumns:
    if len(data.keys) > 1:
        message = "functions of columns read samples with one label key; `columns:` names it"
        raise ConfigError(Problem("metrics", message))
    names = _objects([*data.labels, None])
    found = data.scores.sparse()
    scores = np.zeros((len(found), len(data.labels)))
    scores[found.row, found.label] = found.score
    truth = names[data.truth]
    if data.truths is not None:
        truth = np.zeros(scores.shape, np.bool_)
        truth[data.truths.row, data.truths.label] = True
    top = data.scores.best(data.choices).label
    return LabelColumns(data.labels, _objects(ids_of(data)), truth, names[top], scores)


def _images(data: DetectionDataset) -> ImageColumns:
    names = _objects(data.labels)
    truths, found = data.ground_truths, data.detections
    first, second = (np.argsort(one.image, kind="stable") for one in (truths, found))
    return ImageColumns(
        data.labels,
        _objects(ids_of(data)),
        ObjectColumns(
            truths.image[first],
            names[truths.label[first]],
            bounds(truths.shapes)[first],
            crowd=truths.crowd[first],
        ),
        ObjectColumns(
            found.image[second],
            names[found.label[second]],
            bounds(found.shapes)[second],
            found.score[second],
        ),
    )


def _objects_of(objects: ObjectColumns, order: Ints) -> ObjectColumns:
    """The objects of some images."""
    low, high = (np.searchsorted(objects.image, order, side) for side in ("left", "right"))
    rows = spread(low, high - low)
    kept: dict[str, Any] = {
        name: None if (column := getattr(objects, name)) is None else column[rows]
        for name in ("label", "box", "score", "crowd")
    }
    return ObjectColumns(np.repeat(np.arange(len(order)), high - low), **kept)


def _objects(values: Any) -> Objects:
    """An array that has the values as they are."""
    return np.fromiter(values, object, len(values))
