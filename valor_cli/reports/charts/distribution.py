"""Distributions of per-sample values by model."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import number, output_words
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.results import CurveResult, RunResult

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
