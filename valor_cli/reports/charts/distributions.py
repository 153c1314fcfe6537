"""How values of single samples spread: histograms, and lines along quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.charts.curves import groups_of
from valor_cli.reports.charts.plots import (
    class_of,
    extent,
    lined,
    listed,
    multiples,
    path,
    rect,
    round_step,
    text,
    title,
)
from valor_cli.reports.digests.formatting import capital, clean, number, output_words, whole
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.digests.passing import threshold_of
from valor_cli.reports.document import Chart
from valor_cli.results import CurveResult, RunResult, SamplesResult
from valor_cli.results.identity import frozen

BINS = 20

_ROW = 78
_HIGH = 48
_LEFT = 34
_WIDTH = 338


class Values(Struct, frozen=True):
    """Per-sample values of a model, without missing ones."""

    model: int
    values: Sequence[float]


class Bins(Struct, frozen=True):
    """Bin edges, and counts of each model."""

    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]


def binned(models: Sequence[Values], *, fraction: bool) -> Bins:
    """Bins of equal width, fractions from 0 to 1; the last includes its upper edge.

    Args:
        models: All models share their bins.
        fraction: Whether the values are parts of a whole.
    """
    known = [value for one in models for value in one.values]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if fraction and low >= 0 and high <= 1:
        low, high, parts = 0.0, 1.0, BINS
    else:
        step = round_step((high - low) or 1.0, BINS)
        low = math.floor(low / step) * step
        parts = max(math.ceil((high - low) / step), 1)
        high = low + parts * step
    size = (high - low) / parts
    counts = []
    for one in models:
        row = [0] * parts
        for value in one.values:
            # A value on an edge belongs to the bin that begins there, whatever rounding does.
            row[min(int((value - low) / size + 1e-9), parts - 1)] += 1
        counts.append(tuple(row))
    return Bins(tuple(low + size * i for i in range(parts + 1)), tuple(counts))


def histogram(
    shown: Sequence[Values],
    models: Sequence[str],
    *,
    name: str,
    unit: str = "fraction",
    threshold: float | None = None,
) -> Chart:
    """Bars of how many samples have which value.

    Args:
        shown: A row for each.
        models: Their names, cleaned.
        name: Of the values.
        unit: Of the values.
        threshold: The limit of the values, if any; drawn across all rows.
    """
    bins = binned(shown, fraction=unit == "fraction")
    low, high = bins.edges[0], bins.edges[-1]
    size = _WIDTH / (high - low)
    floor = _ROW * len(shown) + 6
    parts = [_axis(low, high, floor, name)]
    for row, (one, counts) in enumerate(zip(shown, bins.counts, strict=True)):
        parts.append(_row(one, counts, bins.edges, models, row, unit))
    if threshold is not None and low <= threshold <= high:
        x = _LEFT + (threshold - low) * size
        parts.append(f'<path class="limit" d="M{x:.1f} 16V{floor}"/>')
        words = f"threshold {threshold:.4g}"
        side = "end" if x + extent(words) > _LEFT + _WIDTH else ""
        parts.append(text(words, x - 4 if side else x + 4, floor + 28, "quiet", side))
    return Chart(
        _LEFT + _WIDTH + 12,
        floor + 34,
        "".join(parts),
        listed((_told(one, models, unit, threshold) for one in shown), 6),
        tuple(one.model for one in shown),
    )


def _row(
    one: Values,
    counts: Sequence[int],
    edges: Sequence[float],
    models: Sequence[str],
    row: int,
    unit: str,
) -> str:
    floor = _ROW * (row + 1)
    size = _WIDTH / (edges[-1] - edges[0])
    most = max(counts, default=0) or 1
    parts = [text(models[one.model], _LEFT, floor - _HIGH - 12)]
    parts.append(text(_summary(one, unit), _LEFT + _WIDTH, floor - _HIGH - 12, "quiet", "end"))
    for at, count in enumerate(counts):
        if not count:
            continue
        x, width = _LEFT + (edges[at] - edges[0]) * size, (edges[at + 1] - edges[at]) * size
        # One sample among thousands is seen, too.
        high = max(_HIGH * count / most, 0.8)
        message = f"{number(edges[at], unit)} to {number(edges[at + 1], unit)}: {count:,}"
        bar = rect(class_of(one.model), x + 0.75, floor - high, max(width - 1.5, 0.5), high)
        parts.append(f"<g>{title(message)}{bar}</g>")
    parts.append(f'<path class="floor" d="M{_LEFT} {floor}h{_WIDTH}"/>')
    parts.append(text(f"{most:,}", _LEFT - 5, floor - _HIGH + 8, "quiet", "end"))
    return "".join(parts)


def _axis(low: float, high: float, floor: float, name: str) -> str:
    step = round_step(high - low, 5)
    parts = []
    for at in multiples(low, high, step):
        x = _LEFT + (at - low) / (high - low) * _WIDTH
        parts.append(f'<path d="M{x:.1f} 16V{floor}"/>')
        parts.append(text(f"{at:.3g}".replace("-", "−"), x, floor + 14, anchor="middle"))
    parts.append(text(f"{name} →", _LEFT + _WIDTH, floor + 28, "axis", "end"))
    return f'<g class="grid">{"".join(parts)}</g>'


def _summary(one: Values, unit: str) -> str:
    if not one.values:
        return "no values"
    ordered = sorted(one.values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return f"n {len(ordered):,}, median {number(median, unit)}"


def _told(one: Values, models: Sequence[str], unit: str, threshold: float | None) -> str:
    message = f"{models[one.model]}: {_summary(one, unit)}"
    if threshold is None or not one.values:
        return message
    below = sum(value < threshold for value in one.values)
    return f"{message}, {below:,} below {threshold:.4g}"


AXIS = "quantile"
"""The column that makes a curve a distribution; each other column is of values from 0 to 1."""

MARKS = (
    (0.0, "lowest"),
    (0.05, "5%"),
    (0.25, "25%"),
    (0.5, "median"),
    (0.75, "75%"),
    (1.0, "highest"),
)
"""Quantiles told in numbers."""


class Spread(Struct, frozen=True):
    """The quantile curve of one output of a model, with labelled marks."""

    model: int
    quantiles: Sequence[float | None]
    values: Sequence[float | None]
    marks: tuple[str, ...]


class Distribution(Struct, frozen=True):
    """One output of a metric at one setting, by model."""

    title: str
    detail: str
    spreads: tuple[Spread, ...]
    metric: str


def distributions(result: RunResult) -> tuple[Distribution, ...]:
    """Distributions of whole models, one per output and setting."""
    groups = [group for group in groups_of(result, [AXIS]) if group[0][1].label is None]
    firsts = [first for (_, first), *_ in groups]
    names = Names((row.metric, row.parameters) for row in firsts)
    return tuple(
        Distribution(
            output_words(output),
            names.detail(first.metric, first.parameters),
            tuple(_spread(row, at, output) for at, row in group),
            first.metric,
        )
        for first, group in zip(firsts, groups, strict=True)
        for output in first.points
        if output != AXIS
    )


def _spread(row: CurveResult, model: int, output: str) -> Spread:
    quantiles, values = row.points[AXIS], row.points.get(output, ())
    known = dict(zip(quantiles, values, strict=False))
    marks = tuple(number(known.get(_nearest(quantiles, at))) for at, _ in MARKS)
    return Spread(model, quantiles, values, marks)


def _nearest(quantiles: Sequence[float | None], at: float) -> float | None:
    """The quantile for a mark, within half a percent."""
    known = [one for one in quantiles if one is not None and abs(one - at) <= 0.005]
    return min(known, key=lambda one: abs(one - at), default=None)


_MEDIAN = [name for _, name in MARKS].index("median")


class Spreads(Struct, frozen=True):
    """Per-sample values of one metric at one setting.

    Attributes:
        name: The metric and its primary output in words, and `detail` its parameters.
        unit: Of the values; `threshold` is the limit they are compared with, if any.
        values: Of each model that has any.
    """

    metric: str
    name: str
    detail: str
    unit: str
    threshold: float | None
    values: tuple[Values, ...]

    @property
    def title(self) -> str:
        return f"{capital(self.name)} ({self.detail})" if self.detail else capital(self.name)

    def drawn(self, models: Sequence[str]) -> Chart:
        """The histogram; `models` are names, cleaned."""
        return histogram(
            self.values, models, name=self.name, unit=self.unit, threshold=self.threshold
        )


def spreads(result: RunResult) -> tuple[Spreads, ...]:
    """The primary per-sample values of metrics that have more than one distinct value."""
    names = Names((one.metric, one.parameters) for one in result.samples)
    groups: dict[tuple[object, ...], list[SamplesResult]] = {}
    for one in result.samples:
        if one.model in result.models and one.columns:
            groups.setdefault((one.metric, frozen(one.parameters)), []).append(one)
    units = {(row.metric, row.output): row.unit for row in result.metrics}
    found = [_spreads(result, group, names, units) for group in groups.values()]
    return tuple(one for one in found if len({v for part in one.values for v in part.values}) > 1)


def _spreads(
    result: RunResult,
    group: Sequence[SamplesResult],
    names: Names,
    units: dict[tuple[str, str], str],
) -> Spreads:
    first = group[0]
    models = list(result.models)
    output = next(iter(first.columns))
    unit = units.get((first.metric, output)) or units.get((first.metric, "value"), "fraction")
    if all(whole(one.columns.get(output, ())) for one in group):
        unit = "count"
    return Spreads(
        metric=first.metric,
        name=clean(first.metric)
        if output == "value"
        else f"{clean(first.metric)} {output_words(output)}",
        detail=names.detail(first.metric, first.parameters),
        unit=unit,
        threshold=threshold_of(result, first),
        values=tuple(
            Values(models.index(one.model), known)
            for one in group
            for known in [[v for v in one.columns.get(output, ()) if v is not None]]
            if known
        ),
    )


def spread(part: Distribution, models: Sequence[str], unit: str) -> Chart:
    """The values in their order, lowest first, of each model."""
    lines = [(one.model, path(one.quantiles, one.values)) for one in part.spreads]
    told = (
        f"{models[one.model]}: lowest {one.marks[0]}, median {one.marks[_MEDIAN]}, "
        f"highest {one.marks[-1]}"
        for one in part.spreads
    )
    return lined("spread", lines, listed(told), (f"part of the {unit}s →", part.title))
