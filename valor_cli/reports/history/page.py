"""HTML report of a history, as one self-contained page without script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from valor_cli.reports.charts.plots import Drawing
from valor_cli.reports.history.digest import ShownRun, Trend, history_digest
from valor_cli.reports.history.trend_chart import trend_chart
from valor_cli.results.history import History

CHARTS = 240
"""Charts drawn at most; the page says how many it left out."""

LABELS, WARNINGS = 200, 50

_HERE = Path(__file__).parent


def history_html(history: History, out: str | None = None) -> str:
    """A self-contained page; all data is escaped.

    Args:
        history: The runs.
        out: The folder that it is written to, from which it links to the reports of the runs.
    """
    digest = history_digest(history, out)
    page = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    room = CHARTS
    models = []
    for model, trends in digest.models:
        models.append((model, trends, _charts(trends[:room], digest.runs)))
        room = max(room - len(trends), 0)
    return page.get_template("history.html.j2").render(
        told=digest,
        models=models,
        left_out=sum(len(trends) - len(charts) for _, trends, charts in models),
        regressions=digest.regressions[:LABELS],
        warnings=digest.warnings[:WARNINGS],
        css=Markup((_HERE / "history.css").read_text(encoding="utf-8")),  # noqa: S704 - ours
    )


def _charts(trends: Sequence[Trend], runs: Sequence[ShownRun]) -> list[Drawing]:
    return [trend_chart(one, runs) for one in trends]
