"""True and false positives and negatives of each label."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from valor_cli.evaluators.classification.evidence.decisions import (
    UNNAMED,
    label_counts,
    pairs,
    truth_counts,
)
from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.parameters import ScoreThreshold, label_threshold
from valor_cli.evaluators.ratios import counts_of_labels
from valor_cli.metric import EvidenceCounts, Metric, Output
from valor_cli.results import Findings


def counts(
    evidence: Evidence, *, score_threshold: ScoreThreshold = 0.0, hardmax: bool = True
) -> Findings:
    """True and false positives and negatives of each label, one-vs-rest.

    With `hardmax` only the top label of a row can be positive (of equal ones the first listed), if
    its score is at least its threshold; else every label whose score is. A score of 0 is never
    positive. tp + fn is the number of ground truths of the label, whatever was predicted.

    Formula:
        TP, FN = rows of this true label in which it is positive, in which it is not
        FP, TN = rows of other true labels in which it is positive, in which it is not

    Pitfalls:
        Counts grow with the data: compare them between models of the same samples only. Where there
        are many labels, true negatives are nearly all rows, whatever the model does.

    Example:
        True labels cat, cat, dog, fox and top labels cat, dog, dog, cat: for cat that is TP 1, FN
        1, FP 1, TN 1.
    """
    found = label_counts(evidence, score_threshold, hardmax=hardmax)
    own_threshold = partial(label_threshold, score_threshold, unnamed=UNNAMED)
    truths = truth_counts(evidence)[0]
    return Findings(counts_of_labels(evidence.labels, found._asdict(), truths, own_threshold))


COUNTS = Metric(
    name="counts",
    compute=counts,
    reference="sklearn.metrics.multilabel_confusion_matrix",
    citation="Striveworks Valor, Counts",
    outputs=(
        Output("tp", "higher", (0, None), "count"),
        Output("fp", "lower", (0, None), "count"),
        Output("fn", "lower", (0, None), "count"),
        Output("tn", "higher", (0, None), "count"),
    ),
    aliases=("Counts",),
    condensed=True,
)


def counted(
    evidence: Evidence, *, score_threshold: ScoreThreshold = 0.0, hardmax: bool = True
) -> Iterator[EvidenceCounts]:
    """Counts of samples in each replica, as `counts` and `confusion_matrix` have them."""
    labels = tuple(evidence.labels)
    found = label_counts(evidence, score_threshold, hardmax=hardmax)
    cells = pairs(evidence, score_threshold, hardmax=True) if hardmax else None
    for at, (tp, fp, fn) in enumerate(zip(found.tp, found.fp, found.fn, strict=True)):
        matrix = None
        if cells is not None:
            # The last column is that of no label.
            matrix = np.zeros((len(labels), len(labels) + 1), np.int64)
            matrix[cells.truth, cells.positive] = cells.rows[at]
            matrix = matrix[:, :-1]
        yield EvidenceCounts(labels, tp, fp, fn, matrix)
