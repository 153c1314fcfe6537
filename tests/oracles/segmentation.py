"""Semantic segmentation the slow way: pixel by pixel, label by label, mask by mask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.oracles.label_map_problems import InMemory
from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.kernels.geometry.label_maps import IGNORED, UNKNOWN, RawPair

Cell = tuple[int, int]

SYMBOLS = "abcdefghij"


def drawn(
    images: Mapping[str, tuple[Sequence[str], Sequence[str]]], labels: int
) -> SegmentationDataset:
    """Pairs as rows of letters: a, b, c … are labels, - background, # ignored, ? unknown."""
    order = sorted(images)
    truth = np.full(256, UNKNOWN, np.int32)
    truth[[ord(symbol) for symbol in SYMBOLS[:labels]]] = np.arange(labels)
    truth[ord("-")] = labels
    prediction = truth.copy()
    truth[ord("#")], prediction[ord("#")] = IGNORED, labels + 1
    pairs = {
        name: RawPair(*(_map(rows) for rows in images[name]), truth, prediction) for name in order
    }
    return SegmentationDataset(
        tuple(order),
        tuple(SYMBOLS[:labels]),
        np.array([pairs[name].truth.shape for name in order]).reshape(-1, 2),
        tuple((f"truth/{name}.png", f"found/{name}.png") for name in order),
        InMemory(pairs),
    )


def _map(rows: Sequence[str]) -> np.ndarray:
    return np.array([list(row.encode()) for row in rows], np.uint8)


def pixels(pair: RawPair) -> Iterator[Cell]:
    """The codes of each pixel that is not ignored."""
    for truth, prediction in zip(pair.truth.ravel(), pair.prediction.ravel(), strict=True):
        code = int(pair.truth_codes[truth])
        if code != IGNORED:
            yield code, int(pair.prediction_codes[prediction])


def cells(pair: RawPair) -> Counter[Cell]:
    """How many pixels have each pair of codes."""
    return Counter(pixels(pair))


def pooled(dataset: SegmentationDataset, weights: Sequence[int] | None = None) -> Counter[Cell]:
    """The cells of all images together, each as often as its weight says."""
    total: Counter[Cell] = Counter()
    for name, weight in zip(dataset.sample_ids, weights or [1] * dataset.unit_count, strict=True):
        for cell, count in cells(dataset.read(name)).items():
            total[cell] += weight * count
    return total


def flat(dataset: SegmentationDataset) -> tuple[list[int], list[int]]:
    """Codes of all pixels that are not ignored: what they are, and what they are predicted as."""
    both = [one for name in dataset.sample_ids for one in pixels(dataset.read(name))]
    return [truth for truth, _ in both], [prediction for _, prediction in both]


def boundary(mask: np.ndarray, reach: int) -> np.ndarray:
    """The mask without what `reach` erosions by a square of 3 leave of it, zeros all around."""
    left = mask.astype(bool)
    height, width = left.shape
    for _ in range(reach):
        padded = np.pad(left, 1)
        left = np.logical_and.reduce(
            [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
        )
    return mask & ~left


def boundary_pixels(pair: RawPair, label: int, reach: int) -> tuple[int, int, int]:
    """Boundary pixels of a label: in the ground truth, in the prediction, in both."""
    judged = pair.truth_codes[pair.truth] != IGNORED
    truth = boundary(judged & (pair.truth_codes[pair.truth] == label), reach)
    prediction = boundary(judged & (pair.prediction_codes[pair.prediction] == label), reach)
    return int(truth.sum()), int(prediction.sum()), int((truth & prediction).sum())


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
