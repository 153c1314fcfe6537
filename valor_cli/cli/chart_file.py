"""A run and the name of a chart in; the file that it is drawn to out."""

from __future__ import annotations

from pathlib import Path

from valor_cli.cli.output import say
from valor_cli.errors import ConfigError, Problem

LIST = "list"
"""Asks for the names of the charts in place of one."""


def list_charts(run: str) -> None:
    """Say which charts a run has what it takes for."""
    from valor_cli.reports.charts.named import chart_names
    from valor_cli.reports.run_files import read_run

    lines = [f"{chart.name:<18}{chart.title}" for chart in chart_names(read_run(run))]
    say("\n".join(lines) or "no charts: the run has no values of the whole, no curves, no tables")


def draw_chart(
    run: str,
    name: str,
    file: str | None,
    *,
    label: str | None,
    model: str | None,
    metric: str | None,
    dark: bool,
) -> None:
    """Draw a chart to a file and say which, or to standard output.

    Args:
        run: The results, or their folder.
        name: Of the chart.
        file: Ends with .svg or .png; "-" is SVG on standard output.
        label, model, metric: What the chart is about; None: what it takes by itself.
        dark: Whether on dark ground.

    Raises:
        ConfigError: There is no file, or another extension.
        UnknownNameError: There is no such chart, label, model or metric.
        DataError: The results cannot be read, hold nothing to draw, or the file cannot be written.
    """
    kind = _kind(name, file)
    from valor_cli.reports.charts.named import render
    from valor_cli.reports.run_files import read_run

    svg = render(read_run(run), name, label=label, model=model, metric=metric, dark=dark)
    if not file or file == "-":
        say(svg)
        return
    from valor_cli.reports.writer import write_file

    if kind == ".png":
        from valor_cli.reports.charts.png import to_png

        content = to_png(svg)
    else:
        content = svg.encode()
    say(str(write_file(Path(file), content)))


def _kind(name: str, file: str | None) -> str:
    """The extension of the file."""
    hint = f"valor report RUN --chart {name} -o {name}.svg"
    if not file:
        raise ConfigError(Problem("-o", "--chart needs a file to draw to"), hint=hint)
    kind = Path(file).suffix.lower()
    if file != "-" and kind not in (".svg", ".png"):
        message = f"{file}: a chart is .svg or .png, or - for SVG on standard output"
        raise ConfigError(Problem("-o", message), hint=hint)
    return kind
