"""Precision, recall, F1 and Jaccard index of each label, and their averages.

Averages are scikit-learn's, over the labels that occur on either side: those with ground truth and
those that are predicted. F1 of a label with ground truth that is never predicted follows
`zero_division`, as its precision does, where scikit-learn always has 0.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from valor_cli.evaluators.classification.evidence.decisions import (
    UNNAMED,
    label_counts,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.parameters import ScoreThreshold, label_threshold
from valor_cli.evaluators.ratios import (
    Average,
    Margins,
    Ratios,
    Words,
    ZeroDivision,
    labels_and_average,
)
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricValue

REFERENCE = "sklearn.metrics.precision_recall_fscore_support"
CITATION = "van Rijsbergen, Information Retrieval, 1979"
NO_PREDICTIONS = "0/0: nothing is predicted as this label; zero_division stands in"
NOTHING_PREDICTED = "0/0: nothing is predicted; zero_division stands in"
WORDS = Words(NO_PREDICTIONS, NOTHING_PREDICTED)


def precision(
    evidence: Evidence,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Precision of each label, and the average over labels.

    A label that is positive nowhere is 0/0 and follows `zero_division`. One without ground truth
    has its precision reported, too, and enters the average if it is predicted.

    Formula:
        TP / (TP + FP) for each label
        macro: mean over labels; weighted: the same, by ground truths; micro: ΣTP / Σ(TP + FP)

    Pitfalls:
        It says nothing of what is missed: a label that is positive once, and rightly, has 1. With
        `hardmax`, a threshold of 0 and a prediction for every sample, the micro average is
        accuracy.

    Example:
        10 rows are called cat, and 8 of them are cats: 8 / 10 = 0.8. If dog has 0.6, the macro
        average is 0.7.
    """
    margins = _margins(evidence, score_threshold, hardmax=hardmax)
    return _findings(evidence, margins.precision(zero_division), average, score_threshold)


def recall(
    evidence: Evidence,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    average: Average = "macro",
) -> Findings:
    """Recall of each label, and the average over labels.

    A label without ground truth has no recall; if it is predicted, the macro average counts it as
    0, as scikit-learn's does.

    Formula:
        TP / (TP + FN) for each label
        macro: mean over labels; micro and weighted: ΣTP / Σ(TP + FN), which is the same for both

    Pitfalls:
        It says nothing of false alarms: who calls every row a cat has found all cats. In the macro
        average a label of few samples weighs as much as any other.

    Example:
        8 of 10 cats are called cats: 8 / 10 = 0.8. If dog, of 30 samples, has 0.4, the macro
        average is 0.6 and the micro average (8 + 12) / 40 = 0.5.
    """
    margins = _margins(evidence, score_threshold, hardmax=hardmax)
    found = _findings(evidence, margins.recall(), average, score_threshold)
    averaged = average != "macro" and not evidence.has_sets
    return replace(found, values=[_of_samples(value, averaged=averaged) for value in found.values])


def f1(
    evidence: Evidence,
    *,
    score_threshold: ScoreThreshold = 0.0,
    hardmax: bool = True,
    average: Average = "macro",
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """Harmonic mean of precision and recall of each label, and the average over labels.

    A label that has ground truth and is positive nowhere follows `zero_division`, as its precision
    does. One without ground truth has no value; if it is predicted, the macro average counts it as
    0, as scikit-learn's does.

    Formula:
        2·TP / (2·TP + FP + FN) = 2·precision·recall / (precision + recall) for each label
        macro: mean over labels; weighted: the same, by ground truths; micro: of the summed counts

    Pitfalls:
        It takes a false alarm to be as bad as a miss, and true negatives to be worth nothing. The
        macro average is the mean of the labels' F1, not the F1 of mean precision and mean recall.

    Example:
        TP 6, FP 2, FN 4: 12 / (12 + 2 + 4) = 0.667, between a precision of 0.75 and a recall of
        0.6.
    """
    margins = _margins(evidence, score_threshold, hardmax=hardmax)
    return _findings(evidence, margins.f1(zero_division), average, score_threshold)


def _of_samples(value: MetricValue, *, averaged: bool) -> MetricValue:
    """Whether a recall is the part of its `n` samples that are found, one by one.

    That of a label is; so are their micro average and the one weighted by their samples, where
    samples have one label each.
    """
    counted = value.label is not None or averaged
    return replace(value, proportion=counted and value.value is not None)


def _margins(evidence: Evidence, score_threshold: ScoreThreshold, *, hardmax: bool) -> Margins:
    found = label_counts(evidence, score_threshold, hardmax=hardmax)
    predicted, truths = found.tp + found.fp, found.tp + found.fn
    return Margins(found.tp, predicted, truths, predicted + truths > 0)


def _findings(
    evidence: Evidence, ratios: Ratios, average: Average, score_threshold: ScoreThreshold
) -> Findings:
    own_threshold = partial(label_threshold, score_threshold, unnamed=UNNAMED)
    return labels_and_average(evidence.labels, ratios, average, WORDS, own_threshold)


PRECISION = Metric(
    name="precision",
    compute=precision,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("Precision",),
    condensed=True,
)
RECALL = Metric(
    name="recall",
    compute=recall,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("Recall",),
    condensed=True,
)
F1 = Metric(
    name="f1",
    compute=f1,
    reference=REFERENCE,
    citation=CITATION,
    aliases=("F1",),
    condensed=True,
)


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
    return _findings(evidence, ratios, average, score_threshold)


JACCARD = Metric(
    name="jaccard",
    compute=jaccard,
    reference="sklearn.metrics.jaccard_score",
    citation="Jaccard, The distribution of the flora in the alpine zone, New Phytologist 11, 1912",
    condensed=True,
)
