"""scikit-learn's numbers of all pixels of a data set."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.oracles.segmentation import flat
from valor_cli.data.shapes.label_maps import SegmentationDataset


class Pixels(NamedTuple):
    """Codes of all pixels that count; labels of the ground truth, and all of them."""

    truth: list[int]
    prediction: list[int]
    seen: list[int]
    labels: list[int]


def pixels_of(dataset: SegmentationDataset) -> Pixels:
    """The pixels of a data set without excluded background."""
    truth, prediction = flat(dataset)
    return Pixels(truth, prediction, sorted(set(truth)), list(range(len(dataset.labels))))


def sklearn() -> Any:
    """sklearn.metrics, or a skipped test."""
    return pytest.importorskip("sklearn.metrics")


def by_label(dataset: SegmentationDataset, values: Any) -> dict[str | None, float]:
    """A column over labels by their names."""
    return dict(zip(dataset.labels, values.tolist(), strict=True))
