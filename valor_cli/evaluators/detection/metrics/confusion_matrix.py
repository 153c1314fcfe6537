"""Confusion matrix of labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.examples import example, first_of_each
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.outcomes import Outcomes, outcomes, overlap_pairs
from valor_cli.evaluators.detection.evidence.parameters import (
    ENCOUNTERS,
    IouThreshold,
    MaxDetections,
    levels_of,
)
from valor_cli.evaluators.parameters import MaxExamples, ScoreThreshold
from valor_cli.kernels.geometry.boxes import Pairs
from valor_cli.kernels.ranking.matching import match
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricExample, MetricTable

Ints = NDArray[np.int64]

TRUE_POSITIVE = "true_positive"
MISCLASSIFICATION = "misclassification"
UNMATCHED_PREDICTION = "unmatched_prediction"
UNMATCHED_GROUND_TRUTH = "unmatched_ground_truth"


class _Cases(NamedTuple):
    """Everything that is counted once: its kind, and its rows; -1 where it has none."""

    kind: str
    detection: Ints
    ground_truth: Ints


def confusion_matrix(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: ScoreThreshold = 0.5,
    max_detections: MaxDetections = None,
    max_examples: MaxExamples = 3,
) -> Findings:
    """Counts of true labels by detected label.

    Pairs of one label match first, so that the diagonal is the true positives of `counts`. Of what
    is left, detections, best score first, take the ground truth of another label that they overlap
    most, from `iou_threshold` on. Then what is left has no match. Ignored detections and ground
    truths (crowds, those outside the area range) are not counted. Every cell has up to
    `max_examples` examples, by score, then image.

    Formula:
        cell (T, P) = ground truths of T that a detection of P takes, with IoU ≥ iou_threshold
        unmatched predictions, unmatched ground truths: those that take nothing, that nothing takes

    Pitfalls:
        An object takes part once: where a cat is found as a cat and as a dog, the dog is an
        unmatched prediction and not in cell (cat, dog). At a low score threshold unmatched
        predictions are most of the table.

    Example:
        A cat is detected as a cat, a dog as a cat, and a second cat not at all: cell (cat, cat) is
        1, (dog, cat) 1, and cat has 1 unmatched ground truth.
    """
    levels = levels_of(matches.labels, score_threshold)
    least = np.array(levels)[matches.label] if isinstance(levels, tuple) else levels
    found = outcomes(matches, iou_threshold, least, max_detections)
    right = np.flatnonzero(found.right)
    confused, taken = _confused(matches, found, iou_threshold)
    alone = found.wrong
    alone[confused] = False
    missed = found.missed
    missed[taken] = False
    cases = [
        _Cases(TRUE_POSITIVE, right, found.met[right]),
        _Cases(MISCLASSIFICATION, confused, taken),
        _Cases(UNMATCHED_PREDICTION, np.flatnonzero(alone), np.full(alone.sum(), -1)),
        _Cases(UNMATCHED_GROUND_TRUTH, np.full(missed.sum(), -1), np.flatnonzero(missed)),
    ]
    return Findings(
        tables=[_table(matches, cases)] if any(len(part.detection) for part in cases) else (),
        examples=[one for part in cases for one in _examples(matches, part, max_examples)],
    )


def _confused(matches: Matches, found: Outcomes, iou_threshold: float) -> tuple[Ints, Ints]:
    """Leftover detections that take a leftover ground truth of another label, and which."""
    pairs = overlap_pairs(matches, iou_threshold)
    other = matches.label[pairs.detection] != matches.gt_label[pairs.ground_truth]
    kept = other & found.wrong[pairs.detection] & found.missed[pairs.ground_truth]
    detection, truth = pairs.detection[kept], pairs.ground_truth[kept]
    if not len(detection):
        return detection, truth
    # Matching wants rows of an image together, best score first.
    rows = np.unique(detection)
    rows = rows[np.lexsort((rows, -matches.score[rows], matches.image[rows]))]
    place = np.zeros(len(matches.label), np.int64)
    place[rows] = np.arange(len(rows))
    order = np.lexsort((truth, place[detection]))
    matched = match(
        Pairs(place[detection[order]], truth[order], pairs.iou[kept][order]),
        np.ones((1, len(matches.gt_label)), bool),
        np.zeros(len(matches.gt_label), bool),
        np.array([iou_threshold]),
        remember=[0],
    )
    took = matched.taken[0, 0]
    return rows[matched.candidate[took >= 0]], took[took >= 0]


def _table(matches: Matches, cases: list[_Cases]) -> MetricTable:
    count = len(matches.labels)
    matrix = np.zeros((count, count), np.int64)
    for part in cases[:2]:
        np.add.at(matrix, (matches.gt_label[part.ground_truth], matches.label[part.detection]), 1)
    predictions = np.bincount(matches.label[cases[2].detection], minlength=count)
    truths = np.bincount(matches.gt_label[cases[3].ground_truth], minlength=count)
    return MetricTable(matches.labels, matrix.tolist(), truths.tolist(), predictions.tolist())


def _examples(matches: Matches, cases: _Cases, most: int) -> list[MetricExample]:
    detection, truth = cases.detection, cases.ground_truth
    if not most or not len(detection):
        return []
    predicted = matches.label[detection] if detection[0] >= 0 else np.zeros(len(truth), np.int64)
    labelled = matches.gt_label[truth] if truth[0] >= 0 else np.zeros(len(truth), np.int64)
    if detection[0] >= 0:
        order = [-matches.score[detection], matches.image[detection], matches.number[detection]]
    else:
        order = [matches.gt_image[truth], matches.gt_number[truth]]
    shown = first_of_each(labelled * len(matches.labels) + predicted, order, most)
    return [
        example(
            matches,
            cases.kind,
            detection=int(detection[at]) if detection[at] >= 0 else None,
            ground_truth=int(truth[at]) if truth[at] >= 0 else None,
        )
        for at in shown.tolist()
    ]


CONFUSION_MATRIX = Metric(
    name="confusion_matrix",
    compute=confusion_matrix,
    reference="valor_lite.object_detection, its confusion matrix; matching as pycocotools",
    citation="Stehman, Selecting and interpreting measures of thematic classification accuracy, "
    "Remote Sensing of Environment, 1997",
    evidence=(ENCOUNTERS,),
    outputs=(),
    draws="table",
    aliases=("ConfusionMatrix",),
)
