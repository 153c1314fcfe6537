"""Python API: the same pipeline as the `valor` commands.

Each function takes the same config as the command of its name, computes the same numbers, and
returns the result instead of printing it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.pipeline.compare.compare import compare_runs
from valor_cli.pipeline.reporting import reported
from valor_cli.reports import run_files
from valor_cli.reports.files.csv_rows import flat_rows
from valor_cli.results import ComparedRuns, RunResult, Scalar

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from valor_cli.data.source.rows import Rows
    from valor_cli.pipeline import Progress

FilePath: TypeAlias = str | os.PathLike[str]

_WIDTH = 100
"""Columns of a summary in a notebook."""

_PAGE = """\
<pre style="white-space:pre;overflow-x:auto;line-height:1.35;\
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace">{code}</pre>
"""


_FRAME = """\
<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" title="valor report" \
style="width:100%;height:720px;border:1px solid #8886;border-radius:6px"></iframe>
"""
"""The report is a document of its own: its style and scripts cannot touch the notebook."""


def evaluate(
    config: FilePath | Mapping[str, Any] | None = None,
    *,
    task: str | None = None,
    samples: Rows | Mapping[str, Rows] | None = None,
    metrics: Sequence[Any] | None = None,
    data: Mapping[str, Rows | Mapping[str, Rows]] | None = None,
    overrides: Mapping[str, Any] | None = None,
    out: FilePath | None = None,
    formats: Sequence[str] | None = None,
    baseline: RunResult | FilePath | None = None,
    limit: int | None = None,
    jobs: int | None = None,
    engine: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
    offline: bool = False,
    resume: bool = False,
    plugins: bool = True,
    progress: Progress = lambda stage, done, total: None,
) -> RunResult:
    """Evaluate predictions against ground truth, as `valor evaluate` does.

    A failed gate raises no error: see `RunResult.passed`, and `RunResult.incomplete` for why
    gates could not be checked.

    Args:
        config: A YAML file, or a mapping of what one would hold. Paths in it are relative to the
            file's folder; those of a mapping to the current one. None: `task` and inputs in memory
            say it all.
        task: In place of a config, the task.
        samples: Rows in memory, as `data={"samples": …}`.
        metrics: In place of the config's, its metrics: names and mappings, and functions of yours.
        data: Inputs in memory, in place of the files under `data:`, as `{"samples": rows}`, or rows
            of each model: mappings as lines of JSONL have them, or a data frame of pandas or
            polars, or an Arrow table.
        overrides: Values to put in place of the config's, by their dotted path, as `--set` does:
            `{"gates.0.min": 0.5}`.
        out: Folder for the reports; without it nothing is written.
        formats: Reports to write there: json, markdown, html, junit, csv; without it the config's.
        baseline: An earlier run to compare with: a result, or the folder of its reports.
        limit: Evaluate only the first N images or samples.
        jobs: Processes to use. More than one starts them as multiprocessing does, so that a script
            needs its `if __name__ == "__main__":`.
        engine, scheduler: "dask", and the address of a cluster's scheduler.
        offline: Use only models and files on this machine.
        resume: Resume a run that was stopped; nothing is paid for twice.
        plugins: Whether code that the config names may run; if not, it is a `ConfigError`.
        progress: Called with a stage, how much of it is done, and of how much (0: unknown).

    Raises:
        ConfigError: The config cannot be used; its text names every problem with its place.
        DataError: An input cannot be used.
        MissingExtraError: A package that the config needs is not installed.
        JudgeError: A judge cannot be reached.
    """
    _show_in_notebooks()
    values = dict(overrides or {})
    if config is None:
        config = {} if task is None else {"task": task, "data": {}}
    elif task is not None:
        values["task"] = task
    if metrics is not None:
        values["metrics"] = [*map(_metric, metrics)]
    if samples is not None:
        data = {**(data or {}), "samples": samples}
    with ExitStack() as stack:
        if data:
            folder = stack.enter_context(TemporaryDirectory(prefix="valor-rows-"))
            values |= {f"data.{name}": _path(name, rows, folder) for name, rows in data.items()}
        changes = [f"{path}={_written(value)}" for path, value in values.items()]
        source = config if isinstance(config, Mapping) else Path(config)
        plan = pipeline.make_plan(load_config(source, catalogue, changes, plugins=plugins))
        if isinstance(baseline, str | os.PathLike):
            before, lost = pipeline.read_baseline(plan.config, os.fspath(baseline))
        else:
            before, lost = baseline, None
        result = pipeline.evaluate(
            plan,
            command=f"valor_cli.evaluate({str(plan.config.path)!r})",
            jobs=jobs,
            engine=engine,
            scheduler=scheduler,
            limit=limit,
            baseline=before,
            baseline_lost=lost,
            offline=offline,
            resume=resume,
            progress=progress,
        )
        if out is None:
            return result
        names = plan.config.report.formats if formats is None else formats
        return reported(plan, result, Path(out), names)[0].result


def read_run(path: FilePath) -> RunResult:
    """Read a run from its results.json or the folder that contains it.

    Per-sample values and resamples are included if their files are beside it.

    Raises:
        DataError: A file is missing, broken, or from another run.
    """
    _show_in_notebooks()
    return run_files.read_run(os.fspath(path))


def compare(
    first: RunResult | FilePath,
    second: RunResult | FilePath | None = None,
    *,
    models: Mapping[str, str] | None = None,
) -> ComparedRuns:
    """Compare two runs, as `valor compare` does.

    Args:
        first: The baseline run: a result, or the folder of its reports.
        second: The candidate run; without it the models of the first are compared.
        models: Model of the second run to the model of the first; without it, models
            of the same name.

    Raises:
        DataError: A run cannot be read.
        ConfigError: The runs cannot be compared.
    """
    _show_in_notebooks()
    one, first_name = _run(first, "first")
    other, second_name = (one, first_name) if second is None else _run(second, "second")
    pairs = None if models is None else list(models.items())
    return compare_runs(one, other, first_path=first_name, second_path=second_name, pairs=pairs)


def rows(result: RunResult) -> list[dict[str, Scalar]]:
    """The values of a run as flat rows, for `pandas.DataFrame` and `polars.DataFrame`.

    Every row has the same keys: metric, output, model, label, slice, a `parameters.NAME` for each
    parameter that any row has, value, unit, direction, n, interval_low, interval_high, method,
    caution, undefined. What a row does not have is None; lists and mappings among the parameters
    are JSON text.
    """
    return flat_rows(result)


def _path(name: str, given: Rows | Mapping[str, Rows], folder: str) -> str | dict[str, str]:
    """The file of rows that are in memory, or the file of each model."""
    # Its types alone are needed before.
    from valor_cli.data.source.rows import write_rows

    if not isinstance(given, Mapping):
        return write_rows(given, name, folder)
    paths = {}
    for number, (model, rows) in enumerate(given.items(), 1):
        own = os.path.join(folder, str(number))
        os.mkdir(own)
        paths[model] = write_rows(rows, name, own)
    return paths


def _run(given: RunResult | FilePath, name: str) -> tuple[RunResult, str]:
    if isinstance(given, RunResult):
        return given, name
    return read_run(given), os.fspath(given)


def _written(value: Any) -> str:
    """A value as `--set` takes it: JSON is YAML."""
    return json.dumps(value, default=os.fspath, ensure_ascii=False)


def _metric(asked: Any) -> Any:
    """An entry of `metrics:`; of a function, one that names it."""
    if not callable(asked):
        return asked
    return {"python": f"{asked.__module__}:{asked.__qualname__}"}


def _show_in_notebooks() -> None:
    """Let notebooks show reports, and IPython, if it is running, what the terminal does."""
    for kind in (RunResult, ComparedRuns):
        # Results know no reports.
        kind._repr_html_ = _html  # type: ignore[union-attr]
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    for kind in (RunResult, ComparedRuns):
        formatters["text/plain"].for_type(kind, _print)


def summary(result: RunResult | ComparedRuns) -> str:
    """What the terminal shows of a result, without colours."""
    return _console(result).export_text(styles=False)


def _html(result: RunResult | ComparedRuns) -> str:
    """The report of a run in a frame, or the summary of a comparison."""
    if isinstance(result, ComparedRuns):
        return _console(result).export_html(inline_styles=True, code_format=_PAGE)
    from html import escape

    from valor_cli.reports.explorer.data import explorer_of
    from valor_cli.reports.render.html import to_html
    from valor_cli.reports.sections.report import report

    explored = explorer_of(result)
    if explored is not None and explored.files:
        # What is too large for the page would lie beside it, and a frame has nothing beside it.
        explored = None
    return _FRAME.format(page=escape(to_html(report(result), explored, framed=True)))


def _print(result: RunResult | ComparedRuns, printer: Any, cycle: bool) -> None:
    """As IPython asks for plain text."""
    printer.text(_console(result).export_text())


def _console(result: RunResult | ComparedRuns) -> Console:
    """A console that has recorded the summary."""
    from io import StringIO

    from rich.console import Console

    console = Console(
        file=StringIO(),
        record=True,
        width=_WIDTH,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        emoji=False,
    )
    console.print(_summary(result))
    return console


def _summary(result: RunResult | ComparedRuns) -> RenderableType:
    from valor_cli.reports.render.terminal import to_terminal

    if isinstance(result, RunResult):
        from valor_cli.reports.sections.report import report

        return to_terminal(report(result))
    from valor_cli.reports.sections.compared import compared_report

    return to_terminal(compared_report(result))
