"""Precision-recall curves of each label."""

from __future__ import annotations

import numpy as np

from valor_cli.evaluators.classification.evidence.scores import Evidence
from valor_cli.evaluators.classification.evidence.threshold_counts import (
    curves_of,
    threshold_counts,
)
from valor_cli.evaluators.parameters import SCORES, ScoreThresholds
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric
from valor_cli.results import Findings


def pr_curve(evidence: Evidence, *, score_thresholds: ScoreThresholds = SCORES) -> Findings:
    """Counts, precision, recall, accuracy and F1 of each label along score thresholds.

    Every label is a binary problem of its own: it is predicted for all samples whose score for it
    is at least the threshold, whatever other labels score. A score of 0 is never positive, also at
    threshold 0. Points that are 0/0 are null; so are recall and F1 of a label without ground truth.
    Labels with neither ground truth nor a prediction at the lowest threshold have no curve.

    Formula:
        precision = TP / (TP + FP), recall = TP / (TP + FN)
        accuracy = (TP + TN) / rows, F1 = 2·TP / (2·TP + FP + FN)
        TP, FP: rows of the label, others, that score at least the threshold; FN, TN: the rest

    Pitfalls:
        Accuracy of a rare label is near 1 at any threshold, for its true negatives. A row may be
        positive for several labels here, so that points differ from `precision` and `recall` with
        `hardmax`.

    Example:
        Cats score 0.9 and 0.4, another sample 0.6. At 0.5: TP 1, FP 1, FN 1, precision and recall
        0.5; at 0.3: TP 2, FP 1, FN 0, precision 2/3 and recall 1.
    """
    counts = threshold_counts(evidence, score_thresholds)
    tp, fp, fn, tn, truths = counts
    columns = {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "precision": quotient(tp, tp + fp, np.nan),
        "recall": quotient(tp, tp + fn, np.nan),
        "accuracy": quotient(tp + tn, tp + fp + fn + tn, np.nan),
        "f1": quotient(2 * tp, np.where(truths, 2 * tp + fp + fn, 0), np.nan),
    }
    return Findings(curves=curves_of(evidence, counts, score_thresholds, columns))


PR_CURVE = Metric(
    name="pr_curve",
    compute=pr_curve,
    reference="sklearn.metrics.precision_recall_curve, at these thresholds",
    citation="van Rijsbergen, Information Retrieval, 1979",
    outputs=(),
    draws="curves",
    condensed=True,
    aliases=("PrecisionRecallCurve",),
)
