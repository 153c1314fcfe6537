"""Best F1 of each label over score thresholds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import IouThreshold, MaxDetections
from valor_cli.evaluators.detection.evidence.rows import over_labels, per_label
from valor_cli.evaluators.ratios import NO_GROUND_TRUTH
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricValue

Floats = NDArray[np.float64]

NOTHING_FOUND = "nothing of it is found at any threshold"


def best_f1(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    max_detections: MaxDetections = None,
) -> Findings:
    """The best F1 of each label over score thresholds, with that threshold.

    Thresholds are the scores themselves; of equally good ones the highest. A label that is never
    found has an F1 of 0 and no threshold; one without ground truth has no value. The mean over
    labels lets each have its own threshold.

    Formula:
        f1 = max over score thresholds s of 2·TP(s) / (2·TP(s) + FP(s) + FN(s)) for each label
        score_threshold: the s that has it; precision, recall: those at s

    Pitfalls:
        The threshold is chosen on the data that it is judged by, so the value flatters: take the
        threshold from one set and report `f1` at it on another. The mean over labels is not what
        any one threshold gives.

    Example:
        2 objects; detections score 0.9 (right), 0.8 (wrong), 0.7 (right). F1 is 2/3 from 0.9 on,
        2/4 from 0.8 on, 4/5 from 0.7 on: f1 0.8, `score_threshold` 0.7, precision 2/3, recall 1.
    """
    label, score, tp, fp = matches.ranking(iou_threshold, max_detections)
    truths = matches.ground_truth_count
    f1 = quotient(2 * tp, tp + fp + truths[label], 0.0)
    best, at = _best_of_each(f1, label, len(matches.labels))
    found = best > 0
    none = np.zeros(len(matches.labels))
    threshold, precision, recall = none.copy(), none.copy(), none.copy()
    rows = at[found]
    threshold[found] = score[rows]
    precision[found] = tp[rows] / (tp[rows] + fp[rows])
    recall[found] = tp[rows] / truths[found]
    value = np.where(truths > 0, np.where(found, best, 0.0), np.nan)
    return Findings(
        [
            over_labels(matches, value, output="f1"),
            *per_label(matches, value, output="f1"),
            *_where_found(matches, found, threshold, "score_threshold"),
            *_where_found(matches, found, precision, "precision"),
            *_where_found(matches, found, recall, "recall"),
        ]
    )


def _best_of_each(
    f1: Floats, label: NDArray[np.int64], labels: int
) -> tuple[Floats, NDArray[np.int64]]:
    """(labels,) the highest F1 and the first row that has it; 0 for a label without rows."""
    best, at = np.zeros(labels), np.zeros(labels, np.int64)
    order = np.lexsort((np.arange(len(f1)), -f1, label))
    named, first = np.unique(label[order], return_index=True)
    best[named], at[named] = f1[order[first]], order[first]
    return best, at


def _where_found(
    matches: Matches, found: NDArray[np.bool_], values: Floats, output: str
) -> list[MetricValue]:
    return [
        MetricValue(
            value if some else None,
            None if some else (NOTHING_FOUND if n else NO_GROUND_TRUTH),
            output,
            label,
            n,
        )
        for label, value, some, n in zip(
            matches.labels,
            values.tolist(),
            found.tolist(),
            matches.ground_truth_count.tolist(),
            strict=True,
        )
    ]


BEST_F1 = Metric(
    name="best_f1",
    compute=best_f1,
    reference="sklearn.metrics.precision_recall_curve, its highest F1",
    citation="Lipton et al., Optimal thresholding of classifiers to maximize F1 measure, 2014",
    outputs=(
        Output("f1", "higher"),
        Output("score_threshold", None, (0, None), "score"),
        Output("precision", "higher"),
        Output("recall", "higher"),
    ),
)
