"""`valor compare`: compare two runs, or the models of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valor_cli.cli.github import escaped_output
from valor_cli.cli.options import Quiet, check_folder, listed
from valor_cli.cli.output import Messages, say, to_terminal
from valor_cli.errors import ConfigError, Problem, did_you_mean

if TYPE_CHECKING:
    from valor_cli.reports.writer import Page
    from valor_cli.results import ComparedRuns, RunResult

WORSE = 1

_NOTHING = "the runs have no value in common, so --fail-on-worse cannot be checked"
_SAME = "evaluate both with the same metrics, parameters and `interval:` on the same data"

FILES = {"json": "compared.json", "markdown": "compared.md", "html": "compared.html"}
"""The file each format is written to."""


def compare(
    first: Annotated[
        str,
        typer.Argument(metavar="RUN_A", help="The baseline run: results.json or its folder."),
    ],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN_B",
            help="The candidate run. Without it the models of RUN_A are compared.",
            show_default=False,
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model", metavar="B=A", help="Compare model B of RUN_B with model A of RUN_A only."
        ),
    ] = None,
    fail_on_worse: Annotated[
        bool, typer.Option("--fail-on-worse", help="Exit with 1 where a headline value is worse.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for the reports; - prints JSON instead."),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option("--format", metavar="LIST", help="Reports to write: json,markdown,html."),
    ] = None,
    quiet: Quiet = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Also timings.")] = False,
) -> None:
    """Compare two runs, or the models of one run, sample by sample.

    Values are compared sample by sample where both runs have samples.jsonl beside results.json,
    and by paired resamples where both have resamples.jsonl or evidence. The
    verdict "cannot tell" means that chance alone may explain the difference, "not tested" that no
    test ran.

    \b
    Example:
      valor evaluate configs/object_detection.yaml --out reports/monday
      valor evaluate configs/object_detection.yaml --out reports/today
      valor compare reports/monday reports/today --fail-on-worse

    Exit codes: 0 done, 1 a headline value is worse (with --fail-on-worse), 2 a run cannot be read,
    the runs cannot be compared, or a headline value changed and was not tested (with
    --fail-on-worse).
    """
    wanted = _formats(formats, out)
    pairs = _pairs(models)
    talk = Messages(quiet=quiet, verbose=verbose)
    with talk.progress() as progress:
        progress("reading runs", 0, 0)
        runs = _runs(first, second)
        compared = _compared(runs, first, second, pairs, progress)
        paths = [first] if second is None else [first, second]
        written = _written(compared, list(zip(runs, paths, strict=True)), out, wanted, progress)
    if out == "-":
        from valor_cli.results.document import compared_json

        say(compared_json(compared))
    elif not quiet:
        from valor_cli.reports.render import terminal
        from valor_cli.reports.sections.compared import compared_report

        told = compared_report(compared)
        with escaped_output():
            to_terminal(terminal.to_terminal(told, [str(path) for path in written]))
    if fail_on_worse and not compared.worse:
        _refuse_untested(compared)
    raise typer.Exit(WORSE if fail_on_worse and compared.worse else 0)


def _runs(first: str, second: str | None) -> list[RunResult]:
    """The run, or both."""
    from valor_cli.reports.run_files import read_run

    return [read_run(path) for path in (first, second) if path is not None]


def _compared(
    runs: Sequence[RunResult],
    first: str,
    second: str | None,
    pairs: Sequence[tuple[str, str]] | None,
    progress: Callable[[str, int, int], None],
) -> ComparedRuns:
    from valor_cli.pipeline.compare.compare import compare_runs

    progress("comparing", 0, 0)
    paths = {"first_path": first, "second_path": first if second is None else second}
    return compare_runs(runs[0], runs[-1], **paths, pairs=pairs)


def _refuse_untested(compared: ComparedRuns) -> None:
    """Raise an error for values that changed but were not tested.

    Raises:
        ConfigError: There is such a value, or none at all.
    """
    rows = compared.untested
    if not rows and any(row.value is not None for row in compared.deciding):
        return
    from valor_cli.reports.digests.compared_values import compared_values

    told = [
        f"{one.name} {one.other} → {one.value} was not tested: {one.reason}"
        for one in compared_values(rows)
    ]
    problems = [Problem("--fail-on-worse", text) for text in told or [_NOTHING]]
    raise ConfigError(problems, hint=_SAME)


def _written(
    compared: ComparedRuns,
    runs: Sequence[tuple[RunResult, str]],
    out: str | None,
    formats: Sequence[str],
    progress: Callable[[str, int, int], None],
) -> list[Path]:
    """The files, all of them or none."""
    if out is None or out == "-":
        return []
    from valor_cli.reports.writer import write_files

    progress("writing reports", 0, 0)
    contents = {FILES[name]: _rendered(compared, runs, name, Path(out)) for name in formats}
    # Those of an earlier comparison would pass for this one's.
    return write_files(Path(out), contents, [one for one in FILES.values() if one not in contents])


def _rendered(
    compared: ComparedRuns, runs: Sequence[tuple[RunResult, str]], name: str, out: Path
) -> bytes | Page:
    if name == "json":
        from valor_cli.results.document import compared_json

        return compared_json(compared)
    from valor_cli.reports.sections.compared import compared_report

    document = compared_report(compared)
    if name == "markdown":
        from valor_cli.reports.render.markdown import to_markdown

        return to_markdown(document).encode()
    from valor_cli.cli.explored import explored_page

    names = "AB" if len(runs) > 1 else [""]
    return explored_page(
        document, [(name, *run) for name, run in zip(names, runs, strict=True)], out
    )


def _formats(asked: str | None, out: str | None) -> tuple[str, ...]:
    """The names, checked.

    Raises:
        ConfigError: There is no such format, or no place for its file.
    """
    check_folder(out)
    if asked is None:
        return tuple(FILES)
    names = listed(asked)
    unknown = next((name for name in names if name not in FILES), None)
    if unknown is not None:
        message = f"no format '{unknown}'{did_you_mean(unknown, FILES)}"
        raise ConfigError(Problem("--format", message), hint=f"formats: {', '.join(FILES)}")
    if out is None:
        message = "files need a folder"
        raise ConfigError(Problem("--format", message), hint="name one with --out DIR")
    if out == "-" and names != ("json",):
        raise ConfigError(Problem("--format", "--out - prints json only"))
    return names


def _pairs(asked: Sequence[str] | None) -> list[tuple[str, str]] | None:
    """The models named by `--model B=A`.

    Raises:
        ConfigError: One of them is no such pair.
    """
    if not asked:
        return None
    found = []
    for text in asked:
        model, equals, other = text.partition("=")
        if not (model and equals and other):
            message = f"expected B=A, found '{text}'"
            hint = "name the model of the second run, then the model of the first: --model new=old"
            raise ConfigError(Problem("--model", message), hint=hint)
        found.append((model, other))
    return list(dict.fromkeys(found))
