"""Subset accuracy: samples of which every label is right.

Ghamrawi and McCallum, Collective multi-label classification, CIKM 2005.
"""

from __future__ import annotations

from valor_cli.evaluators.classification.evidence.decisions import (
    LABEL_SETS,
    count_of_rows,
    hashable,
    wrong_labels,
)
from valor_cli.evaluators.classification.evidence.probabilities import mean_of_rows
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.evaluators.ratios import over_samples
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def subset_accuracy(evidence: Evidence, *, score_threshold: ScoreThreshold = 0.5) -> MetricValue:
    """The share of samples whose positive labels are exactly the true ones.

    A label is positive where its score is at least the threshold, and not 0. A sample without true
    labels is right where no label is positive. On one label a sample it is close to accuracy, which
    looks at the top label alone.

    Formula:
        right / n
        right: samples whose set of positive labels equals their set of true labels

    Pitfalls:
        One label more or less makes a sample wrong, so that it falls as labels become many; what is
        nearly right shows in `hamming_loss`, `jaccard` and `f1`.

    Example:
        True labels {cat, dog}, {cat}, {} and positive labels {cat, dog}, {cat, fox}, {}: 2 / 3.
    """
    name = ("exact sets", hashable(score_threshold))
    mean = mean_of_rows(
        evidence, name, lambda scored: (wrong_labels(scored, score_threshold) == 0).astype(float)
    )
    return over_samples(mean, count_of_rows(evidence), proportion=True)


SUBSET_ACCURACY = Metric(
    name="subset_accuracy",
    compute=subset_accuracy,
    needs=LABEL_SETS,
    reference="sklearn.metrics.accuracy_score, of indicator matrices",
    citation="Ghamrawi and McCallum, Collective multi-label classification, CIKM, 2005",
    aliases=("exact_match_ratio",),
    condensed=True,
)
