"""What parameters of classification metrics may be: thresholds, averages, bins."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Interval

from valor_cli.evaluators.parameters import ScoreThreshold

__all__ = ["Bins", "ScoreThreshold", "Ties", "TopK"]

Ties = Literal["first_listed", "last_listed"]
TopK = Annotated[int, Interval(ge=1, le=1_000_000)]
Bins = Annotated[int, Interval(ge=1, le=1000)]
