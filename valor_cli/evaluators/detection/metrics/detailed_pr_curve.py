"""Precision-recall curves with error counts by reason."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.examples import example, first_of_each
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.outcomes import Outcomes, outcomes, overlap_pairs
from valor_cli.evaluators.detection.evidence.parameters import (
    ENCOUNTERS,
    IouThreshold,
    MaxDetections,
)
from valor_cli.evaluators.parameters import SCORES, MaxExamples, ScoreThresholds
from valor_cli.kernels.columns.grouping import places_in_runs, reaching
from valor_cli.metric import Metric
from valor_cli.results import Findings, MetricCurve, MetricExample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MISCLASSIFIED = "misclassification"


def detailed_pr_curve(
    matches: Matches,
    *,
    score_thresholds: ScoreThresholds = SCORES,
    pr_curve_iou_threshold: IouThreshold = 0.5,
    max_detections: MaxDetections = None,
    max_examples: MaxExamples = 1,
) -> Findings:
    """True and false positives and false negatives by score threshold and reason.

    A false positive that overlaps a ground truth of another label, from `pr_curve_iou_threshold`
    on, is a misclassification, any other (a duplicate too) a hallucination. A false negative that
    is overlapped so by a passing detection of another label is a misclassification, any other has
    no prediction. Each has up to `max_examples` examples at every threshold: detections by score,
    ground truths by image. An example says at which `score_thresholds` it is one.

    Formula:
        FP = misclassifications (IoU ≥ t with a ground truth of another label) + hallucinations
        FN = misclassifications (IoU ≥ t with a detection of another label) + no predictions
        t: pr_curve_iou_threshold; detections: those that reach the score threshold

    Pitfalls:
        Hallucinations are what is left: duplicates and boxes just too loose are among them, so
        they are no count of invented objects. `error_breakdown` distinguishes these.

    Example:
        A cat is detected as a dog, with IoU 0.8 and score 0.6. At 0.5 that is a misclassification
        among the false positives of dog and among the false negatives of cat; at 0.65 the cat has
        no prediction.
    """
    levels = np.array(score_thresholds)
    found = outcomes(matches, pr_curve_iou_threshold, levels[0], max_detections)
    crossed, crossing = _crossings(matches, found, pr_curve_iou_threshold)
    # A ground truth is found, or overlapped by another label, up to these scores.
    reached = np.append(matches.score, -np.inf)[found.found_by]
    wrong, real = found.wrong, found.real
    truths = matches.ground_truth_count[0]
    columns = _columns(matches, found, crossed, crossing, reached, levels)
    seen = np.flatnonzero((truths > 0) | columns["fp"].any(axis=0))
    return Findings(
        curves=[
            MetricCurve(
                {
                    "score_threshold": score_thresholds,
                    **{name: column[:, at].tolist() for name, column in columns.items()},
                },
                label=matches.labels[at],
            )
            for at in seen.tolist()
        ],
        examples=[
            *_of_detections(matches, "true_positive", found.right, levels, max_examples),
            *_of_detections(matches, MISCLASSIFIED, wrong & crossed, levels, max_examples),
            *_of_detections(matches, "hallucination", wrong & ~crossed, levels, max_examples),
            *_of_ground_truths(matches, real, reached, crossing, levels, max_examples),
        ],
    )


def _columns(
    matches: Matches,
    found: Outcomes,
    crossed: NDArray[np.bool_],
    crossing: Floats,
    reached: Floats,
    levels: Floats,
) -> dict[str, Ints]:
    """(levels, labels) each count of the curve."""

    def upto(score: Floats, label: Ints, kept: NDArray[np.bool_]) -> Ints:
        counts = reaching(score[kept], label[kept], levels, len(matches.labels))
        return np.asarray(counts)

    tp = upto(matches.score, matches.label, found.right)
    mistaken = upto(matches.score, matches.label, found.wrong & crossed)
    invented = upto(matches.score, matches.label, found.wrong & ~crossed)
    fn = matches.ground_truth_count[0] - tp
    confused = upto(crossing, matches.gt_label, found.real)
    confused -= upto(np.minimum(crossing, reached), matches.gt_label, found.real)
    return {
        "tp": tp,
        "fp": mistaken + invented,
        "fn": fn,
        "fp_misclassifications": mistaken,
        "fp_hallucinations": invented,
        "fn_misclassifications": confused,
        "fn_no_predictions": fn - confused,
    }


def _crossings(
    matches: Matches, found: Outcomes, iou_threshold: float
) -> tuple[NDArray[np.bool_], Floats]:
    """Which detections overlap another label, and the best score that so overlaps each truth."""
    pairs = overlap_pairs(matches, iou_threshold)
    detection, truth = pairs.detection, pairs.ground_truth
    other = matches.label[detection] != matches.gt_label[truth]
    other &= found.counted[detection] & found.real[truth]
    crossed = np.zeros(len(matches.label), bool)
    crossed[detection[other]] = True
    crossing = np.full(len(matches.gt_label), -np.inf)
    np.maximum.at(crossing, truth[other], matches.score[detection[other]])
    return crossed, crossing


def _of_detections(
    matches: Matches, kind: str, kept: NDArray[np.bool_], levels: Floats, most: int
) -> Iterator[MetricExample]:
    """The best-scored ones of each label: examples at every threshold up to their score."""
    rows = np.flatnonzero(kept)
    order = [-matches.score[rows], matches.image[rows], matches.number[rows]]
    for row in rows[first_of_each(matches.label[rows], order, most)].tolist():
        passed = tuple(levels[levels <= matches.score[row]].tolist())
        yield example(matches, kind, detection=row, at={"score_thresholds": passed})


def _of_ground_truths(
    matches: Matches,
    real: NDArray[np.bool_],
    reached: Floats,
    crossing: Floats,
    levels: Floats,
    most: int,
) -> Iterator[MetricExample]:
    """The first missed ones of each label at every threshold, by image."""
    rows = np.flatnonzero(real)
    rows = rows[
        np.lexsort((matches.gt_number[rows], matches.gt_image[rows], matches.gt_label[rows]))
    ]
    shown: dict[tuple[str, int], list[float]] = {}
    for level in levels.tolist():
        missed = rows[reached[rows] < level]
        crossed = crossing[missed] >= level
        for kind, some in ((MISCLASSIFIED, missed[crossed]), ("no_prediction", missed[~crossed])):
            first = some[places_in_runs(matches.gt_label[some]) < most]
            for row in first.tolist():
                shown.setdefault((kind, row), []).append(level)
    for (kind, row), at in shown.items():
        yield example(matches, kind, ground_truth=row, at={"score_thresholds": tuple(at)})


DETAILED_PR_CURVE = Metric(
    name="detailed_pr_curve",
    compute=detailed_pr_curve,
    reference="pycocotools.cocoeval.COCOeval.evaluateImg, its matches counted",
    citation="Striveworks Valor, DetailedPrecisionRecallCurve",
    evidence=(ENCOUNTERS,),
    outputs=(),
    draws="curves",
    aliases=("DetailedPrecisionRecallCurve",),
)
