"""What parameters of classification metrics may be: thresholds, averages, bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from annotated_types import Interval, MinLen
from pydantic import AfterValidator


def _distinct(thresholds: tuple[float, ...]) -> tuple[float, ...]:
    """Thresholds may be written in any order and repeat; they are a set."""
    return tuple(sorted(set(thresholds)))


ScoreThreshold = float | Annotated[Mapping[str, float], MinLen(1)]
"""One number for all labels, or one for each of some: labels that are not named have 0."""

ScoreThresholds = Annotated[tuple[float, ...], MinLen(1), AfterValidator(_distinct)]
Ties = Literal["first_listed", "last_listed"]
TopK = Annotated[int, Interval(ge=1, le=1_000_000)]
Bins = Annotated[int, Interval(ge=1, le=1000)]
MaxExamples = Annotated[int, Interval(ge=0, le=1000)]

SCORES: tuple[float, ...] = tuple(round(x / 100, 2) for x in range(5, 100, 5))
"""The score thresholds of precision-recall curves."""
