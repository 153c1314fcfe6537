"""Samples with scores of labels: as written, random ones, and predictions that are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.kernels.ranking.scores import DenseScores, SparseScores


def dataset_of(
    labels: Sequence[str],
    samples: Sequence[tuple[str, Mapping[str, float]]],
    ids: Sequence[str] | None = None,
) -> ClassificationDataset:
    """True labels and listed scores as samples; dense if all list the same labels in one order.

    Args:
        labels: In their order.
        samples: A true label that is none of these is nobody's.
        ids: In their order; "s0", "s1" … where none are given.
    """
    n, number = len(samples), {label: at for at, label in enumerate(labels)}
    listed = [[number[label] for label in row] for _, row in samples]
    scores: DenseScores | SparseScores
    if n and all(one == listed[0] for one in listed):
        score = np.array([list(row.values()) for _, row in samples], np.float64)
        scores = DenseScores(np.array(listed[0], np.int64), score)
    else:
        scores = SparseScores(
            np.cumsum([0, *map(len, listed)]),
            np.array([label for one in listed for label in one], np.int32),
            np.array([score for _, row in samples for score in row.values()], np.float64),
        )
    names = [f"s{at:0{len(str(n))}}" for at in range(n)] if ids is None else ids
    return ClassificationDataset(
        sample_ids=np.array(names, np.bytes_),
        labels=tuple(labels),
        keys=(None,),
        labels_of=(tuple(range(len(labels))),),
        unit=np.arange(n),
        key=np.zeros(n, np.int64),
        truth=np.array([number.get(truth, -1) for truth, _ in samples], np.int64),
        scores=scores,
        number=np.arange(n),
    )


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
