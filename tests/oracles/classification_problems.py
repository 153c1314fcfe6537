"""Random samples with scores of labels, and predictions that could not be better."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.kernels.ranking.scores import DenseScores, SparseScores


def random_samples(
    seed: int, *, samples: int = 60, labels: int = 4, keys: int = 1
) -> ClassificationDataset:
    """Complete lists of probabilities with ties; every label occurs, every sample has a row a key.

    With several keys, the rows of each use labels of their own.
    """
    rng = np.random.default_rng(seed)
    n = samples * keys
    key = np.tile(np.arange(keys), samples)
    truth = np.where(np.arange(n) < labels * keys, np.arange(n) // keys, rng.integers(0, labels, n))
    score = rng.dirichlet(np.full(labels, 0.7), n).round(1)
    score[np.arange(n), truth] += rng.choice([0, 0.1, 0.4], n)
    score /= np.maximum(score.sum(axis=1, keepdims=True), 1e-9)
    names = [f"{key}{label}" for key in "abc"[:keys] for label in range(labels)]
    common = {
        "sample_ids": np.array([f"s{at:04}" for at in range(samples)], np.bytes_),
        "labels": tuple(names),
        "keys": tuple(f"key {at}" for at in range(keys)) if keys > 1 else (None,),
        "labels_of": tuple(tuple(range(at * labels, (at + 1) * labels)) for at in range(keys)),
        "unit": np.repeat(np.arange(samples), keys),
        "key": key,
        "truth": truth + key * labels,
        "number": np.arange(n),
    }
    if keys == 1:
        return ClassificationDataset(scores=DenseScores(np.arange(labels), score), **common)
    label = (np.arange(labels) + key[:, None] * labels).ravel().astype(np.int32)
    start = np.arange(n + 1) * labels
    return ClassificationDataset(scores=SparseScores(start, label, score.ravel()), **common)


def surely_right(dataset: ClassificationDataset) -> ClassificationDataset:
    """Every row's true label alone, with the score 1."""
    n = len(dataset.truth)
    scores = SparseScores(np.arange(n + 1), dataset.truth.astype(np.int32), np.ones(n))
    return replace(dataset, scores=scores)
