"""Best F1 of each label over score thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import IouThreshold, MaxDetections
from valor_cli.evaluators.detection.evidence.rows import over_labels, per_label
from valor_cli.kernels.columns.grouping import quotient
from valor_cli.kernels.ranking.resamples import batches
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricValue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOTHING_FOUND = "nothing of it is found at any threshold"


class _Ranking(NamedTuple):
    """(r,) distinct scores of each label, with (replicas, r) cumulative true and false positives.

    Attributes:
        replicas: Which replicas of the evidence these are.
    """

    replicas: slice
    label: NDArray[np.int64]
    score: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]


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
    truths = matches.ground_truth_count
    parts = [
        _best_of_each(one, truths[one.replicas])
        for one in _rankings(matches, iou_threshold, max_detections)
    ]
    f1, threshold, precision, recall = map(np.concatenate, zip(*parts, strict=True))
    return Findings(
        [
            over_labels(matches, f1, output="f1"),
            *per_label(matches, f1, output="f1"),
            *_where_found(matches, threshold, "score_threshold"),
            *_where_found(matches, precision, "precision"),
            *_where_found(matches, recall, "recall"),
        ]
    )


def _rankings(
    matches: Matches, iou_threshold: float, max_detections: int | None = None
) -> Iterator[_Ranking]:
    """Cumulative true and false positives at each score of a label, some replicas at a time."""
    order = matches.order([iou_threshold], max_detections)
    # Equal scores pass a threshold together, so only the last of them says what it gives.
    last = np.ones(len(matches.label), bool)
    last[:-1] = (matches.label[1:] != matches.label[:-1]) | (
        matches.score[1:] != matches.score[:-1]
    )
    before = np.searchsorted(matches.label, matches.label[last])
    for some in batches(len(matches.unit_weights), len(matches.label)):
        weight = matches.unit_weights[some][:, matches.image]
        change = np.where(order.counted, weight, 0)
        np.add.at(change.T, order.corrected, (order.sign * weight[:, order.corrected]).T)
        right = np.zeros_like(weight)
        right[:, order.rows] = weight[:, order.rows]
        tp, seen = (_running(column, last, before) for column in (right, change))
        yield _Ranking(some, matches.label[last], matches.score[last], tp, seen - tp)


def _running(column: Ints, last: NDArray[np.bool_], before: Ints) -> Ints:
    """(replicas, r) sums of (replicas, n) from the first of a label up to the last of a score."""
    total = np.zeros((len(column), column.shape[1] + 1), np.int64)
    np.cumsum(column, axis=1, out=total[:, 1:])
    return np.asarray(total[:, 1:][:, last] - total[:, before])


def _best_of_each(ranking: _Ranking, truths: NDArray[np.int64]) -> tuple[Floats, ...]:
    """(replicas, labels) the highest F1; its threshold, precision and recall, NaN of none.

    Args:
        ranking: Of some replicas.
        truths: (replicas, labels) their ground truths.
    """
    label, score, tp, fp = ranking[1:]
    best = np.where(truths > 0, 0.0, np.nan)
    threshold, precision, recall = (np.full(truths.shape, np.nan) for _ in range(3))
    if len(label):
        f1 = quotient(2 * tp, tp + fp + truths[:, label], 0.0)
        starts = np.flatnonzero(np.append(True, label[1:] != label[:-1]))
        highest = np.maximum.reduceat(f1, starts, axis=1)
        group = np.cumsum(np.append(False, label[1:] != label[:-1]))
        first = np.where(f1 == highest[:, group], np.arange(len(label)), len(label))
        at = np.minimum.reduceat(first, starts, axis=1)
        row, place = np.nonzero(highest > 0)
        own, named = at[row, place], label[starts[place]]
        best[row, named] = highest[row, place]
        threshold[row, named] = score[own]
        precision[row, named] = tp[row, own] / (tp[row, own] + fp[row, own])
        recall[row, named] = tp[row, own] / truths[row, named]
    return best, threshold, precision, recall


def _where_found(matches: Matches, values: Floats, output: str) -> list[MetricValue]:
    """As `per_label`, of labels of which something is found."""
    return [
        replace(one, undefined=NOTHING_FOUND) if one.value is None and one.n else one
        for one in per_label(matches, values, output=output)
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
