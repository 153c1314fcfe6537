"""What parameters of metrics of several wings may be."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval, MinLen
from pydantic import AfterValidator


def distinct(thresholds: tuple[float, ...]) -> tuple[float, ...]:
    """Thresholds may be written in any order and repeat; they are a set."""
    return tuple(sorted(set(thresholds)))


ScoreThresholds = Annotated[tuple[float, ...], MinLen(1), AfterValidator(distinct)]
MaxExamples = Annotated[int, Interval(ge=0, le=1000)]

SCORES: tuple[float, ...] = tuple(round(x / 100, 2) for x in range(5, 100, 5))
"""The score thresholds of precision-recall curves."""
