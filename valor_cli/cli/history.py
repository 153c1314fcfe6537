"""`valor history`: follow the values of many runs of one config."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from valor_cli.cli.github import escaped_output
from valor_cli.cli.options import Quiet, check_folder, listed
from valor_cli.cli.output import Messages, say, to_terminal
from valor_cli.errors import ConfigError, Problem, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from valor_cli.reports.writer import Page
    from valor_cli.results.history import History, HistoryRun

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
    explore: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Show samples of these two runs, by path or folder name, not of the first bad "
            "run and the one before.",
        ),
    ] = None,
    quiet: Quiet = False,
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
      valor history nightly --explore monday tuesday --out reports/history

    \b
    Exit codes: 0 done, 2 a run cannot be read, or the runs are of several tasks.
    """
    names = _formats(formats, out)
    if explore is not None and "html" not in names:
        raise ConfigError(Problem("--explore", "html shows samples"), hint="add --out DIR")
    found = _history(runs, metric or (), model or (), last, as_given=order == "given", quiet=quiet)
    shown = explored_runs(found, explore)
    if out is None or out == "-":
        _print(found, names[0])
        return
    written = _write(found, shown, out, [name for name in names if name != TERMINAL])
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
    check_folder(out)
    printed = out is None or out == "-"
    if asked is None:
        return [TERMINAL] if printed else list(FILES)
    names = list(listed(asked))
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
        content = _rendered(history, (), name, None)
        say(content if isinstance(content, bytes) else b"")


def _summary(history: History, files: Sequence[str]) -> None:
    from valor_cli.reports.render import terminal
    from valor_cli.reports.sections.history import history_report

    with escaped_output():
        to_terminal(terminal.to_terminal(history_report(history), files))


def _write(
    history: History, shown: Sequence[HistoryRun], out: str, names: Sequence[str]
) -> list[Path]:
    from valor_cli.reports.writer import write_files

    contents = {FILES[name]: _rendered(history, shown, name, out) for name in names}
    # Those of an earlier history would pass for this one's.
    return write_files(Path(out), contents, [one for one in FILES.values() if one not in contents])


def _rendered(
    history: History, shown: Sequence[HistoryRun], name: str, out: str | None
) -> bytes | Page:
    if name == "json":
        from valor_cli.results.document import history_json

        return history_json(history)
    from valor_cli.reports.sections.history import history_report, run_names

    document = history_report(history, out, shown)
    if name == "markdown":
        from valor_cli.reports.render.markdown import to_markdown

        return to_markdown(document).encode()
    from valor_cli.cli.explored import explored_page
    from valor_cli.reports.run_files import read_run

    named = run_names(shown)
    runs = [(name, read_run(run.path), run.path) for name, run in zip(named, shown, strict=True)]
    return explored_page(document, runs, Path(out or ""))


def explored_runs(history: History, asked: tuple[str, str] | None) -> Sequence[HistoryRun]:
    """Two runs: those asked for, else the first bad one and the one before, else the last two.

    Raises:
        UnknownNameError: No run, or more than one, has such a name or path.
    """
    if asked is None:
        at = history.first_bad or len(history.runs) - 1
        return history.runs[max(at - 1, 0) : at + 1]
    from valor_cli.reports.sections.history import run_name

    names = [run_name(run) for run in history.runs]
    found = []
    for one in asked:
        runs = [
            run
            for run, name in zip(history.runs, names, strict=True)
            if one == name or os.path.abspath(one) == os.path.abspath(run.path)
        ]
        if len(runs) != 1:
            what = f"{len(runs)} runs are called '{one}'" if runs else f"no run is called '{one}'"
            hint = "name its path" if runs else f"runs: {', '.join(names)}"
            message = what + ("" if runs else did_you_mean(one, names))
            raise UnknownNameError(Problem("--explore", message), hint=hint)
        found += runs
    return found
