"""Plan detection evidence: the IoU thresholds and area ranges of all metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import numpy as np
from annotated_types import Interval, MinLen
from msgspec import Struct
from pydantic import AfterValidator

from valor_cli.evaluators.parameters import ScoreThreshold, ScoreThresholds, distinct
from valor_cli.metric import Call

MATCHED_AT: Final = "detections are matched at it"
"""Marks the type of a parameter whose value, or values, are IoU thresholds of the evidence."""

MATCHED_IN: Final = "detections are matched in it"
"""Marks the type of a parameter whose values are area ranges of the evidence."""

IouThreshold = Annotated[float, Interval(gt=0, le=1), MATCHED_AT]
IouThresholds = Annotated[tuple[IouThreshold, ...], MinLen(1), AfterValidator(distinct), MATCHED_AT]
Size = Literal["small", "medium", "large"]
Sizes = Annotated[
    tuple[Size, ...], AfterValidator(lambda sizes: tuple(dict.fromkeys(sizes))), MATCHED_IN
]
BackgroundIou = Annotated[float, Interval(gt=0, lt=1)]
Interpolation = Literal["101_point", "11_point", "every_point"]
RecallScores = float | ScoreThresholds
"""One score threshold, or several over which the recall is averaged."""
MaxDetections = Annotated[int, Interval(ge=1, le=2**31 - 1)] | None

UNNAMED: Final = 0.5
"""The score threshold of a label that a mapping does not name: that of the metrics by default."""

COCO_IOUS: tuple[float, ...] = tuple(np.linspace(0.5, 0.95, 10).tolist())
"""pycocotools' thresholds; 0.05 steps as linspace rounds them."""


AREAS: Mapping[str, tuple[float, float]] = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
"""COCO's area ranges in square pixels, both ends included."""


ENCOUNTERS = "encounters"
"""What a metric lists under `Metric.evidence` that asks what detections overlap of any label."""


class Closeness(Struct, frozen=True):
    """Which overlaps of any label are kept.

    Attributes:
        iou: The lowest.
        score: The lowest score of a detection that is looked at.
        remembered: IoU thresholds at which it is kept which ground truth a detection matched.
    """

    iou: float
    score: float
    remembered: tuple[float, ...]


class MatchingPlan(Struct, frozen=True):
    """Plan of the evidence that the metrics of a run need.

    Attributes:
        ious: IoU thresholds, ascending.
        areas: Names of area ranges; "all" is the first.
        overlap_pairs: Overlaps of any label; None if nobody asks.
    """

    ious: tuple[float, ...] = COCO_IOUS
    areas: tuple[str, ...] = tuple(AREAS)
    overlap_pairs: Closeness | None = None


def plan_matching(calls: Sequence[Call], slices: Sequence[str]) -> MatchingPlan:
    """The IoU thresholds and area ranges of all metrics and slices."""
    areas = {"all"} | (set(AREAS) if "area" in slices else set())
    areas = areas.union(*(own for call in calls for own in call.marked(MATCHED_IN)))
    return MatchingPlan(
        _thresholds(calls), tuple(area for area in AREAS if area in areas), _closeness(calls)
    )


def levels_of(labels: Sequence[str], threshold: ScoreThreshold) -> float | tuple[float, ...]:
    """The score threshold of all labels, or one per label in order."""
    if isinstance(threshold, Mapping):
        return tuple(float(threshold.get(label, UNNAMED)) for label in labels)
    return threshold


def _thresholds(calls: Sequence[Call]) -> tuple[float, ...]:
    """The IoU thresholds of some metrics, ascending."""
    values = [np.atleast_1d(value) for call in calls for value in call.marked(MATCHED_AT)]
    return tuple(sorted({float(one) for value in values for one in value}))


def _closeness(calls: Sequence[Call]) -> Closeness | None:
    """The lowest of what any metric that looks across labels names."""
    looking = [call for call in calls if ENCOUNTERS in call.metric.evidence]
    if not looking:
        return None
    asking, remembered = [call.parameters for call in looking], _thresholds(looking)
    lowest = {float(one["background_iou"]) for one in asking if "background_iou" in one}
    scores = [min(one.get("score_thresholds", _levels(one))) for one in asking]
    return Closeness(min(*remembered, *lowest, 1 - 1e-10), float(min(scores)), remembered)


def _levels(parameters: Mapping[str, Any]) -> tuple[float, ...]:
    """The score thresholds of a metric that has one, or one for each label."""
    given = parameters.get("score_threshold", -np.inf)
    return (*given.values(), UNNAMED) if isinstance(given, Mapping) else (given,)
