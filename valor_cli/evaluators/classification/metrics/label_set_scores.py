"""Precision, recall, F1 and Jaccard index of the set of labels of every sample.

Godbole and Sarawagi, Discriminative methods for multi-labeled classification, PAKDD 2004.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.classification.evidence.decisions import (
    LABEL_SETS,
    answers,
    count_of_rows,
    hashable,
)
from valor_cli.evaluators.classification.evidence.probabilities import mean_of_rows
from valor_cli.evaluators.classification.evidence.scores import Scored
from valor_cli.evaluators.classification.metrics.sample_scores import samples_of
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.evaluators.ratios import ZeroDivision, over_samples
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricValue

Floats = NDArray[np.float64]


def label_set_scores(
    scored: Scored, *, score_threshold: ScoreThreshold = 0.5, zero_division: ZeroDivision = 0.0
) -> Findings:
    """Precision, recall, F1 and Jaccard index of the labels of each sample, and their means.

    A label is positive where its score is at least the threshold, and not 0. What is 0/0 is
    `zero_division`: precision where no label is positive, recall where none is true, F1 and the
    Jaccard index where both sets are empty.

    Formula:
        T: true labels of a sample; P: its positive labels
        precision = |T ∩ P| / |P|; recall = |T ∩ P| / |T|
        f1 = 2 |T ∩ P| / (|T| + |P|); jaccard = |T ∩ P| / |T ∪ P|
        value of the run: mean over samples, scikit-learn's `average="samples"`

    Pitfalls:
        Each sample weighs the same, however many labels it has, and frequent labels more than rare
        ones. With the default `zero_division` a sample that rightly has no label counts as 0.

    Example:
        True labels {cat, dog}, positive labels {cat, fox, owl}: precision 1 / 3, recall 1 / 2, f1
        2 / 5, jaccard 1 / 4.
    """
    columns = scored.once(
        ("label sets", hashable(score_threshold), zero_division),
        lambda: _columns(scored, score_threshold, zero_division),
    )
    means = []
    for name, column in columns.items():
        key = ("label sets", name, hashable(score_threshold), zero_division)
        means.append(_mean(scored, name, key, column))
    return Findings(means, samples=samples_of(scored, columns))


def _mean(scored: Scored, output: str, key: Hashable, column: Floats) -> MetricValue:
    mean = mean_of_rows(scored, key, lambda _: column)
    return over_samples(mean, count_of_rows(scored), output)


def _columns(
    scored: Scored, score_threshold: ScoreThreshold, zero_division: float
) -> Mapping[str, Floats]:
    """By output, the (n,) values of all rows."""
    found, n = answers(scored, score_threshold), len(scored.unit)
    true, positive = np.diff(scored.sets.start), np.bincount(found.row, minlength=n)
    right = np.bincount(found.row[found.right], minlength=n)
    return {
        "f1": quotient(2 * right, true + positive, zero_division),
        "precision": quotient(right, positive, zero_division),
        "recall": quotient(right, true, zero_division),
        "jaccard": quotient(right, true + positive - right, zero_division),
    }


LABEL_SET_SCORES: Final[Metric[Any]] = Metric(
    name="label_set_scores",
    compute=label_set_scores,
    needs=LABEL_SETS,
    reference="sklearn.metrics.f1_score and jaccard_score, average='samples'",
    citation="Godbole and Sarawagi, Discriminative methods for multi-labeled classification, "
    "PAKDD, 2004",
    outputs=tuple(Output(name) for name in ("f1", "precision", "recall", "jaccard")),
)
