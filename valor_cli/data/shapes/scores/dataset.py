"""Classification samples with true and predicted labels, as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.kernels.ranking.scores import Scores
from valor_cli.kernels.ranking.sparse_scores import SparseScores
from valor_cli.results import ExampleObject, Illustration, MetricExample, ObjectRef, Picture, Scalar

Ints = NDArray[np.int64]


def no_image(sample_id: str) -> Picture | None:
    """No image, for samples that are not images."""
    return None


def choices_of(labels_of: Sequence[Sequence[int]], key: Ints) -> Ints:
    """(n,) number of labels of each row's key.

    Args:
        labels_of: By key, its labels.
        key: (n,) the key of each row.
    """
    return np.array([len(own) for own in labels_of], np.int64)[key]


class ClassificationDataset(Struct, frozen=True):
    """Ground truth and one model's predictions.

    A row is a sample and a label key: what the sample's colour is, and its shape. Rows are in
    the order of their samples, those of a sample in the order of the keys.

    Attributes:
        sample_ids: (units,) UTF-8, ascending, distinct: `S`, or objects that hold bytes.
        labels: Names of the labels of all keys, in the order that results have.
        keys: Names of the label keys; (None,) where samples have one label.
        labels_of: By key, the labels (numbers, ascending) that its rows use on either side of any
            model.
        unit: (n,) the sample of each row.
        key: (n,) the key of each row.
        truth: (n,) the label that it has; -1 where `truths` lists them.
        truths: (n,) rows of all labels that each has, where samples have sets of them.
        scores: (n,) rows: what the model says; a row without a prediction lists nothing, or has
            nothing but zeros.
        number: (n,) the row in the whole dataset.
        picture: The picture of a sample by its id, if it has one; a shard knows of none.
    """

    sample_ids: NDArray[Any]
    labels: tuple[str, ...]
    keys: tuple[str | None, ...]
    labels_of: tuple[tuple[int, ...], ...]
    unit: Ints
    key: Ints
    truth: Ints
    scores: Scores
    number: Ints
    picture: Callable[[str], Picture | None] = no_image
    truths: SparseScores | None = None

    @property
    def unit_count(self) -> int:
        """Number of samples."""
        return len(self.sample_ids)

    @property
    def choices(self) -> Ints:
        """(n,) number of labels of each row's key."""
        return choices_of(self.labels_of, self.key)

    @property
    def unit_ids(self) -> Sequence[Any]:
        """(units,) ids in the input files."""
        ids: Sequence[Any] = self.sample_ids  # type: ignore[assignment] # an array is one
        return ids

    def shard(self, units: NDArray[np.bool_]) -> ClassificationDataset:
        """Select samples; `units` is a mask over `sample_ids`."""
        rows = units[self.unit]
        return replace(
            self,
            sample_ids=self.sample_ids[units],
            unit=(np.cumsum(units) - 1)[self.unit[rows]],
            key=self.key[rows],
            truth=self.truth[rows],
            truths=None if self.truths is None else self.truths.take(rows),
            scores=self.scores.take(rows),
            number=self.number[rows],
            picture=no_image,
        )

    def verify(self) -> None:
        """Do nothing: all data is already read."""

    def sample_texts(self) -> Mapping[str, Sequence[str | None]]:
        """No texts: samples are not texts."""
        return {}

    def image_files(self) -> Mapping[str, str]:
        """The file of each sample that has an image."""
        found = ((name, self.picture(name)) for name in map(bytes.decode, self.sample_ids.tolist()))
        return {name: one.file for name, one in found if one is not None and one.file is not None}

    def illustrate(self, examples: Sequence[MetricExample]) -> list[Illustration]:
        """The labels and scores of each example, which are in its objects already."""
        return [
            Illustration(self._picture(one.sample_id), tuple(map(_shown, one.objects)))
            for one in examples
        ]

    def _picture(self, sample_id: Scalar) -> Picture | None:
        return self.picture(sample_id) if isinstance(sample_id, str) else None


def _shown(ref: ObjectRef) -> ExampleObject:
    if ref.label is None:
        raise ValueError("an object of a sample says its label")
    return ExampleObject(
        role=ref.role,
        id=None,
        label=ref.label,
        score=ref.score,
        outcome=ref.outcome,
        geometry=None,
    )
