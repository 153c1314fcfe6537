"""Build each chart that can be written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from valor_cli.reports.charts import curve_charts
from valor_cli.reports.charts.bars import Bar, Group, barred, group_of
from valor_cli.reports.charts.calibration import error_of, reliability
from valor_cli.reports.charts.curves import Choice, choices
from valor_cli.reports.charts.forest import forest
from valor_cli.reports.charts.heat_map import heated
from valor_cli.reports.charts.selection import Wanted
from valor_cli.reports.charts.standalone import Panel, Sheet
from valor_cli.reports.digests.digest import digest, worst_first
from valor_cli.reports.digests.errors.breakdown import breakdowns
from valor_cli.reports.digests.errors.confusion import confusions, lone_sides
from valor_cli.reports.digests.formatting import capital
from valor_cli.reports.digests.grids import ARROWS, Cell, Grid, Line
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.digests.reliability import calibrations
from valor_cli.results import ComparisonResult

ROWS = 24
"""Measures, slices and comparisons in one chart at most; its note says how many there are."""

PANELS = 4
"""Models with a panel of their own at most."""


def leaderboard(wanted: Wanted) -> Sheet | None:
    """The headline values of the models, side by side."""
    told = digest(wanted.result)
    if not told.headline.lines:
        return None
    measures = _measures(wanted, told.headline)
    if wanted.metric is None and told.leading:
        measures = measures[: told.leading]
    cells = told.headline.lines[0].cells
    shown = measures[:ROWS]
    groups = [group_of(told.headline.measures[at], cells[at], wanted.shown()) for at in shown]
    return Sheet(
        f"Results, {told.task}",
        (Panel(barred(groups, wanted.models)),),
        note=_note(len(shown), len(measures), "measures"),
    )


def slices(wanted: Wanted) -> Sheet | None:
    """One measure by slice, worst first, then for all data."""
    told = digest(wanted.result)
    if not told.slices.lines:
        return None
    at = _measures(wanted, told.slices)[0]
    measure = told.slices.measures[at]
    whole = [
        Line("whole run", None, (cells,))
        for other, cells in zip(told.headline.measures, _cells(told.headline), strict=False)
        if other == measure
    ]
    lines = [Line(one.name, one.n, (one.cells[at],)) for one in told.slices.lines]
    ordered = worst_first(Grid((measure,), tuple(lines)))
    groups = [
        group_of(
            measure, line.cells[0], wanted.shown(), line.name, f"n {line.n:,}" if line.n else ""
        )
        for line in [*whole, *ordered[:ROWS]]
    ]
    return Sheet(
        f"{capital(str(measure))} by slice, worst first",
        (Panel(barred(groups, wanted.models)),),
        note=_note(min(len(ordered), ROWS), len(ordered), "slices"),
    )


def error_breakdown(wanted: Wanted) -> Sheet | None:
    """The cost of each kind of error, by model."""
    found = breakdowns(wanted.result)
    if not found:
        return None
    shown = wanted.shown()
    groups = [
        Group(
            capital(kind.name),
            tuple(
                Bar(at, share.cost, None, share.undefined)
                for at in shown
                for share in [kind.shares[at]]
            ),
        )
        for kind in found[0].kinds
    ]
    drawing = barred(groups, wanted.models, whole=False)
    detail = f" ({found[0].detail})" if found[0].detail else ""
    return Sheet(f"Average precision lost by kind of error{detail}", (Panel(drawing),))


def pr_curve(wanted: Wanted) -> Sheet | None:
    """Precision at each recall."""
    return _lines(wanted, "pr", lambda choice: bool(choice.lines))


def f1_curve(wanted: Wanted) -> Sheet | None:
    """F1 at each score threshold."""
    return _lines(wanted, "f1", lambda choice: any(line[3] for _, line in choice.lines))


def roc_curve(wanted: Wanted) -> Sheet | None:
    """True positive rate at each false positive rate."""
    return _lines(wanted, "roc", lambda choice: bool(choice.rocs))


def counts(wanted: Wanted) -> Sheet | None:
    """Outcomes of ground truth and predictions at each score threshold."""
    choice = _choice(wanted, lambda choice: bool(choice.counts))
    if choice is None:
        return None
    top = curve_charts.ceiling(choice)
    known = [(model, points) for model, points in choice.counts if model in wanted.shown()]
    panels = [
        Panel(
            curve_charts.counts_by_threshold(points, side, top),
            f"{curve_charts.HEADINGS[side]}, {wanted.models[model]}",
        )
        for model, points in known[:PANELS]
        for side in curve_charts.SIDES
    ]
    note = _note(min(len(known), PANELS), len(known), "models")
    return Sheet(f"Counts by score threshold, {choice.title}", tuple(panels), note=note)


def reliability_diagram(wanted: Wanted) -> Sheet | None:
    """Reliability of each model's confidence."""
    found = calibrations(wanted.result)
    if not found:
        return None
    names = [part.title or part.metric for part in found]
    at = 0 if wanted.label is None else names.index(wanted.one_of("label", wanted.label, names))
    part = found[at]
    known = [one for one in part.models if one.model in wanted.shown()]
    panels = tuple(
        Panel(
            reliability(one, part.metric),
            " ".join((wanted.models[one.model], error_of(one, part.metric))),
        )
        for one in known[:PANELS]
    )
    heading = f"Reliability, {part.title}" if part.title else "Reliability"
    note = _note(len(panels), len(known), "models")
    return Sheet(heading, panels, note=note) if panels else None


