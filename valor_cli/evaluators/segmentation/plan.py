"""What the metrics of a run ask of the evidence: boundaries, and how wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from valor_cli.metric import Call

DilationRatio = Annotated[float, Interval(gt=0, le=1)]

BOUNDARIES = "boundaries"
"""What a metric lists under `Metric.evidence` that asks for the outlines of labels."""


@dataclass(frozen=True, slots=True)
class CountingPlan:
    """What the metrics of a run will ask of the evidence.

    Attributes:
        dilation_ratios: How far boundaries reach, as parts of an image's diagonal; ascending.
    """

    dilation_ratios: tuple[float, ...] = ()


def plan_counting(calls: Sequence[Call], slices: Sequence[str]) -> CountingPlan:
    """Every dilation ratio that a metric of boundaries names."""
    ratios = {
        float(call.parameters["dilation_ratio"])
        for call in calls
        if BOUNDARIES in call.metric.evidence
    }
    return CountingPlan(tuple(sorted(ratios)))
