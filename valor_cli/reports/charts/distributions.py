"""How values of single samples spread: histograms, and lines along quantiles."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.charts.histogram import Values, histogram
from valor_cli.reports.charts.plots import lined, listed, path
from valor_cli.reports.digests.formatting import capital, clean, number, output_words, whole
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.reports.document import Chart
from valor_cli.results import THRESHOLD, CurveResult, RunResult, SamplesResult

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
    models = {model: index for index, model in enumerate(result.models)}
    rows = [
        row
        for row in result.curves
        if row.slice is None and row.label is None and row.model in models and AXIS in row.points
    ]
    names = Names((row.metric, row.parameters) for row in rows)
    groups: dict[tuple[object, ...], list[CurveResult]] = {}
    for row in rows:
        groups.setdefault((row.metric, frozen(row.parameters)), []).append(row)
    return tuple(
        Distribution(
            output_words(output),
            names.detail(group[0].metric, group[0].parameters),
            tuple(_spread(row, models[row.model], output) for row in group),
            group[0].metric,
        )
        for group in groups.values()
        for output in group[0].points
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
    found = [_spreads(group, names, units, list(result.models)) for group in groups.values()]
    return tuple(one for one in found if len({v for part in one.values for v in part.values}) > 1)


def _spreads(
    group: Sequence[SamplesResult],
    names: Names,
    units: dict[tuple[str, str], str],
    models: Sequence[str],
) -> Spreads:
    first = group[0]
    output = next(iter(first.columns))
    limit = first.parameters.get(THRESHOLD)
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
        threshold=float(limit) if isinstance(limit, int | float) else None,
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
