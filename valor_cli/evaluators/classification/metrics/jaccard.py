"""Jaccard index of each label, and its averages."""

from __future__ import annotations

from functools import partial

from valor_cli.evaluators.classification.evidence.decisions import (
    label_counts,
    label_threshold,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.classification.metrics.precision_recall import WORDS
from valor_cli.evaluators.parameters import ScoreThreshold
from valor_cli.evaluators.ratios import Average, Ratios, labels_and_average
from valor_cli.metric import Metric
from valor_cli.results import Findings


def jaccard(
    evidence: Evidence,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    average: Average = "macro",
) -> Findings:
    """Intersection over union of the true and the positive samples of each label, and the average.

    A label without ground truth has no value; if it is predicted, the macro average counts it as
    0, as scikit-learn's does.

    Formula:
        TP / (TP + FP + FN) for each label
        macro: mean over labels; weighted: the same, by ground truths; micro: of the summed counts

    Pitfalls:
        It says what F1 says, J = F1 / (2 − F1), in lower numbers. True negatives are worth nothing.

    Example:
        TP 6, FP 2, FN 4: 6 / 12 = 0.5, where F1 is 0.667.
    """
    found = label_counts(evidence, score_threshold, hardmax=hardmax)
    union = found.tp + found.fp + found.fn
    ratios = Ratios(found.tp, union, found.tp + found.fn, union > 0, union > 0)
    own_threshold = partial(label_threshold, score_threshold)
    return labels_and_average(evidence.labels, ratios, average, WORDS, own_threshold)


JACCARD = Metric(
    name="jaccard",
    compute=jaccard,
    reference="sklearn.metrics.jaccard_score",
    citation="Jaccard, The distribution of the flora in the alpine zone, New Phytologist 11, 1912",
    condensed=True,
)
