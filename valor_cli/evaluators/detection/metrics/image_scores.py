"""F1 of each image, and the worst images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.error_types import REASONS, ErrorTypes, error_types
from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.parameters import (
    ENCOUNTERS,
    BackgroundIou,
    IouThreshold,
    MaxDetections,
)
from valor_cli.evaluators.ratios import ZeroDivision, mean_over_images
from valor_cli.kernels.columns.grouping import grouped, nulls, quotient, tallies
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricExample, MetricSamples, ObjectRef

Ints = NDArray[np.int64]

MOST_OBJECTS = 200
"""Ground truths, and detections, of one image that are shown."""

NOTHING = "no ground truth and no detection that counts"


def image_scores(
    matches: Matches,
    *,
    iou_threshold: IouThreshold = 0.5,
    score_threshold: float = 0.5,
    background_iou: BackgroundIou = 0.1,
    max_detections: MaxDetections = None,
    worst: Annotated[int, Interval(ge=0, le=100)] = 12,
    zero_division: ZeroDivision = 0.0,
) -> Findings:
    """F1, precision and recall of each image, their means, and the worst images.

    An image with neither ground truth nor detection has no F1 and enters no mean. The `worst`
    images are those of lowest F1, of equal ones those with the most errors; each is shown with
    its ground truths and detections and what became of them. Precision of an image that has ground
    truth and no detection follows `zero_division`; recall of one without ground truth is undefined.

    Formula:
        f1 = 2·TP / (2·TP + FP + FN), precision = TP / (TP + FP), recall = TP / (TP + FN)
        TP, FP, FN: of one image, all its labels together; value: mean over the images that have one

    Pitfalls:
        An image of one object counts as much as one of fifty, so the mean is not the F1 of all
        objects. Images that rightly stay empty count nowhere; one with nothing but a false alarm
        has an F1 of 0.

    Example:
        Image A has TP 2, image B TP 1, FP 1, FN 2: F1 is 1 and 2/5, their mean 0.7, where all
        objects together have 6/9 = 0.667.
    """
    key = ("image_scores", iou_threshold, score_threshold, background_iou, max_detections)
    found, tp, fp, fn = matches.once(
        key,
        lambda: _counted(
            matches,
            error_types(matches, iou_threshold, background_iou, score_threshold, max_detections),
        ),
    )
    columns = {
        "f1": quotient(2 * tp, 2 * tp + fp + fn, np.nan),
        "precision": quotient(tp, tp + fp, np.nan),
        "recall": quotient(tp, tp + fn, np.nan),
    }
    columns["precision"][(tp + fp == 0) & (fn > 0)] = zero_division
    means = [
        mean_over_images(name, column, matches.unit_weights) for name, column in columns.items()
    ]
    if matches.weights is not None:
        return Findings(means)
    ids = matches.image_ids.tolist()
    return Findings(
        means,
        examples=list(_worst(matches, found, columns["f1"], fp + fn, worst)),
        samples=MetricSamples(
            ids,
            {
                **{name: nulls(column) for name, column in columns.items()},
                "tp": tp.tolist(),
                "fp": fp.tolist(),
                "fn": fn.tolist(),
            },
            [None if count else NOTHING for count in (tp + fp + fn).tolist()],
        ),
    )


def _counted(matches: Matches, found: ErrorTypes) -> tuple[ErrorTypes, Ints, Ints, Ints]:
    """The reasons, and true and false positives and false negatives of each image."""
    tp, fp, fn = (
        tallies(image[flags], matches.unit_count)[0]
        for image, flags in (
            (matches.image, found.outcomes.right),
            (matches.image, found.outcomes.wrong),
            (matches.gt_image, found.outcomes.missed),
        )
    )
    return found, tp, fp, fn


def _worst(
    matches: Matches, found: ErrorTypes, f1: NDArray[np.float64], errors: Ints, most: int
) -> Iterator[MetricExample]:
    with_errors = np.flatnonzero(errors)
    order = np.lexsort((with_errors, -errors[with_errors], f1[with_errors]))
    worst = with_errors[order][:most]
    truths = _rows_of(matches.gt_image, worst)
    detections = _rows_of(np.where(found.outcomes.kept, matches.image, -1), worst)
    for image in worst.tolist():
        shown = [
            *(_of_truth(matches, found, row) for row in truths[image][:MOST_OBJECTS]),
            *(
                _of_detection(matches, found, row)
                for row in _by_score(matches, detections[image])[:MOST_OBJECTS]
            ),
        ]
        sample = matches.image_ids[image].item()
        yield MetricExample("worst_image", sample, None, tuple(shown), float(f1[image]))


def _rows_of(image: Ints, images: Ints) -> dict[int, list[int]]:
    """Rows of some images."""
    rows = np.flatnonzero(np.isin(image, images))
    order, starts = grouped(image[rows])
    parts = np.split(rows[order], starts[1:-1])
    known: dict[int, list[int]] = {one: [] for one in images.tolist()}
    return known | {int(image[part[0]]): part.tolist() for part in parts if len(part)}


def _by_score(matches: Matches, rows: list[int]) -> list[int]:
    at = np.array(rows, np.int64)
    order = np.lexsort((matches.number[at], -matches.score[at]))
    ordered: list[int] = at[order].tolist()
    return ordered


def _of_truth(matches: Matches, found: ErrorTypes, row: int) -> ObjectRef:
    outcome = "ignored"
    if found.outcomes.real[row]:
        outcome = "found" if found.outcomes.found_by[row] >= 0 else "missed"
    return ObjectRef("ground_truth", int(matches.gt_number[row]), outcome)


def _of_detection(matches: Matches, found: ErrorTypes, row: int) -> ObjectRef:
    outcome = "ignored"
    if found.outcomes.met[row] >= 0:
        outcome = "true_positive"
    elif found.reason[row] >= 0:
        outcome = REASONS[found.reason[row]]
    return ObjectRef("prediction", int(matches.number[row]), outcome)


IMAGE_SCORES = Metric(
    name="image_scores",
    compute=image_scores,
    reference="pycocotools.cocoeval.COCOeval.evaluateImg, its matches counted by image",
    citation="van Rijsbergen, Information Retrieval, 1979",
    evidence=(ENCOUNTERS,),
    outputs=(Output("f1", "higher"), Output("precision", "higher"), Output("recall", "higher")),
)
