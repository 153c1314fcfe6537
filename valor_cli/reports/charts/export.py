"""Charts of a run as files of their own, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.errors import DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.reports.charts import curves
from valor_cli.reports.charts.bars import Bar, Group, barred, group_of
from valor_cli.reports.charts.distributions import distributions, histogram, spread, spreads
from valor_cli.reports.charts.forest import forest
from valor_cli.reports.charts.heat_map import heated
from valor_cli.reports.charts.reliability import calibrations, error_of, reliability
from valor_cli.reports.charts.standalone import Sheet, standalone
from valor_cli.reports.digests.confusion import confusions, lone_sides
from valor_cli.reports.digests.digest import digest, worst_first
from valor_cli.reports.digests.formatting import capital, clean
from valor_cli.reports.digests.grids import ARROWS, Grid, Line
from valor_cli.reports.digests.mistakes import breakdowns
from valor_cli.reports.digests.naming import Names
from valor_cli.results import RunResult

ROWS = 24
"""Measures, slices and comparisons in one chart at most; its note says how many there are."""

PANELS = 4
"""Models with a panel of their own at most."""

LISTED = 12
"""Names listed in a message."""


class Wanted(Struct, frozen=True):
    """The requested chart; None where any value is accepted."""

    chart: str
    result: RunResult
    label: str | None = None
    model: str | None = None
    metric: str | None = None

    @property
    def models(self) -> Sequence[str]:
        """Names of all models, cleaned."""
        return [clean(model, 60) for model in self.result.models]

    @property
    def shown(self) -> Sequence[int]:
        """Positions of the selected models.

        Raises:
            UnknownNameError: There is no such model.
        """
        known = list(self.result.models)
        if self.model is None:
            return range(len(known))
        return (known.index(self.one_of("model", self.model, known)),)

    def one_of(self, kind: str, name: str, known: Iterable[str]) -> str:
        """The name, if it is known.

        Raises:
            UnknownNameError: There is none.
        """
        names = list(dict.fromkeys(known))
        if name in names:
            return name
        listed = ", ".join(clean(one, 40) for one in names[:LISTED]) or "none"
        more = f" … ({len(names)})" if len(names) > LISTED else ""
        message = f"{kind}: unknown '{clean(name)}'{did_you_mean(name, names)}"
        raise UnknownNameError(
            Problem(f"chart {self.chart}", message), hint=f"{kind}s it has: {listed}{more}"
        )


Draw: TypeAlias = Callable[[Wanted], Sheet | None]


def _leaderboard(wanted: Wanted) -> Sheet | None:
    """The headline values of the models, side by side."""
    told = digest(wanted.result)
    if not told.headline.lines:
        return None
    measures = _measures(wanted, told.headline)
    if wanted.metric is None and told.leading:
        measures = measures[: told.leading]
    cells = told.headline.lines[0].cells
    shown = measures[:ROWS]
    groups = [group_of(told.headline.measures[at], cells[at], wanted.shown) for at in shown]
    note = _note(len(shown), len(measures), "measures")
    return Sheet(f"Results, {told.task}", [barred(groups, wanted.models)], note=note)


def _slices(wanted: Wanted) -> Sheet | None:
    """One measure by slice, worst first, then for all data."""
    told = digest(wanted.result)
    if not told.slices.lines:
        return None
    at = _measures(wanted, told.slices)[0]
    measure = told.slices.measures[at]
    lines = [Line(one.name, one.n, (one.cells[at],)) for one in told.slices.lines]
    ordered = worst_first(Grid((measure,), tuple(lines)))
    shown = list(ordered[:ROWS])
    if measure in told.headline.measures:
        cells = told.headline.lines[0].cells[told.headline.measures.index(measure)]
        shown.insert(0, Line("whole run", None, (cells,)))
    groups = [
        group_of(measure, one.cells[0], wanted.shown, one.name, f"n {one.n:,}" if one.n else "")
        for one in shown
    ]
    heading = f"{capital(str(measure))} by slice, worst first"
    note = _note(min(len(ordered), ROWS), len(ordered), "slices")
    return Sheet(heading, [barred(groups, wanted.models)], note=note)


def _error_breakdown(wanted: Wanted) -> Sheet | None:
    """The cost of each kind of error, by model."""
    found = breakdowns(wanted.result)
    if not found:
        return None
    groups = [
        Group(
            capital(kind.name),
            tuple(Bar(at, kind.shares[at].cost) for at in wanted.shown),
        )
        for kind in found[0].kinds
    ]
    detail = f" ({found[0].detail})" if found[0].detail else ""
    chart = barred(groups, wanted.models, whole=False)
    return Sheet(f"Average precision lost by kind of error{detail}", [chart])


def _line(kind: str, has: Callable[[curves.Choice], bool]) -> Draw:
    """A line for each model."""

    def draw(wanted: Wanted) -> Sheet | None:
        choice = _choice(wanted, has)
        if choice is None:
            return None
        shown = wanted.shown
        kept = replace(
            choice,
            lines=tuple(line for line in choice.lines if line[0] in shown),
            rocs=[one for one in choice.rocs if one[0] in shown],
        )
        chart = curves.DRAWN[kind](kept, wanted.models)
        heading = f"{curves.HEADINGS[kind]}, {choice.title}"
        return None if chart is None else Sheet(heading, [chart], lines=True)

    return draw


def _counts(wanted: Wanted) -> Sheet | None:
    """Outcomes of ground truth and predictions at each score threshold."""
    choice = _choice(wanted, lambda choice: bool(choice.counts))
    if choice is None:
        return None
    known = [model for model, _ in choice.counts if model in wanted.shown]
    panels = curves.counted(choice, known[:PANELS], wanted.models)
    note = _note(min(len(known), PANELS), len(known), "models")
    return Sheet(f"Counts by score threshold, {choice.title}", panels, note=note)


def _reliability(wanted: Wanted) -> Sheet | None:
    """Reliability of each model's confidence."""
    found = calibrations(wanted.result)
    if not found:
        return None
    names = [part.title or part.metric for part in found]
    at = 0 if wanted.label is None else names.index(wanted.one_of("label", wanted.label, names))
    part = found[at]
    known = [one for one in part.models if one.model in wanted.shown]
    panels = [
        replace(
            reliability(one, part.metric),
            title=f"{wanted.models[one.model]} {error_of(one, part.metric)}".rstrip(),
        )
        for one in known[:PANELS]
    ]
    heading = f"Reliability, {part.title}" if part.title else "Reliability"
    return Sheet(heading, panels, note=_note(len(panels), len(known), "models")) if panels else None


