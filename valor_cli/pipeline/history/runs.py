"""Read the runs of a history, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.errors import ConfigError, DataError, Problem
from valor_cli.pipeline.compare.paired_rows import LEVEL
from valor_cli.reports.run_files import RESULTS, read_run
from valor_cli.results import COVERAGE, GateResult, MetricResult, RunInfo
from valor_cli.results.identity import RowKey, row_key
from valor_cli.results.run import RunVerdict

Progress = Callable[[str, int, int], None]


class Run(Struct, frozen=True):
    """What is kept of every run.

    Attributes:
        rows: By key, in the order of the file.
        gates: Of each value, by the key of its row.
        failed_gates: Number of failed gates, those on coverage included.
        has_intervals: Whether it resampled its values itself.
    """

    path: str
    task: str
    info: RunInfo
    models: Sequence[str]
    primary: Sequence[tuple[str, str]]
    rows: Mapping[RowKey, MetricResult]
    gates: Mapping[RowKey, Sequence[GateResult]]
    failed_gates: int
    verdict: RunVerdict
    level: float
    has_intervals: bool


def runs_of(
    paths: Sequence[str], *, last: int | None, as_given: bool, on_progress: Progress
) -> list[Run]:
    """The runs of one config, the earliest first.

    Raises:
        DataError: A run cannot be read, or has no time by which to order it.
        ConfigError: The runs are of several tasks.
    """
    files = _files(paths)
    runs = []
    for number, path in enumerate(files):
        on_progress("reading runs", number, len(files))
        runs.append(_read(path))
    _check_tasks(runs)
    if not as_given:
        runs.sort(key=_started)
    return _one_name(runs[-last:] if last else runs)


def _files(paths: Sequence[str]) -> list[str]:
    """The runs, each once; a folder of runs stands for those in it."""
    found: dict[str, str] = {}
    for path in paths:
        for one in _inside(path):
            found.setdefault(os.path.realpath(_folder(one)), one)
    return list(found.values())


def _folder(path: str) -> str:
    return path if os.path.isdir(path) else os.path.dirname(path) or os.curdir


def _inside(path: str) -> list[str]:
    if not path or not os.path.isdir(path) or os.path.isfile(os.path.join(path, RESULTS)):
        return [path]
    try:
        inside = sorted(os.path.join(path, name) for name in os.listdir(path))
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DataError(Problem(path, message), hint="name folders of runs") from None
    return [one for one in inside if os.path.isfile(os.path.join(one, RESULTS))] or [path]


def _read(path: str) -> Run:
    result = read_run(path, beside=())
    gates: dict[RowKey, list[GateResult]] = {}
    for gate in result.gates:
        if gate.rule != COVERAGE:
            gates.setdefault(row_key(gate), []).append(gate)
    return Run(
        path,
        result.task,
        result.run,
        result.models,
        result.primary,
        {row_key(row): row for row in result.metrics},
        gates,
        sum(gate.status == "failed" for gate in result.gates),
        result.verdict,
        LEVEL if result.intervals is None else result.intervals.level,
        result.intervals is not None,
    )


def _check_tasks(runs: Sequence[Run]) -> None:
    first = runs[0]
    other = next((run for run in runs if run.task != first.task), None)
    if other is not None:
        message = f"a run of {other.task}; {first.path} is one of {first.task}"
        raise ConfigError(Problem(other.path, message), hint="name runs of one config")


def _started(run: Run) -> datetime:
    """When it began; times without a zone are UTC.

    Raises:
        DataError: The file does not say.
    """
    try:
        started = datetime.fromisoformat(run.info.started_at)
    except ValueError:
        message = f"expected a time, found {run.info.started_at!r:.40}"
        place = f"{run.path}: run.started_at"
        hint = "keep the order of the command line with --order given"
        raise DataError(Problem(place, message), hint=hint) from None
    return started if started.tzinfo else started.replace(tzinfo=UTC)


def _one_name(runs: list[Run]) -> list[Run]:
    """The runs with one name for their model, where each has a single one."""
    if any(len(run.models) != 1 for run in runs) or len({run.models[0] for run in runs}) == 1:
        return runs
    name = runs[-1].models[0]
    return [
        replace(
            run,
            rows={_renamed(key, name): replace(row, model=name) for key, row in run.rows.items()},
            gates={_renamed(key, name): gates for key, gates in run.gates.items()},
        )
        for run in runs
    ]


def _renamed(key: RowKey, model: str) -> RowKey:
    return model, *key[1:]
