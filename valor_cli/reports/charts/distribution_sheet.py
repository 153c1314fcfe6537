"""Charts of the distribution of per-sample values."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.charts.distribution import MARKS, Distribution, distributions
from valor_cli.reports.charts.histogram import Values, histogram
from valor_cli.reports.charts.lines import lined, listed
from valor_cli.reports.charts.plots import Drawing, path
from valor_cli.reports.charts.selection import Wanted
from valor_cli.reports.charts.standalone import Panel, Sheet
from valor_cli.reports.digests.formatting import capital, clean, output_words, whole
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.results import THRESHOLD, RunResult, SamplesResult

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

    def drawn(self, models: Sequence[str]) -> Drawing:
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


def distribution(wanted: Wanted) -> Sheet | None:
    """A histogram of sample values, or a line along quantiles if only these are known."""
    found = spreads(wanted.result)
    lines = distributions(wanted.result)
    if wanted.metric is not None and (found or lines):
        known = [*(one.metric for one in found), *(one.metric for one in lines)]
        metric = wanted.one_of("metric", wanted.metric, known)
        found = tuple(one for one in found if one.metric == metric)
        lines = tuple(one for one in lines if one.metric == metric)
    if found:
        return _histogram(found[0], wanted)
    return _line(lines[0], wanted) if lines else None


def _histogram(part: Spreads, wanted: Wanted) -> Sheet:
    shown = wanted.shown()
    kept = tuple(one for one in part.values if one.model in shown)
    drawing = histogram(
        kept, wanted.models, name=part.name, unit=part.unit, threshold=part.threshold
    )
    return Sheet(f"Samples by {part.title[:1].lower() + part.title[1:]}", (Panel(drawing),))


def _line(part: Distribution, wanted: Wanted) -> Sheet:
    shown = wanted.shown()
    unit = "image" if "images" in wanted.result.data else "sample"
    kept = Distribution(
        part.title, part.detail, tuple(s for s in part.spreads if s.model in shown), part.metric
    )
    drawing = spread(kept, wanted.models, unit)
    heading = f"{capital(part.title)} by {unit}, lowest first"
    return Sheet(heading, (Panel(drawing),), lines=True)


def spread(part: Distribution, models: Sequence[str], unit: str) -> Drawing:
    """The values in their order, lowest first, of each model."""
    lines = [(one.model, path(one.quantiles, one.values)) for one in part.spreads]
    told = (
        f"{models[one.model]}: lowest {one.marks[0]}, median {one.marks[_MEDIAN]}, "
        f"highest {one.marks[-1]}"
        for one in part.spreads
    )
    return lined("spread", lines, listed(told), (f"part of the {unit}s →", part.title))
