"""`valor history`: follow the values of many runs of one config."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from valor_cli.cli.github import escaped_output
from valor_cli.cli.output import Messages, say, to_terminal
from valor_cli.errors import ConfigError, Problem, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from valor_cli.reports.writer import Page
    from valor_cli.results.history import History

FILES = {"json": "history.json", "markdown": "history.md", "html": "history.html"}
"""The file each format is written to."""

TERMINAL = "terminal"


def history(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN…", help="Runs: results.json, its folder, or a folder of them."),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the reports; - prints one instead."),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="LIST", help="terminal, markdown, html, json; html needs --out DIR."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC[.OUTPUT]", help="Show this metric, not the headline values. Repeatable."
        ),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="Show this model. Repeatable.")
    ] = None,
    last: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The latest N runs only.")
    ] = None,
    order: Annotated[
        Literal["started", "given"],
        typer.Option(help="Order runs by when they started, or as they are given."),
    ] = "started",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Errors only.")] = False,
) -> None:
    """Follow the values of many runs of one config, and find the first bad run.

    Shown are the headline values and those with gates, each with its interval, gate and changes. A
    run is bad where a gate failed, or where the paired test finds a value worse than in the run
    before, or than in the best run so far. Tests need samples.jsonl, resamples.jsonl or
    evidence.bin beside results.json; without them a change is "not tested".

    \b
    Example:
      valor evaluate configs/object_detection.yaml --out nightly/monday
      valor evaluate configs/object_detection.yaml --out nightly/tuesday
      valor history nightly --out reports/history
      valor history nightly --metric coco.AP --last 30 --format markdown

    \b
    Exit codes: 0 done, 2 a run cannot be read, or the runs are of several tasks.
    """
    names = _formats(formats, out)
    found = _history(runs, metric or (), model or (), last, as_given=order == "given", quiet=quiet)
    if out is None or out == "-":
        _print(found, names[0])
        return
    written = _write(found, out, [name for name in names if name != TERMINAL])
    if not quiet:
        _summary(found, [str(path) for path in written])


def _history(
    runs: Sequence[str],
    metrics: Sequence[str],
    models: Sequence[str],
    last: int | None,
    *,
    as_given: bool,
    quiet: bool,
) -> History:
    from valor_cli.pipeline.history import Chosen, history_of

    with Messages(quiet=quiet, verbose=False).progress() as progress:
        return history_of(
            runs,
            chosen=Chosen(tuple(metrics), tuple(models)),
            last=last,
            as_given=as_given,
            on_progress=progress,
        )


def _formats(asked: str | None, out: str | None) -> list[str]:
    """The names, checked.

    Raises:
        ConfigError: A format has no place for its file, or several are to be printed.
        UnknownNameError: There is no such format.
    """
    if out == "":
        raise ConfigError(Problem("--out", "expected a folder, found an empty text"))
    printed = out is None or out == "-"
    if asked is None:
        return [TERMINAL] if printed else list(FILES)
    names = list(dict.fromkeys(name.strip() for name in asked.split(",")))
    known = (TERMINAL, *FILES)
    for name in names:
        if name not in known:
            message = f"there is no format '{name}'{did_you_mean(name, known)}"
            raise UnknownNameError(
                Problem("--format", message), hint=f"formats: {', '.join(known)}"
            )
    if printed and (len(names) > 1 or names == ["html"]):
        message = "html is a file" if names == ["html"] else "several formats are files"
        raise ConfigError(Problem("--format", message), hint="name their folder with --out DIR")
    return names


def _print(history: History, name: str) -> None:
    if name == TERMINAL:
        _summary(history, ())
    else:
        content = _rendered(history, name, None)
        say(content if isinstance(content, bytes) else b"")


def _summary(history: History, files: Sequence[str]) -> None:
    from valor_cli.reports.render import terminal
    from valor_cli.reports.sections.history import history_report

    with escaped_output():
        to_terminal(terminal.to_terminal(history_report(history), files))


def _write(history: History, out: str, names: Sequence[str]) -> list[Path]:
    from valor_cli.reports.writer import write_files

    contents = {FILES[name]: _rendered(history, name, out) for name in names}
    # Those of an earlier history would pass for this one's.
    return write_files(Path(out), contents, [one for one in FILES.values() if one not in contents])


def _rendered(history: History, name: str, out: str | None) -> bytes | Page:
    if name == "json":
        from valor_cli.results.document import history_json

        return history_json(history)
    from valor_cli.reports.sections.history import history_report

    document = history_report(history, out)
    if name == "markdown":
        from valor_cli.reports.render.markdown import to_markdown

        return to_markdown(document).encode()
    from valor_cli.reports.explorer.data import explorer_of_runs
    from valor_cli.reports.render.html import to_html
    from valor_cli.reports.run_files import read_run
    from valor_cli.reports.writer import Page

    two = [(named, read_run(path)) for named, path in _two_runs(history)]
    explored = explorer_of_runs(two) if two else None
    return Page(to_html(document, explored).encode(), explored.files if explored else {})


def _two_runs(history: History) -> list[tuple[str, str]]:
    """The first bad run and the one before it; the last two where none is bad."""
    at = history.first_bad or len(history.runs) - 1
    return [(f"{run.run + 1}", run.path) for run in history.runs[max(at - 1, 0) : at + 1]]
