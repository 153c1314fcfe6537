"""Random pairs of label maps, and predictions that could not be better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.kernels.geometry.label_maps import IGNORED, UNKNOWN, RawPair

VOID = 255


@dataclass(frozen=True, slots=True)
class InMemory:
    """Pairs by the names of their samples."""

    pairs: Mapping[str, RawPair]

    def __call__(self, sample: str) -> RawPair:
        """The pair of that name."""
        return self.pairs[sample]


def codes_of(labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes of 8-bit values: labels from 0, 255 ignored in ground truth and open in predictions."""
    truth = np.full(256, UNKNOWN, np.int32)
    truth[:labels] = np.arange(labels)
    prediction = truth.copy()
    truth[VOID], prediction[VOID] = IGNORED, labels
    return truth, prediction


def random_maps(seed: int, *, images: int = 6, labels: int = 4) -> SegmentationDataset:
    """Blocks of labels, predicted a little beside, with ignored and open pixels."""
    rng = np.random.default_rng(seed)
    codes = codes_of(labels)
    pairs = {}
    for at in range(images):
        height, width = rng.integers(20, 40, 2).tolist()
        coarse = rng.integers(0, labels, (height // 4 + 1, width // 4 + 1))
        truth = np.kron(coarse, np.ones((4, 4), int))[:height, :width].astype(np.uint8)
        prediction = np.roll(truth, rng.integers(-2, 3, 2), (0, 1))
        prediction[rng.random(truth.shape) < 0.02] = VOID
        truth = np.where(rng.random(truth.shape) < 0.05, VOID, truth).astype(np.uint8)
        pairs[f"image {at}"] = RawPair(truth, prediction.astype(np.uint8), *codes)
    return SegmentationDataset(
        sample_ids=tuple(sorted(pairs)),
        labels=tuple(f"label {at}" for at in range(labels)),
        sizes=np.array([pairs[name].truth.shape for name in sorted(pairs)]),
        places=tuple((f"truth/{name}.png", f"found/{name}.png") for name in sorted(pairs)),
        read=InMemory(pairs),
    )


def exactly_right(dataset: SegmentationDataset) -> SegmentationDataset:
    """The ground truth itself as prediction."""
    pairs = {name: dataset.read(name) for name in dataset.sample_ids}
    same = {name: pair._replace(prediction=pair.truth) for name, pair in pairs.items()}
    return replace(dataset, read=InMemory(same))
