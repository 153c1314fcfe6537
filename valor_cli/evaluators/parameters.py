"""Parameters shared by metrics of several wings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

from annotated_types import Interval, MinLen
from pydantic import AfterValidator

from valor_cli.errors import ConfigError, DataError
from valor_cli.results import Scalar


def distinct(thresholds: tuple[float, ...]) -> tuple[float, ...]:
    """A set of thresholds: sorted, without duplicates."""
    return tuple(sorted(set(thresholds)))


def readable_by(read: Callable[[str], object]) -> AfterValidator:
    """A validator for paths that reports file errors with the config's other problems.

    Args:
        read: Reads it, or raises ConfigError or DataError.
    """

    def checked(path: str) -> str:
        try:
            read(path)
        except (ConfigError, DataError) as error:
            told = [*map(str, error.problems), *([error.hint] if error.hint else [])]
            raise ValueError("; ".join(told)) from None
        return path

    return AfterValidator(checked)


ScoreThreshold = float | Annotated[Mapping[str, float], MinLen(1)]
"""One number for all labels, or one for each of some; the wings say what the others have."""

ScoreThresholds = Annotated[tuple[float, ...], MinLen(1), AfterValidator(distinct)]
MaxExamples = Annotated[int, Interval(ge=0, le=1000)]


def label_threshold(threshold: ScoreThreshold, label: str, unnamed: float) -> Mapping[str, Scalar]:
    """The threshold of a label, for its own row, where thresholds are set per label.

    Args:
        threshold: Of all labels, or of some.
        label: Its name.
        unnamed: The threshold of a label that these do not name.
    """
    if isinstance(threshold, Mapping):
        return {"score_threshold": float(threshold.get(label, unnamed))}
    return {}


SCORES: tuple[float, ...] = tuple(round(x / 100, 2) for x in range(5, 100, 5))
"""The score thresholds of precision-recall curves."""
