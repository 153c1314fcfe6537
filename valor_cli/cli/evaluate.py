"""`valor evaluate`: evaluate predictions, write reports, check gates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from valor_cli.cli.from_files import are_configs, config_of, further, in_options
from valor_cli.cli.github import annotate, escaped_output, print_error
from valor_cli.cli.options import NoPlugins, Overrides, Quiet, check_folder, listed
from valor_cli.cli.output import Messages, command_line, say, to_terminal
from valor_cli.errors import ConfigError, Problem, ValorError, printable

if TYPE_CHECKING:
    from valor_cli.config import RunConfig
    from valor_cli.reports.writer import Rendered
    from valor_cli.results import RunResult

GATE_FAILED = 1
INCOMPLETE = 3
STOPPED = {"budget": 4, "interrupted": 130, "terminated": 143}


def evaluate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="CONFIG… | GROUND_TRUTH PREDICTIONS…",
            help="YAML configs to run; or, without a config, the files to evaluate.",
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Without a config: the task, where the files do not tell."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", metavar="NAME", help="Without a config: a metric; may be repeated."
        ),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIMIT", help="Without a config: a gate, as 'f1 >= 0.8'; may be repeated."
        ),
    ] = None,
    save_config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Without a config: write the inferred one, as YAML."),
    ] = None,
    set_: Overrides = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder for the reports; - prints JSON, or the one format asked for.",
        ),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="LIST", help="Reports to write: json,markdown,html,junit,csv."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Baseline results.json (or its folder) to compare this run with."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Evaluate the first N images or samples only."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Number of processes. By default 1; with Dask, one per core."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Where to run: local or dask.")
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Dask scheduler (tcp://…); omitted: processes on this machine."
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only models and files on this machine.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Resume a stopped run; no judge call is paid for twice."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, and exit.")
    ] = False,
    no_plugins: NoPlugins = False,
    quiet: Quiet = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Also the COCO table and timings.")
    ] = False,
) -> None:
    """Evaluate predictions against ground truth and check the gates.

    Without a config the task, the formats and how the files are joined are inferred from the
    content of the files, and printed in one line.

    \b
    Example:
      valor evaluate configs/object_detection.yaml --out reports/today
      valor evaluate ground_truth.json predictions.json
      valor evaluate answers.jsonl --metric rouge_l --gate 'rouge_l >= 0.4'
    """
    talk = Messages(quiet=quiet, verbose=verbose)
    spread = _spread(jobs, engine, scheduler)
    alone = {"--task": task, "--metric": metric, "--gate": gate, "--save-config": save_config}
    sources: list[str | Mapping[str, Any]] = list(paths)
    if not are_configs(paths, alone):
        sources = [config_of(paths, task, metric or (), gate or (), save_config, talk)]
    code = 0
    taken: dict[Path | None, str] = {}
    for source in sources:
        try:
            from valor_cli import catalogue
            from valor_cli.config import load_config

            config = load_config(source, catalogue, set_ or (), plugins=not no_plugins)
            folder = _folder(config, out, several=len(sources) > 1)
            _take(folder, str(config.path), taken)
            wanted = _formats(config, formats, folder)
            if dry_run:
                talk.say(_intention(config, folder, wanted))
                continue
            result = _run(
                *(config, folder, wanted, baseline, limit, spread, talk),
                offline=offline,
                resume=resume,
            )
            code = max(code, _exit_code(result))
            if isinstance(source, Mapping) and not metric and (more := further(config.task)):
                talk.tell(more)
            if result.run.stopped_by in ("interrupted", "terminated"):
                break
        except ValorError as error:
            # The other configs still run; each error is reported where it happens.
            if isinstance(source, Mapping):
                raise in_options(error) from None
            if len(sources) == 1:
                raise
            print_error(error)
            code = max(code, error.exit_code)
    raise typer.Exit(code)


class Distribution(NamedTuple):
    """How work is distributed."""

    jobs: int | None
    engine: Literal["local", "dask"]
    scheduler: str | None


def _spread(jobs: int | None, engine: str, scheduler: str | None) -> Distribution:
    """The distribution settings from the options.

    Raises:
        ConfigError: They contradict each other.
    """
    if engine == "local" and scheduler is None:
        return Distribution(jobs, "local", None)
    if engine != "dask":
        place, message = "--engine", f"there is no engine '{engine}'; engines: local, dask"
        if engine == "local":
            place, message = "--scheduler", "--scheduler needs `--engine dask`"
        raise ConfigError(Problem(place, message), hint="valor evaluate --engine dask …")
    if scheduler is not None and jobs is not None:
        message = "the number of workers of a running cluster cannot be set"
        raise ConfigError(Problem("--jobs", message), hint="leave out --jobs or --scheduler")
    return Distribution(jobs, "dask", scheduler)


def _run(
    config: RunConfig,
    folder: Path | None,
    formats: tuple[str, ...],
    baseline: str | None,
    limit: int | None,
    spread: Distribution,
    talk: Messages,
    *,
    offline: bool,
    resume: bool,
) -> RunResult:
    """One config, from plan to reports."""
    from valor_cli import pipeline

    plan = pipeline.make_plan(config)
    before, lost = None, None
    if baseline is not None:
        before, lost = pipeline.read_baseline(config, baseline)
    with talk.progress() as progress:
        result = pipeline.evaluate(
            plan,
            command=command_line(),
            jobs=spread.jobs,
            engine=spread.engine,
            scheduler=spread.scheduler,
            limit=limit,
            baseline=before,
            baseline_lost=lost,
            offline=offline,
            resume=resume,
            progress=progress,
        )
        progress("writing reports", 0, 0)
        if folder is None:
            from valor_cli.reports.writer import content_of

            text = content_of(result, formats[0])
        else:
            from valor_cli.pipeline.reporting import reported

            run, written = reported(plan, result, folder, formats)
    if folder is None:
        say(text)
        return result
    if not talk.quiet:
        with escaped_output():
            _summary(run, written, talk)
        annotate(config, run.result)
    return run.result


def _exit_code(result: RunResult) -> int:
    """The exit code of a run.

    Values that too few samples have say little of the gates. A failed gate counts more than one
    that could not be checked.
    """
    if result.run.stopped_by is not None:
        return STOPPED[result.run.stopped_by]
    if result.incomplete is not None:
        return INCOMPLETE
    return 0 if result.passed else GATE_FAILED


def _summary(run: Rendered, written: list[Path], talk: Messages) -> None:
    from valor_cli.reports.render import terminal
    from valor_cli.reports.sections.coco_lines import coco_table

    if talk.verbose and (table := coco_table(run.result)):
        say(table)
    to_terminal(terminal.to_terminal(run.document, [str(path) for path in written]))


def _folder(config: RunConfig, out: str | None, *, several: bool) -> Path | None:
    """Where reports go; None for standard output."""
    check_folder(out)
    if out is not None and "://" in out:
        problem = Problem("--out", f"reports need a folder on this machine, found {out!r}")
        raise ConfigError(problem, hint="write them to a local folder, then copy them")
    if out is not None and out != "-":
        return Path(out) / config.path.stem if several else Path(out)
    from valor_cli.config.document import UNNAMED

    named = out or config.report.out
    name = config.task if config.path == UNNAMED else config.path.stem
    return None if named == "-" else Path(named or f"reports/{name}")


def _take(folder: Path | None, path: str, taken: dict[Path | None, str]) -> None:
    """Reject a report folder that another config of this call has used."""
    if folder in taken:
        where = "standard output" if folder is None else str(folder)
        problem = Problem(path, f"its reports would overwrite those of {taken[folder]}: {where}")
        raise ConfigError(problem, hint="give each config its own report.out, or evaluate it alone")
    taken[folder] = path


def _formats(config: RunConfig, asked: str | None, folder: Path | None) -> tuple[str, ...]:
    if asked is None:
        return ("json",) if folder is None else tuple(config.report.formats)
    from valor_cli.reports.writer import FILES, TEXTS

    names = listed(asked)
    unknown = [name for name in names if name not in FILES]
    if unknown:
        message = f"no format '{unknown[0]}'; formats: {', '.join(FILES)}"
        raise ConfigError(Problem("--format", message))
    if folder is None and (len(names) > 1 or names[0] not in TEXTS):
        message = f"--out - prints one of {', '.join(TEXTS)}"
        raise ConfigError(Problem("--format", message))
    return names


def _intention(config: RunConfig, folder: Path | None, formats: tuple[str, ...]) -> str:
    from valor_cli import pipeline

    plan = pipeline.make_plan(config)
    calls = [call.metric.name for part in plan.wings for call in part.calls]
    judges: list[str] = []
    if any(part.asks("judge") for part in plan.wings):
        judges = [one.called for one in getattr(config.options, "panel", ())]
    asking = f", asking {', '.join(map(printable, judges))}," if judges else ""
    return (
        f"{config.path}: would compute {', '.join(calls)}{asking} "
        f"and write {', '.join(formats)} to {folder or 'standard output'}"
    )
