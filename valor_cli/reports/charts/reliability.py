"""Reliability: confidence, accuracy and number of samples by bin, and their diagrams."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.charts.curves import curve_of, groups_of
from valor_cli.reports.charts.plots import PLOT, class_of, grid, rect, text, title
from valor_cli.reports.digests.formatting import clean, number, words
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import Chart
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
    groups = groups_of(result, COLUMNS)
    rows = [row for group in groups for _, row in group]
    names = Names((row.metric, row.parameters) for row in rows)
    errors = _errors(result.metrics, {row.metric for row in rows})
    return tuple(
        Calibration(
            _title(group[0][1], names),
            group[0][1].metric,
            tuple(_reliability(row, at, errors.get(curve_of(row))) for at, row in group),
        )
        for group in groups
    )


def _errors(rows: Sequence[MetricResult], metrics: set[str]) -> dict[object, float | None]:
    """A metric's first value of each model, label and setting."""
    found: dict[object, float | None] = {}
    for row in rows:
        if row.slice is None and row.metric in metrics:
            found.setdefault(curve_of(row), row.value)
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


KEY = (("over", "overconfident"), ("under", "underconfident"))

_HISTOGRAM = 40
_BELOW = 8
_HEIGHT = PLOT["top"] + PLOT["h"] + _BELOW + _HISTOGRAM + 36
_SHORT = {"expected_calibration_error": "ECE"}


def error_of(one: Reliability, metric: str) -> str:
    """The named calibration error of the bins; empty if there is none."""
    return "" if one.error is None else f"{_SHORT.get(metric, words(metric))} {number(one.error)}"


def span(part: Bin) -> str:
    """The confidence range of a bin, in words."""
    return f"{part.low:.3g} to {part.high:.3g}"


def reliability(one: Reliability, metric: str) -> Chart:
    """Bars of accuracy with the gap to confidence, above the samples of each bin."""
    most = max([part.n for part in one.bins], default=0) or 1
    body = grid("confidence →", "accuracy", diagonal=True, below=_BELOW + _HISTOGRAM)
    body += f'<g class="grid">{text("gray: samples", 4, _HEIGHT - 6, "axis")}</g>'
    body += "".join(_bar(part, most, one.model) for part in one.bins if part.n)
    message = ", ".join(filter(None, (one.leaning, error_of(one, metric))))
    return Chart(
        PLOT["width"],
        _HEIGHT,
        body,
        message,
        (one.model,),
        KEY,
    )


def _bar(part: Bin, most: int, model: int) -> str:
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    confidence, accuracy = part.confidence or 0.0, part.accuracy or 0.0
    floor = top + h
    low, high = sorted((confidence, accuracy))
    # A thousand samples must not make one of them vanish.
    count = max(_HISTOGRAM * part.n / most, 0.8)
    x, width = left + w * part.low + 0.75, max(w * (part.high - part.low) - 1.5, 0.5)
    side = "over" if confidence > accuracy else "under"
    message = f"{span(part)}: {part.n:,} samples, confidence {number(confidence)}"
    dot = f"M{left + w * confidence:.1f} {floor - h * accuracy:.1f}h.01"
    return (
        f"<g>{title(f'{message}, accuracy {number(accuracy)}')}"
        + rect(f"{class_of(model)} kept", x, floor - h * low, width, h * low)
        + rect(side, x, floor - h * high, width, h * (high - low))
        + f'<path class="{class_of(model)} dot" d="{dot}"/>'
        + rect("count", x, floor + _BELOW + _HISTOGRAM - count, width, count)
        + "</g>"
    )
