"""valor-lite's confusion matrices of seeded label maps, as JSON on standard output.

Run in an environment with valor-lite 0.39.0, from the root of the repository:

    python -m tests.oracles.valor_lite_segmentation > tests/golden/segmentation/valor-lite.json
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from typing import Any

import numpy as np
from msgspec.structs import replace

from tests.oracles.label_map_problems import InMemory, random_maps
from tests.oracles.segmentation import pooled
from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.kernels.geometry.label_maps import RawPair

SEEDS = (20, 21, 22)


def with_background(dataset: SegmentationDataset) -> SegmentationDataset:
    """The same label maps, in which the last label is an excluded background."""
    count = len(dataset.labels) - 1

    def moved(codes: np.ndarray) -> np.ndarray:
        return np.minimum(codes, count)

    pairs = {}
    for name in dataset.sample_ids:
        pair = dataset.read(name)
        codes = moved(pair.truth_codes), moved(pair.prediction_codes)
        pairs[name] = RawPair(pair.truth, pair.prediction, *codes)
    return replace(dataset, labels=dataset.labels[:-1], read=InMemory(pairs))


def reference(seed: int) -> dict[str, Any]:
    """What valor-lite computes from the counts of all pixels; its first label is background."""
    from valor_lite.semantic_segmentation.computation import compute_metrics

    dataset = with_background(random_maps(seed, labels=6))
    count = len(dataset.labels)
    counts = np.zeros((count + 1, count + 1), np.uint64)
    for (truth, prediction), pixels in pooled(dataset).items():
        counts[(truth + 1) % (count + 1), (prediction + 1) % (count + 1)] = pixels
    precision, recall, f1, accuracy, ious, predictions, truths = compute_metrics(counts)
    return {
        "seed": seed,
        "labels": list(dataset.labels),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "f1": f1.tolist(),
        "accuracy": float(accuracy),
        "ious": ious.tolist(),
        "unmatched_prediction_ratios": predictions.tolist(),
        "unmatched_ground_truth_ratios": truths.tolist(),
    }


def main() -> None:
    """Every case, with what it takes to make it again."""
    document = {
        "tools": {name: importlib.metadata.version(name) for name in ("valor-lite", "numpy")},
        "command": "python -m tests.oracles.valor_lite_segmentation "
        "> tests/golden/segmentation/valor-lite.json",
        "cases": [reference(seed) for seed in SEEDS],
    }
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
