"""Samples with sets of labels: random ones, as evidence and as matrices of scikit-learn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tests.oracles.classification_problems import dataset_of
from valor_cli.evaluators.classification.evidence.scores import Scored, score_samples
from valor_cli.kernels.ranking.sparse_scores import SparseScores

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Sample(NamedTuple):
    """True labels, and the scores of the labels listed."""

    truth: Collection[int]
    listed: Mapping[int, float]
    weight: int = 1


def sets_scored(samples: Sequence[Sample], labels: Sequence[str]) -> Scored:
    """Evidence in which each sample stands once."""
    listed = [{labels[at]: score for at, score in one.listed.items()} for one in samples]
    dataset = dataset_of(labels, [("", one) for one in listed])
    sets = [sorted(one.truth) for one in samples]
    truths = SparseScores(
        np.cumsum([0, *map(len, sets)]),
        np.array([label for one in sets for label in one], np.int32),
        np.ones(sum(map(len, sets))),
    )
    return score_samples(replace(dataset, truths=truths), None)


def sets_weighed(samples: Sequence[Sample], labels: Sequence[str]) -> Scored:
    """A resample in which each sample stands as often as its weight says."""
    weights = np.array([[one.weight for one in samples]], np.int64)
    (found,) = sets_scored(samples, labels).resamples(weights)
    return found


def repeated(samples: Sequence[Sample]) -> list[Sample]:
    """Each sample as often as its weight says."""
    return [one._replace(weight=1) for one in samples for _ in range(one.weight)]


def random_samples(seed: int, *, n: int = 60, labels: int = 6, partial: bool) -> list[Sample]:
    """Samples with ties, without labels, and, if partial, that list some labels or none."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.1, 0.6, labels)
    samples = []
    for _ in range(n):
        truth = np.flatnonzero(rng.random(labels) < share).tolist()
        score = (rng.integers(0, 11, labels) / 10).tolist()
        order = rng.permutation(labels) if partial else np.arange(labels)
        length = int(rng.integers(0, labels + 1)) if partial else labels
        listed = {label: score[label] for label in order[:length].tolist()}
        samples.append(Sample(truth, listed, int(rng.integers(0, 4))))
    return samples


def matrices(samples: Sequence[Sample], labels: int) -> tuple[Bools, Floats]:
    """(samples, labels) the true labels, and the scores, 0 where none is listed."""
    truth, score = np.zeros((len(samples), labels), bool), np.zeros((len(samples), labels))
    for at, one in enumerate(samples):
        truth[at, list(one.truth)] = True
        for label, own in one.listed.items():
            score[at, label] = own
    return truth, score


def positives(score: Floats, threshold: Any) -> Bools:
    """(samples, labels) which labels are positive: a score of 0 never is."""
    return np.asarray((score >= threshold) & (score != 0))