def _confusion_matrix(wanted: Wanted) -> Sheet | None:
    """Which labels one model confuses with which others."""
    found = confusions(wanted.result)
    missed, alone = lone_sides(found)
    for one in found:
        if one.model in wanted.shown and wanted.metric in (None, one.table.metric):
            detail = f" ({one.detail})" if one.detail else ""
            return Sheet(
                f"Confusion, {wanted.models[one.model]}{detail}",
                [heated(one, missed=missed, alone=alone)],
                note=f"{'Percent of the pixels of each row' if one.pixels else 'Counts'}; "
                "the stronger a colour, the larger the part of the row.",
            )
    return None


def _distribution(wanted: Wanted) -> Sheet | None:
    """A histogram of sample values, or a line along quantiles if only these are known."""
    found, lines = spreads(wanted.result), distributions(wanted.result)
    if wanted.metric is not None and (found or lines):
        known = [*(one.metric for one in found), *(one.metric for one in lines)]
        metric = wanted.one_of("metric", wanted.metric, known)
        found = tuple(one for one in found if one.metric == metric)
        lines = tuple(one for one in lines if one.metric == metric)
    shown = wanted.shown
    if found:
        part = found[0]
        kept = [one for one in part.values if one.model in shown]
        chart = histogram(
            kept, wanted.models, name=part.name, unit=part.unit, threshold=part.threshold
        )
        return Sheet(f"Samples by {part.title[:1].lower() + part.title[1:]}", [chart])
    if not lines:
        return None
    unit = "image" if "images" in wanted.result.data else "sample"
    line = replace(lines[0], spreads=tuple(one for one in lines[0].spreads if one.model in shown))
    heading = f"{capital(line.title)} by {unit}, lowest first"
    return Sheet(heading, [spread(line, wanted.models, unit)], lines=True)


def _comparison(wanted: Wanted) -> Sheet | None:
    """Differences between models, with their intervals."""
    first = set(map(tuple, wanted.result.primary))
    rows = [
        one
        for one in wanted.result.comparisons
        if one.slice is None and one.label == wanted.label and wanted.model in (None, one.model)
    ]
    if wanted.metric is not None:
        wanted.one_of("metric", wanted.metric, (one.metric for one in rows))
        rows = [one for one in rows if one.metric == wanted.metric]
    if not rows:
        return None
    names = Names((one.metric, one.parameters) for one in rows)
    rows.sort(key=lambda one: (one.metric, one.output) not in first)
    named = [names.title(one.metric, one.output, one.parameters) for one in rows[:ROWS]]
    shown = [
        (f"{name} {ARROWS[one.direction]}".rstrip(), one)
        for name, one in zip(named, rows, strict=False)
    ]
    note = _note(len(shown), len(rows), "comparisons")
    return Sheet(f"Differences with {rows[0].level:.0%} intervals", [forest(shown)], note=note)


