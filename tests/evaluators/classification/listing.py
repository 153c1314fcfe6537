"""Samples written out, as evidence; random ones that list few labels; the real files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.evaluators.classification.evidence.scores import Scored, score_samples
from valor_cli.kernels.ranking.scores import DenseScores, Scores, SparseScores

Sample = tuple[str, dict[str, float]]
"""The true label, and the scores of the labels that are listed."""

DATA = Path(__file__).parents[2] / "real_data" / "classification"


def evidence(labels: str, samples: list[Sample]) -> Scored:
    """Evidence of samples s0, s1 …; a letter a label."""
    number = {label: at for at, label in enumerate(labels)}
    listed = [(number[label], score) for _, row in samples for label, score in row.items()]
    scores = SparseScores(
        np.cumsum([0, *(len(row) for _, row in samples)]),
        np.array([label for label, _ in listed], np.int32),
        np.array([score for _, score in listed], np.float64),
    )
    return _scored(
        tuple(labels),
        [number[truth] for truth, _ in samples],
        scores,
        digits=len(str(len(samples))),
    )


def dense_evidence(labels: tuple[str, ...], truth: Any, score: Any) -> Scored:
    """Evidence of samples that list all labels; score (samples, labels)."""
    return _scored(labels, truth, DenseScores(np.arange(len(labels)), np.asarray(score)), digits=6)


def columns(labels: str, samples: list[Sample]) -> np.ndarray:
    """(samples, labels) every score written out."""
    return np.array([[row.get(label, 0.0) for label in labels] for _, row in samples])


def random_listing(seed: int, labels: str, count: int, *, digits: int = 1) -> list[Sample]:
    """Samples that list up to three labels, the true one not always; the last label is nobody's."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        listed = rng.permutation(len(labels))[: rng.integers(0, 4)]
        truth = labels[rng.integers(0, len(labels) - 1)]
        row = {labels[at]: round(float(rng.random()), digits) for at in listed}
        if rng.random() < 0.5:
            row[truth] = round(float(rng.beta(3, 1)), digits)
        samples.append((truth, row))
    return samples


SAMPLES = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.dictionaries(
            st.sampled_from("abcd"), st.sampled_from([-0.5, 0.0, 0.1, 0.2, 0.5, 1.0]), max_size=4
        ),
    ),
    min_size=1,
    max_size=14,
)
"""Samples of the labels a, b and c; d is only ever predicted."""


def real(name: str) -> tuple[Scored, dict[str, Any]]:
    """A real data set with complete scores, and what scikit-learn says of it."""
    folder = DATA / name
    with (folder / "groundtruth.csv").open(newline="") as file:
        truths = {row["id"]: row["label"] for row in csv.DictReader(file)}
    with (folder / "predictions.csv").open(newline="") as file:
        _, *labels = next(rows := csv.reader(file))
        scores = {sample: [float(score) for score in row] for sample, *row in rows}
    truth = [labels.index(truths[sample]) for sample in scores]
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return dense_evidence(tuple(labels), truth, list(scores.values())), expected


def _scored(labels: tuple[str, ...], truth: Any, scores: Scores, *, digits: int) -> Scored:
    n = len(scores)
    return score_samples(
        ClassificationDataset(
            sample_ids=np.array([f"s{at:0{digits}}" for at in range(n)], np.bytes_),
            labels=labels,
            keys=(None,),
            labels_of=(tuple(range(len(labels))),),
            unit=np.arange(n),
            key=np.zeros(n, np.int64),
            truth=np.array(truth, np.int64),
            scores=scores,
            number=np.arange(n),
        ),
        None,
    )
