"""Render the chart of a given name as SVG."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from valor_cli.errors import Problem, UnknownNameError, did_you_mean
from valor_cli.reports.charts import sheets
from valor_cli.reports.charts.distribution_sheet import distribution
from valor_cli.reports.charts.selection import Wanted
from valor_cli.reports.charts.standalone import Sheet, standalone
from valor_cli.reports.digests.formatting import clean
from valor_cli.results import RunResult


class Chart(Struct, frozen=True):
    """A chart that can be drawn of a run.

    Attributes:
        name: As it is asked for.
        title: What it shows.
        needs: What a run must hold for it.
    """

    name: str
    title: str
    needs: str


_DRAWN: dict[Chart, Callable[[Wanted], Sheet | None]] = {
    Chart(
        "leaderboard", "headline values of the models side by side", "values of the whole run"
    ): sheets.leaderboard,
    Chart(
        "pr_curve", "precision at each recall", "curves of precision and recall (metric pr_curve)"
    ): sheets.pr_curve,
    Chart(
        "f1_curve", "F1 at each score threshold", "curves of F1 by threshold (metric pr_curve)"
    ): sheets.f1_curve,
    Chart(
        "roc_curve",
        "true positive rate at each false positive rate",
        "receiver operating characteristics (metric roc_auc of classification)",
    ): sheets.roc_curve,
    Chart(
        "counts",
        "true positives and errors by score threshold",
        "counts by their reason (metric detailed_pr_curve)",
    ): sheets.counts,
    Chart(
        "reliability",
        "accuracy against confidence",
        "a reliability table (metric expected_calibration_error)",
    ): sheets.reliability_diagram,
    Chart(
        "confusion_matrix",
        "which labels one model takes for which",
        "a confusion matrix (metric confusion_matrix)",
    ): sheets.confusion_matrix,
    Chart(
        "error_breakdown",
        "average precision lost by kind of error",
        "the costs of errors (metric error_breakdown)",
    ): sheets.error_breakdown,
    Chart(
        "distribution",
        "how the values of single samples spread",
        "values of single samples (samples.jsonl) that differ",
    ): distribution,
    Chart(
        "slices", "one measure on parts of the data", "slices (slices: of the config)"
    ): sheets.slices,
    Chart(
        "comparison",
        "differences between models with their intervals",
        "comparisons (two models, or a baseline)",
    ): sheets.comparison,
}

CHARTS = tuple(_DRAWN)
"""All charts that there are."""


def chart_names(result: RunResult) -> list[Chart]:
    """The charts that a run has data for."""
    return [chart for chart, draw in _DRAWN.items() if draw(Wanted(chart.name, result))]


def render(
    result: RunResult,
    name: str,
    *,
    label: str | None = None,
    model: str | None = None,
    metric: str | None = None,
    dark: bool = False,
    width: int | None = None,
) -> str:
    """One chart as a self-contained SVG with its own colours and no script.

    Args:
        result: The run; `distribution` also needs its samples.
        name: Of the chart.
        label: Whose curves; None: those of all labels, or of the first.
        model: The only model to show; None: all, or the first where one fits.
        metric: The only metric to show; None: all, or the first where one fits.
        dark: Whether on dark ground.
        width: In pixels; None: twice the chart's own units.

    Raises:
        UnknownNameError: There is no such chart, label, model or metric.
        DataError: The run holds nothing to draw.
    """
    known = {chart.name: chart for chart in CHARTS}
    if name not in known:
        message = f"unknown '{clean(name)}'{did_you_mean(name, known)}"
        raise UnknownNameError(Problem("chart", message), hint=f"charts: {', '.join(known)}")
    chart = known[name]
    wanted = Wanted(name, result, label, model, metric)
    wanted.shown()
    sheet = _DRAWN[chart](wanted)
    if sheet is None:
        raise wanted.nothing(chart.needs)
    return standalone(sheet, wanted.models, dark=dark, width=width)
