"""`valor report`: render reports again from a results.json."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from valor_cli.cli.github import escaped_output
from valor_cli.cli.options import check_folder, listed
from valor_cli.cli.output import say, to_terminal
from valor_cli.errors import ConfigError, Problem, UnknownNameError, did_you_mean

_DEFAULT = ("markdown", "html")

LIST = "list"
"""Asks for the names of the charts in place of one."""


def report(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="results.json of a run, or its folder.")
    ],
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="LIST",
            help="Reports to write: markdown,html,junit,csv,json. With --out alone: markdown,html. "
            "With --list: table, json or csv.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder for the reports, by default RUN's; - prints a single one.",
        ),
    ] = None,
    chart: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Draw one chart instead; `list` shows the available charts."
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where the chart goes: .svg, .png, or - for SVG."
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label to draw or to list.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="The model to draw or to list; omitted: all."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="METRIC", help="The metric to draw or to list.")
    ] = None,
    dark: Annotated[
        bool, typer.Option("--dark", help="Draw the chart on a dark background.")
    ] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--list",
            metavar="KIND",
            help="List objects instead: tp, fp, fn, classification, localisation, both, duplicate, "
            "background or ignored; or samples: passed, failed, error or unscored.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            "--image",
            "--sample",
            metavar="ID",
            help="List those of one image, by its id or its file, or one sample.",
        ),
    ] = None,
    slice_name: Annotated[
        str | None,
        typer.Option("--slice", metavar="NAME", help="List those of a slice, named as in reports."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="Score from which detections count, by default as in the run's metrics; or value "
            "from which a sample passes.",
        ),
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(metavar="S", help="List detections of at least this score.")
    ] = None,
    max_score: Annotated[
        float | None, typer.Option(metavar="S", help="List detections of at most this score.")
    ] = None,
    min_size: Annotated[
        float | None,
        typer.Option(metavar="PX", help="List objects whose box has at least PX² pixels."),
    ] = None,
    max_size: Annotated[
        float | None,
        typer.Option(metavar="PX", help="List objects whose box has at most PX² pixels."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="List the first N; by default 50 in a table, else all."
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Send the run instead: mlflow, wandb, pull-request."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="NAME", help="Name of the run there; by default that of its folder."
        ),
    ] = None,
    tracking_uri: Annotated[
        str | None,
        typer.Option(metavar="URI", help="MLflow server; by default $MLFLOW_TRACKING_URI."),
    ] = None,
) -> None:
    """Render reports again from a results.json, without evaluating.

    Without options it prints the summary that `valor evaluate` ends with, and writes nothing.
    Gates are shown as the run judged them, and the exit code is 0 whether they passed or failed.
    Values of single samples are read from samples.jsonl beside results.json. Neither file holds
    images: the HTML report shows those that the run copied (`report: {images: folder}`), and
    otherwise draws objects on a plain background.

    --list prints the objects of a detection run (from objects.bin) or the samples of any run (from
    samples.jsonl); further options filter them: the false positives of a label, highest score
    first; false negatives below 32 pixels; samples that failed a metric, and why.

    --to sends the run to an MLflow server, to Weights & Biases, or to a comment of a pull request,
    which later runs update.

    \b
    Example:
      valor evaluate configs/object_detection.yaml
      valor report reports/object_detection
      valor report reports/object_detection --format html,junit,csv --out again
      valor report reports/object_detection --chart pr_curve -o curves.svg
      valor report reports/object_detection --list fn --label person --max-size 32

    Exit codes: 0 done, 2 RUN cannot be read or a file cannot be written.
    """
    if to is not None:
        _refuse(
            "cannot be combined with --to", {"--format": formats, "--out": out, "--chart": chart}
        )
        from valor_cli.reports.export.send import send

        say(send(run, to, name=name, tracking_uri=tracking_uri))
        return
    _refuse("needs --to", {"--as": name, "--tracking-uri": tracking_uri})
    choices = {"--label": label, "--model": model, "--metric": metric}
    drawing = {"-o": file, "--dark": dark}
    narrowing: dict[str, str | float | None] = {
        "--image": sample,
        "--slice": slice_name,
        "--threshold": threshold,
        "--min-score": min_score,
        "--max-score": max_score,
        "--min-size": min_size,
        "--max-size": max_size,
        "--limit": limit,
    }
    if kind is not None:
        _refuse("cannot be combined with --list", {"--chart": chart, **drawing, "--out": out})
        from valor_cli.cli.lists import print_list
        from valor_cli.reports.lists.listing import Query

        query = Query(
            kind=kind,
            model=model,
            label=label,
            metric=metric,
            slice=slice_name,
            sample=sample,
            threshold=threshold,
            min_score=min_score,
            max_score=max_score,
            min_size=min_size,
            max_size=max_size,
            limit=limit,
        )
        print_list(run, query, formats)
        return
    _refuse("needs --list", narrowing)
    if chart is not None:
        _refuse("cannot be combined with --chart", {"--format": formats, "--out": out})
        if chart == LIST:
            _refuse("cannot be combined with --chart list", {**choices, **drawing})
            list_charts(run)
        else:
            draw_chart(run, chart, file, label=label, model=model, metric=metric, dark=dark)
        return
    _refuse("needs --chart", drawing)
    _refuse("needs --chart or --list", choices)
    if formats is None and out is None:
        _summary(run)
        return
    names = _named(formats) if formats is not None else _DEFAULT
    if out == "-":
        _print(run, names)
    else:
        _write(run, names, _folder(run, names, out))


def _refuse(why: str, given: Mapping[str, str | float | None]) -> None:
    """Reject options that have no effect in this combination."""
    wrong = [name for name, value in given.items() if value is not None and value is not False]
    if wrong:
        raise ConfigError(Problem(wrong[0], why), hint="valor report --help")


def _named(asked: str) -> tuple[str, ...]:
    """Names of formats, once each."""
    from valor_cli.reports.writer import FILES

    names = listed(asked)
    for name in names:
        if name not in FILES:
            message = f"there is no report format '{name}'{did_you_mean(name, FILES)}"
            hint = f"formats: {', '.join(FILES)}"
            raise UnknownNameError(Problem("--format", message), hint=hint)
    return names


def _folder(run: str, names: tuple[str, ...], out: str | None) -> Path:
    """Where reports go: never over the results that they are made from."""
    check_folder(out)
    own = Path(run) if os.path.isdir(run) else Path(run).parent
    folder = own if out is None else Path(out)
    if "json" in names and os.path.realpath(folder) == os.path.realpath(own):
        message = f"results.json is the input in {own} and is not overwritten"
        raise ConfigError(Problem("--format", message), hint="name another folder with --out DIR")
    return folder


def _summary(run: str) -> None:
    from valor_cli.reports.render import terminal
    from valor_cli.reports.run_files import RESULTS, read_run
    from valor_cli.reports.sections.report import report as document

    file = os.path.join(run, RESULTS) if os.path.isdir(run) else run
    told = document(read_run(run, beside=()))
    with escaped_output():
        to_terminal(terminal.to_terminal(told, [file]))


def _print(run: str, names: tuple[str, ...]) -> None:
    from valor_cli.reports.run_files import read_run
    from valor_cli.reports.writer import TEXTS, content_of

    if len(names) != 1 or names[0] not in TEXTS:
        message = f"--out - prints one of {', '.join(TEXTS)}"
        raise ConfigError(Problem("--format", message))
    say(content_of(read_run(run), names[0]))


def _write(run: str, names: tuple[str, ...], folder: Path) -> None:
    from valor_cli.pipeline.images import copied_images
    from valor_cli.reports.run_files import RESULTS, read_run
    from valor_cli.reports.writer import write_reports

    results, there = Path(run, RESULTS) if os.path.isdir(run) else Path(run), folder / RESULTS
    result = read_run(run)
    beside = there.is_file() and results.read_bytes() == there.read_bytes()
    if there.is_file() and not beside and "json" not in names:
        problem = Problem(
            str(there), "belongs to another run; reports beside it would be taken for that run's"
        )
        raise ConfigError(problem, hint="name another folder with --out DIR")
    images = copied_images(result, results.parent, folder)
    for path in write_reports(result, folder, names, images, beside=beside):
        say(str(path))


def list_charts(run: str) -> None:
    """List the charts that a run has data for."""
    from valor_cli.reports.charts.export import chart_names
    from valor_cli.reports.run_files import read_run

    lines = [f"{chart.name:<18}{chart.title}" for chart in chart_names(read_run(run))]
    say("\n".join(lines) or "no charts: the run has no overall values, curves or tables")


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
    """Draw a chart to a file or to standard output.

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
    from valor_cli.reports.charts.export import render
    from valor_cli.reports.run_files import read_run

    svg = render(read_run(run), name, label=label, model=model, metric=metric, dark=dark)
    if not file or file == "-":
        say(svg)
        return
    from valor_cli.reports.writer import write_file

    if kind == ".png":
        from valor_cli.reports.charts.standalone import to_png

        content = to_png(svg)
    else:
        content = svg.encode()
    say(str(write_file(Path(file), content)))


def _kind(name: str, file: str | None) -> str:
    """The extension of the file."""
    hint = f"valor report RUN --chart {name} -o {name}.svg"
    if not file:
        raise ConfigError(Problem("-o", "--chart needs an output file"), hint=hint)
    kind = Path(file).suffix.lower()
    if file != "-" and kind not in (".svg", ".png"):
        message = f"{file}: a chart is .svg or .png, or - for SVG on standard output"
        raise ConfigError(Problem("-o", message), hint=hint)
    return kind
