"""Curves of a run in; what the templates of the HTML report draw of them out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from valor_cli.reports.charts.curve_charts import DRAWN, counted, figures
from valor_cli.reports.charts.lines import lined
from valor_cli.reports.curves import Curves
from valor_cli.reports.distribution import distributions
from valor_cli.results import RunResult

COUNTED = 4
"""Models whose counts are drawn; the table has all of them."""


def charted(curves: Curves, result: RunResult) -> bool:
    """Whether the page has charts that scripts can zoom: curves, or spreads of values."""
    return bool(curves.titles) or bool(distributions(result))


def page_charts(curves: Curves, models: Sequence[str]) -> dict[str, Any]:
    """The parts of curves.html.j2 and chart_macros.html.j2.

    `models` are their names, cleaned.
    """
    return {
        "curve_figures": [figures(choice, models) for choice in curves.drawn],
        "counted_figures": [
            figure
            for choice in curves.drawn[:1]
            for figure in counted(choice, curves.counted[:COUNTED], models)
        ],
        "no_lines": {kind: lined(kind, (), "") for kind in DRAWN},
        "chart_number": count(1).__next__,
    }
