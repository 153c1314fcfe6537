"""Curves of the run and of its labels, for pages."""

from __future__ import annotations

from valor_cli.reports.charts.curve_charts import Figure, counted, figures
from valor_cli.reports.charts.curves import curves
from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.document import Chart, Curves, Section

COUNTED = 4
"""Models whose counts are drawn; the table has all of them."""


def curve_section(d: Digest) -> Section | None:
    """Precision and recall, F1, ROC, and counts by score threshold."""
    found = curves(d.result)
    if not found.titles:
        return None
    drawn = [[_chart(one) for one in figures(choice, d.models)] for choice in found.drawn]
    counts = [
        _chart(figure)
        for choice in found.drawn[:1]
        for figure in counted(choice, found.counted[:COUNTED], d.models)
    ]
    block = Curves(
        found.titles,
        drawn[0],
        counts,
        found.counted,
        found.reasons,
        drawn[1:],
        found.data,
        found.total - len(found.titles),
    )
    return Section("Curves", "curves", (block,))


def _chart(one: Figure) -> Chart:
    return one.drawing.chart(one.title, one.kind, model=one.model)
