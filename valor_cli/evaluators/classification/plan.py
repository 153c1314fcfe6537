"""What parameters of classification metrics may be: thresholds, averages, bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from annotated_types import Interval, MinLen

ScoreThreshold = float | Annotated[Mapping[str, float], MinLen(1)]
"""One number for all labels, or one for each of some: labels that are not named have 0."""

Ties = Literal["first_listed", "last_listed"]
TopK = Annotated[int, Interval(ge=1, le=1_000_000)]
Bins = Annotated[int, Interval(ge=1, le=1000)]
