"""Classify false positives and false negatives by reason (TIDE, ECCV 2020).

Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, ECCV 2020. A false
positive is, in this order: a localisation error, if the IoU with the ground truth of its label
that it overlaps most is too low; a classification error, if it overlaps one of another label
enough; a duplicate, if its ground truth is already matched; background, if it overlaps nothing;
otherwise both (wrong label and poor localisation). A ground truth is missed if nothing matched it
and no detection would with a corrected label or place. Unlike in tidecv, detections of crowd
regions are not errors: they count neither as right nor as wrong.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.evaluators.detection.evidence.matches import Matches
from valor_cli.evaluators.detection.evidence.outcomes import (
    Outcomes,
    highest,
    outcomes,
    overlap_pairs,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

REASONS = ("classification", "localisation", "both", "duplicate", "background")
"""Of wrong detections; a ground truth has one reason, "missed"."""

CLASSIFICATION, LOCALISATION, BOTH, DUPLICATE, BACKGROUND = range(5)


class ErrorTypes(Struct, frozen=True):
    """Errors by reason, as rows of the evidence.

    Attributes:
        outcomes: What became of everything.
        reason: (n,) position in `REASONS` of each wrong detection; -1 for all others.
        aim: (n,) the ground truth that a detection of wrong label or place stands for; else -1.
        missed: (m,) ground truths that no detection would find even so.
    """

    outcomes: Outcomes
    reason: Ints
    aim: Ints
    missed: Flags


def error_types(
    matches: Matches,
    iou_threshold: float,
    background_iou: float,
    score_threshold: float = -np.inf,
    max_detections: int | None = None,
) -> ErrorTypes:
    """The reason of every error among detections above a score threshold.

    Args:
        matches: Evidence whose plan remembers `iou_threshold` and keeps encounters from
            `background_iou` on.
        iou_threshold: From which overlap on a detection is placed right.
        background_iou: Up to which overlap a detection is background.
        score_threshold, max_detections: As in `outcomes`.
    """
    found = outcomes(matches, iou_threshold, score_threshold, max_detections)
    pairs = overlap_pairs(matches, min(background_iou, iou_threshold))
    rows = len(matches.label)
    real = found.real[pairs.ground_truth]
    same = matches.label[pairs.detection] == matches.gt_label[pairs.ground_truth]
    own, own_truth = highest(pairs, real & same, rows)
    other, other_truth = highest(pairs, real & ~same, rows)
    reason = reasons(found.wrong, own, other, iou_threshold, background_iou)
    badly_placed, mislabelled = reason == LOCALISATION, reason == CLASSIFICATION
    aim = np.where(badly_placed, own_truth, np.where(mislabelled, other_truth, -1))
    missed = found.missed
    missed[aim[aim >= 0]] = False
    return ErrorTypes(found, reason, aim, missed)


def reasons(
    wrong: Flags, own: Floats, other: Floats, iou_threshold: float, background_iou: float
) -> Ints:
    """(n,) position in `REASONS` of each wrong detection; -1 for all others.

    Args:
        wrong: (n,) whether it is a false positive.
        own, other: (n,) its highest IoU with a ground truth of its label, and of another one.
        iou_threshold, background_iou: As in `error_types`.
    """
    enough = min(iou_threshold, 1 - 1e-10)
    # tidecv asks for at most the threshold, where a free ground truth has been matched already.
    badly_placed = wrong & (own >= background_iou) & (own <= iou_threshold) & (own < 1 - 1e-10)
    mislabelled = wrong & ~badly_placed & (other >= enough)
    duplicate = wrong & ~badly_placed & ~mislabelled & (own >= enough)
    rest = wrong & ~badly_placed & ~mislabelled & ~duplicate
    background = rest & (np.maximum(own, other) <= background_iou)
    reason = np.full(len(wrong), -1)
    for flags, number in (
        (badly_placed, LOCALISATION),
        (mislabelled, CLASSIFICATION),
        (duplicate, DUPLICATE),
        (background, BACKGROUND),
        (rest & ~background, BOTH),
    ):
        reason[flags] = number
    return reason
