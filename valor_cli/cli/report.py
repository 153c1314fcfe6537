"""`valor report`: a run rendered again from its results.json."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from valor_cli.cli.chart_file import LIST, draw_chart, list_charts
from valor_cli.cli.github import unheeded
from valor_cli.cli.output import say, to_terminal
from valor_cli.errors import ConfigError, Problem, UnknownNameError, did_you_mean

_DEFAULT = ("markdown", "html")


def report(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="results.json of a run, or its folder.")
    ],
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="LIST",
            help="Reports to write: markdown,html,junit,csv,json. With --out alone: markdown,html.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="DIR", help="Folder for them, by default RUN's; - prints a single one."
        ),
    ] = None,
    chart: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Draw one chart instead; list names those there are."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where the chart goes: .svg, .png, or - for SVG."
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label that the chart is about.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The only model in the chart.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="METRIC", help="The metric that the chart is about.")
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="The chart on a dark ground.")] = False,
) -> None:
    """Render a run again from its results.json, without evaluating anything.

    Without options it prints the summary that `valor evaluate` ends with, and writes nothing.
    Gates stand as they were judged then, and the exit code is 0 whatever they say. What single
    samples have is read from samples.jsonl beside it, where that is. Neither holds photos: the
    HTML report draws objects on a plain ground.

    \b
    Example:
      valor evaluate configs/object_detection.yaml
      valor report reports/object_detection
      valor report reports/object_detection --format html,junit,csv --out again
      valor report reports/object_detection --chart pr_curve --label person -o person.svg

    \b
    Exit codes: 0 done, 2 RUN cannot be read or a file cannot be written.
    """
    choices = {"--label": label, "--model": model, "--metric": metric}
    if chart is not None:
        _refuse("does not go with --chart", {"--format": formats, "--out": out})
        if chart == LIST:
            _refuse("does not go with --chart list", {"-o": file, **choices, "--dark": dark})
            list_charts(run)
        else:
            draw_chart(run, chart, file, label=label, model=model, metric=metric, dark=dark)
        return
    _refuse("goes with --chart only", {"-o": file, **choices, "--dark": dark})
    if formats is None and out is None:
        _summary(run)
        return
    names = _named(formats) if formats is not None else _DEFAULT
    if out == "-":
        _print(run, names)
    else:
        _write(run, names, _folder(run, names, out))


def _refuse(why: str, given: Mapping[str, str | bool | None]) -> None:
    """Options that mean nothing beside what else is asked."""
    wrong = [name for name, value in given.items() if value]
    if wrong:
        raise ConfigError(Problem(wrong[0], why), hint="valor report --help")


def _named(asked: str) -> tuple[str, ...]:
    """Names of formats, once each."""
    from valor_cli.reports.writer import FILES

    names = tuple(dict.fromkeys(name.strip() for name in asked.split(",")))
    for name in names:
        if name not in FILES:
            message = f"there is no report format '{name}'{did_you_mean(name, FILES)}"
            hint = f"formats: {', '.join(FILES)}"
            raise UnknownNameError(Problem("--format", message), hint=hint)
    return names


def _folder(run: str, names: tuple[str, ...], out: str | None) -> Path:
    """Where reports go: never over the results that they are made from."""
    if out == "":
        raise ConfigError(Problem("--out", "a folder is needed, found an empty text"))
    own = Path(run) if os.path.isdir(run) else Path(run).parent
    folder = own if out is None else Path(out)
    if "json" in names and os.path.realpath(folder) == os.path.realpath(own):
        message = f"results.json is what is read from {own}, and is not written again there"
        raise ConfigError(Problem("--format", message), hint="name another folder with --out DIR")
    return folder


def _summary(run: str) -> None:
    from valor_cli.reports.run_files import RESULTS, read_run
    from valor_cli.reports.terminal import summary

    result = read_run(run, samples=False)
    with unheeded():
        to_terminal(summary(result, [os.path.join(run, RESULTS) if os.path.isdir(run) else run]))


def _print(run: str, names: tuple[str, ...]) -> None:
    from valor_cli.reports.run_files import read_run
    from valor_cli.reports.writer import TEXTS, content_of

    if len(names) != 1 or names[0] not in TEXTS:
        message = f"--out - prints one of {', '.join(TEXTS)}"
        raise ConfigError(Problem("--format", message))
    say(content_of(read_run(run), names[0]))


def _write(run: str, names: tuple[str, ...], folder: Path) -> None:
    from valor_cli.reports.run_files import RESULTS, read_run
    from valor_cli.reports.writer import write_reports

    results, there = Path(run, RESULTS) if os.path.isdir(run) else Path(run), folder / RESULTS
    result = read_run(run)
    beside = there.is_file() and results.read_bytes() == there.read_bytes()
    if there.is_file() and not beside and "json" not in names:
        problem = Problem(str(there), "is of another run: reports beside it would pass for its own")
        raise ConfigError(problem, hint="name another folder with --out DIR")
    for path in write_reports(result, folder, names, beside=beside):
        say(str(path))
