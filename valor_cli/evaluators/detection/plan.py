"""What the metrics of a run ask of the evidence: IoU thresholds and area ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval, MinLen
from pydantic import AfterValidator

from valor_cli.metric import Call


def _distinct(thresholds: tuple[float, ...]) -> tuple[float, ...]:
    """Thresholds may be written in any order and repeat; they are a set."""
    return tuple(sorted(set(thresholds)))


IouThreshold = Annotated[float, Interval(gt=0, le=1)]
IouThresholds = Annotated[tuple[IouThreshold, ...], MinLen(1), AfterValidator(_distinct)]
Size = Literal["small", "medium", "large"]
Sizes = Annotated[tuple[Size, ...], AfterValidator(lambda sizes: tuple(dict.fromkeys(sizes)))]
ZeroDivision = Annotated[float, Interval(ge=0, le=1)]
MaxDetections = Annotated[int, Interval(ge=1, le=2**31 - 1)] | None

COCO_IOUS: tuple[float, ...] = tuple(np.linspace(0.5, 0.95, 10).tolist())
"""pycocotools' thresholds; 0.05 steps as linspace rounds them."""

AREAS: Mapping[str, tuple[float, float]] = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
"""COCO's area ranges in square pixels, both ends included."""


@dataclass(frozen=True, slots=True)
class MatchingPlan:
    """What the metrics of a run will ask of the evidence."""

    ious: tuple[float, ...] = COCO_IOUS
    areas: tuple[str, ...] = tuple(AREAS)


def plan_matching(calls: Sequence[Call], slices: Sequence[str]) -> MatchingPlan:
    """Every IoU threshold and area range that a parameter names or a slice cuts by."""
    ious: set[float] = set()
    areas = {"all"} | (set(AREAS) if "area" in slices else set())
    for call in calls:
        for name, value in call.parameters.items():
            if name.endswith("iou_threshold"):
                ious.add(float(value))
            elif name.endswith("iou_thresholds"):
                ious.update(map(float, value))
            elif name == "areas":
                areas.update(value)
    return MatchingPlan(tuple(sorted(ious)), tuple(area for area in AREAS if area in areas))