def confusion_matrix(wanted: Wanted) -> Sheet | None:
    """Which labels one model confuses with which others."""
    found = confusions(wanted.result)
    missed, alone = lone_sides(found)
    shown = wanted.shown()
    for one in found:
        if one.model in shown and wanted.metric in (None, one.table.metric):
            detail = f" ({one.detail})" if one.detail else ""
            return Sheet(
                f"Confusion, {wanted.models[one.model]}{detail}",
                (Panel(heated(one, missed=missed, alone=alone)),),
                note=f"{'Percent of the pixels of each row' if one.pixels else 'Counts'}; "
                "the stronger a colour, the larger the part of the row.",
            )
    return None


def comparison(wanted: Wanted) -> Sheet | None:
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
    shown = [(_compared(one, names), one) for one in rows[:ROWS]]
    level = f"{rows[0].level:.0%}"
    return Sheet(
        f"Differences with {level} intervals",
        (Panel(forest(shown)),),
        note=_note(len(shown), len(rows), "comparisons"),
    )


def _compared(one: ComparisonResult, names: Names) -> str:
    name = names.title(one.metric, one.output, one.parameters)
    return f"{name} {ARROWS[one.direction]}".rstrip()


def _lines(wanted: Wanted, kind: str, has: Callable[[Choice], bool]) -> Sheet | None:
    choice = _choice(wanted, has)
    if choice is None:
        return None
    shown = wanted.shown()
    kept = Choice(
        choice.title,
        choice.label,
        choice.metrics,
        tuple(line for line in choice.lines if line[0] in shown),
        [one for one in choice.counts if one[0] in shown],
        [one for one in choice.rocs if one[0] in shown],
        choice.areas,
    )
    drawing = curve_charts.DRAWN[kind](kept, wanted.models)
    if drawing is None:
        return None
    heading = f"{curve_charts.HEADINGS[kind]}, {choice.title}"
    return Sheet(heading, (Panel(drawing),), lines=True)


def _choice(wanted: Wanted, has: Callable[[Choice], bool]) -> Choice | None:
    """The curves of the label that is wanted; of all labels, else of the first, where none is."""
    found = [choice for choice in choices(wanted.result) if has(choice)]
    if wanted.metric is not None and found:
        known = (metric for choice in found for metric in sorted(choice.metrics))
        metric = wanted.one_of("metric", wanted.metric, known)
        found = [choice for choice in found if metric in choice.metrics]
    if wanted.label is None:
        return next((one for one in found if one.label is None), found[0] if found else None)
    if not found:
        return None
    label = wanted.one_of("label", wanted.label, _texts(one.label for one in found))
    return next(one for one in found if one.label == label)


def _texts(names: Iterable[str | None]) -> list[str]:
    return [name for name in names if name is not None]


def _measures(wanted: Wanted, grid: Grid) -> list[int]:
    """Positions of the measures of the metric that is wanted."""
    every = list(range(len(grid.measures)))
    if wanted.metric is None:
        return every
    metric = wanted.one_of("metric", wanted.metric, (one.metric for one in grid.measures))
    return [at for at in every if grid.measures[at].metric == metric]


def _cells(grid: Grid) -> Sequence[tuple[Cell, ...]]:
    return grid.lines[0].cells if grid.lines else ()


def _note(shown: int, total: int, things: str) -> str:
    return f"{shown} of {total:,} {things}." if shown < total else ""
