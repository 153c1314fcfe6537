"""Charts: a run in; SVG, inside the HTML report or a file of its own, out."""

from valor_cli.reports.charts.named import CHARTS, Chart, chart_names, render

__all__ = ["CHARTS", "Chart", "chart_names", "render"]