def _choice(wanted: Wanted, has: Callable[[curves.Choice], bool]) -> curves.Choice | None:
    """The curves of the label that is wanted; of all labels, else of the first, where none is."""
    found = [choice for choice in curves.choices(wanted.result) if has(choice)]
    if wanted.metric is not None and found:
        known = (metric for choice in found for metric in sorted(choice.metrics))
        metric = wanted.one_of("metric", wanted.metric, known)
        found = [choice for choice in found if metric in choice.metrics]
    if wanted.label is None:
        return next((one for one in found if one.label is None), found[0] if found else None)
    if not found:
        return None
    labels = (one.label for one in found if one.label is not None)
    label = wanted.one_of("label", wanted.label, labels)
    return next(one for one in found if one.label == label)


def _measures(wanted: Wanted, grid: Grid) -> Sequence[int]:
    """Positions of the measures of the metric that is wanted."""
    every = range(len(grid.measures))
    if wanted.metric is None:
        return every
    metric = wanted.one_of("metric", wanted.metric, (one.metric for one in grid.measures))
    return [at for at in every if grid.measures[at].metric == metric]


def _note(shown: int, total: int, things: str) -> str:
    return f"{shown} of {total:,} {things}." if shown < total else ""


class ChartFile(Struct, frozen=True):
    """A chart that can be drawn of a run.

    Attributes:
        name: As it is asked for.
        title: What it shows.
        needs: What a run must hold for it.
        draw: Draws it; None where the run does not hold that.
    """

    name: str
    title: str
    needs: str
    draw: Draw


CHARTS = (
    ChartFile(
        "leaderboard",
        "headline values of the models side by side",
        "values of the whole run",
        _leaderboard,
    ),
    ChartFile(
        "pr_curve",
        "precision at each recall",
        "curves of precision and recall (metric pr_curve)",
        _line("pr", lambda choice: bool(choice.lines)),
    ),
    ChartFile(
        "f1_curve",
        "F1 at each score threshold",
        "curves of F1 by threshold (metric pr_curve)",
        _line("f1", lambda choice: any(line[3] for _, line in choice.lines)),
    ),
    ChartFile(
        "roc_curve",
        "true positive rate at each false positive rate",
        "receiver operating characteristics (metric roc_auc of classification)",
        _line("roc", lambda choice: bool(choice.rocs)),
    ),
    ChartFile(
        "counts",
        "true positives and errors by score threshold",
        "counts by their reason (metric detailed_pr_curve)",
        _counts,
    ),
    ChartFile(
        "reliability",
        "accuracy against confidence",
        "a reliability table (metric expected_calibration_error)",
        _reliability,
    ),
    ChartFile(
        "confusion_matrix",
        "which labels one model takes for which",
        "a confusion matrix (metric confusion_matrix)",
        _confusion_matrix,
    ),
    ChartFile(
        "error_breakdown",
        "average precision lost by kind of error",
        "the costs of errors (metric error_breakdown)",
        _error_breakdown,
    ),
    ChartFile(
        "distribution",
        "how the values of single samples spread",
        "values of single samples (samples.jsonl) that differ",
        _distribution,
    ),
    ChartFile(
        "slices", "one measure on parts of the data", "slices (slices: of the config)", _slices
    ),
    ChartFile(
        "comparison",
        "differences between models with their intervals",
        "comparisons (two models, or a baseline)",
        _comparison,
    ),
)
"""All charts that there are."""


def chart_names(result: RunResult) -> list[ChartFile]:
    """The charts that a run has data for."""
    return [chart for chart in CHARTS if chart.draw(Wanted(chart.name, result))]


def render(
    result: RunResult,
    name: str,
    *,
    label: str | None = None,
    model: str | None = None,
    metric: str | None = None,
    dark: bool = False,
) -> str:
    """One chart as a self-contained SVG with its own colours and no script.

    Args:
        result: The run; `distribution` also needs its samples.
        name: Of the chart.
        label: Whose curves; None: those of all labels, or of the first.
        model: The only model to show; None: all, or the first where one fits.
        metric: The only metric to show; None: all, or the first where one fits.
        dark: Whether on dark ground.

    Raises:
        UnknownNameError: There is no such chart, label, model or metric.
        DataError: The run holds nothing to draw.
    """
    known = {chart.name: chart for chart in CHARTS}
    if name not in known:
        message = f"unknown '{clean(name)}'{did_you_mean(name, known)}"
        raise UnknownNameError(Problem("chart", message), hint=f"charts: {', '.join(known)}")
    wanted = Wanted(name, result, label, model, metric)
    if model is not None:
        wanted.one_of("model", model, result.models)
    sheet = known[name].draw(wanted)
    if sheet is None:
        message = f"the run has no data for it: it needs {known[name].needs}"
        hint = "valor report RUN --chart list names the charts of a run"
        raise DataError(Problem(f"chart {name}", message), hint=hint)
    return standalone(sheet, wanted.models, dark=dark)
