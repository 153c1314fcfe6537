"""Reliability tables of a run, by model."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.results import CurveResult, MetricResult, RunResult

COLUMNS = ("confidence_low", "confidence_high", "n", "confidence", "accuracy")
"""The columns that make a curve a reliability table, whatever its metric is called."""


class Bin(Struct, frozen=True):
    """Samples of similar confidence: count, mean confidence, accuracy; None if empty."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None

    @property
    def gap(self) -> float | None:
        """Confidence minus accuracy."""
        if self.confidence is None or self.accuracy is None:
            return None
        return self.confidence - self.accuracy


class Reliability(Struct, frozen=True):
    """One model's bins, and its calibration error.

    Attributes:
        model: The model's position in the run.
        error: The metric's value; None where it has none or the run does not state it.
        over: Bins whose confidence is above their accuracy; `filled` those with samples.
    """

    model: int
    bins: tuple[Bin, ...]
    error: float | None
    over: int
    filled: int

    @property
    def leaning(self) -> str:
        """Whether the model is over- or underconfident, in words."""
        if not self.filled:
            return "no samples"
        if self.over * 2 == self.filled:
            return f"confidence is above accuracy in {self.over} of {self.filled} bins"
        if self.over * 2 > self.filled:
            return f"overconfident in {self.over} of {self.filled} bins"
        under = sum(one.gap is not None and one.gap < 0 for one in self.bins)
        return f"underconfident in {under} of {self.filled} bins"


class Calibration(Struct, frozen=True):
    """The models' bins at one setting; `title` distinguishes settings, if there are several."""

    title: str
    metric: str
    models: tuple[Reliability, ...]


def calibrations(result: RunResult) -> tuple[Calibration, ...]:
    """Calibrations of whole models, one per label key, label and setting."""
    models = {model: index for index, model in enumerate(result.models)}
    rows = [
        row
        for row in result.curves
        if row.slice is None and row.model in models and {*COLUMNS} <= set(row.points)
    ]
    names = Names((row.metric, row.parameters) for row in rows)
    errors = _errors(result.metrics, {row.metric for row in rows})
    groups: dict[tuple[object, ...], list[CurveResult]] = {}
    for row in rows:
        groups.setdefault((row.metric, row.label, frozen(row.parameters)), []).append(row)
    return tuple(
        Calibration(
            _title(group[0], names),
            group[0].metric,
            tuple(
                _reliability(row, models[row.model], errors.get((row.model, *key))) for row in group
            ),
        )
        for key, group in groups.items()
    )


def _errors(
    rows: Sequence[MetricResult], metrics: set[str]
) -> dict[tuple[object, ...], float | None]:
    """A metric's first value of each model, label and setting."""
    found: dict[tuple[object, ...], float | None] = {}
    for row in rows:
        if row.slice is None and row.metric in metrics:
            found.setdefault((row.model, row.metric, row.label, frozen(row.parameters)), row.value)
    return found


def _title(row: CurveResult, names: Names) -> str:
    detail = names.detail(row.metric, row.parameters)
    label = "" if row.label is None else clean(row.label, 60)
    return f"{label} ({detail})" if label and detail else label or detail


def _reliability(row: CurveResult, model: int, error: float | None) -> Reliability:
    bins = tuple(
        Bin(low or 0.0, high or 0.0, int(n or 0), confidence, accuracy)
        for low, high, n, confidence, accuracy in zip(
            *(row.points[name] for name in COLUMNS), strict=True
        )
    )
    gaps = [one.gap for one in bins if one.gap is not None]
    return Reliability(model, bins, error, sum(gap > 0 for gap in gaps), len(gaps))
