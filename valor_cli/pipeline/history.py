"""Follow the values of many runs of one config, and find the first bad run."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.errors import ConfigError, DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.pipeline.compare.evidence_resamples import with_resamples
from valor_cli.pipeline.compare.incompatible import run_differences
from valor_cli.pipeline.compare.paired_rows import LEVEL
from valor_cli.pipeline.compare.pairing import against_baseline
from valor_cli.reports.digests.naming import frozen
from valor_cli.reports.run_files import RESULTS, read_run
from valor_cli.results import (
    COVERAGE,
    ComparisonResult,
    GateResult,
    GateStatus,
    MetricResult,
    RunInfo,
    RunResult,
)
from valor_cli.results.history import (
    Bad,
    History,
    HistoryRow,
    HistoryRun,
    LabelRegression,
)
from valor_cli.results.run import RunVerdict

Progress = Callable[[str, int, int], None]
Key = tuple[object, ...]

_KEPT = 3
"""Runs kept in memory with their samples: a run, the one before it, and the best so far."""

_OF_A_PART = "values of labels and slices are not tested"
_NOT_COMPARED = "the run before has no such model"
_STATUSES: tuple[GateStatus, ...] = ("failed", "not checked", "passed")


class _Run(Struct, frozen=True):
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
    rows: Mapping[Key, MetricResult]
    gates: Mapping[Key, Sequence[GateResult]]
    failed_gates: int
    verdict: RunVerdict
    level: float
    has_intervals: bool


class Chosen(Struct, frozen=True):
    """Which values a history shows.

    Attributes:
        metrics: Names of metrics, or METRIC.OUTPUT; empty: the headline values, and those with
            gates.
        models: Names of models; empty: all.
    """

    metrics: Sequence[str] = ()
    models: Sequence[str] = ()


def history_of(
    paths: Sequence[str],
    *,
    chosen: Chosen | None = None,
    last: int | None = None,
    as_given: bool = False,
    on_progress: Progress | None = None,
) -> History:
    """The history of a config: its headline values over many runs, with paired tests.

    Args:
        paths: Results, their folders, or folders of such folders.
        chosen: Which values; None: the headline values, and those with gates.
        last: How many of the latest runs; None: all.
        as_given: Whether the runs are in the order of `paths`, not of their start.
        on_progress: Is called with the stage, how much of it is done, and of how much.

    Raises:
        DataError: A run cannot be read, or has no time by which to order it.
        ConfigError: The runs are of several tasks.
        UnknownNameError: No run has a metric or model of that name.
    """
    chosen = chosen or Chosen()
    told: Progress = on_progress or (lambda stage, done, total: None)
    files = _files(paths)
    runs = []
    for number, path in enumerate(files):
        told("reading runs", number, len(files))
        runs.append(_read(path))
    _check_tasks(runs)
    if not as_given:
        runs.sort(key=_started)
    runs = runs[-last:] if last else runs
    runs = _one_name(runs)
    _check_names(runs, chosen)
    tests = _Tests(runs, chosen, told)
    keys = _keys(runs, chosen)
    rows = tests.tested(
        [row for key, trend in keys.items() for row in _followed(runs, key, trend=trend)]
    )
    return _history(runs, rows, chosen, tests.warnings())


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


def _read(path: str) -> _Run:
    result = read_run(path, beside=())
    gates: dict[Key, list[GateResult]] = {}
    for gate in result.gates:
        if gate.rule != COVERAGE:
            gates.setdefault(_key(gate), []).append(gate)
    return _Run(
        path,
        result.task,
        result.run,
        result.models,
        result.primary,
        {_key(row): row for row in result.metrics},
        gates,
        sum(gate.status == "failed" for gate in result.gates),
        result.verdict,
        LEVEL if result.intervals is None else result.intervals.level,
        result.intervals is not None,
    )


def _key(row: MetricResult | GateResult) -> Key:
    return row.metric, row.output, row.model, row.label, row.slice, frozen(row.parameters)


def _check_tasks(runs: Sequence[_Run]) -> None:
    first = runs[0]
    other = next((run for run in runs if run.task != first.task), None)
    if other is not None:
        message = f"a run of {other.task}; {first.path} is one of {first.task}"
        raise ConfigError(Problem(other.path, message), hint="name runs of one config")


def _started(run: _Run) -> datetime:
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


def _one_name(runs: list[_Run]) -> list[_Run]:
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


def _renamed(key: Key, model: str) -> Key:
    return *key[:2], model, *key[3:]


def _check_names(runs: Sequence[_Run], chosen: Chosen) -> None:
    rows = [row for run in runs for row in run.rows.values()]
    metrics = dict.fromkeys(row.metric for row in rows)
    outputs = dict.fromkeys(f"{row.metric}.{row.output}" for row in rows)
    models = dict.fromkeys(row.model for row in rows)
    for option, asked, known, listed in (
        ("--metric", chosen.metrics, {**metrics, **outputs}, metrics),
        ("--model", chosen.models, models, models),
    ):
        for name in asked:
            if name not in known:
                message = f"no run has '{name}'{did_you_mean(name, known)}"
                raise UnknownNameError(Problem(option, message), hint=f"has: {', '.join(listed)}")


def _is_asked(row: MetricResult, chosen: Chosen, primary: Sequence[tuple[str, str]]) -> bool:
    if chosen.metrics:
        return row.metric in chosen.metrics or f"{row.metric}.{row.output}" in chosen.metrics
    return (row.metric, row.output) in primary


def _keys(runs: Sequence[_Run], chosen: Chosen) -> dict[Key, bool]:
    """The values, and whether each is drawn: headline values first, those of the last run first."""
    primary = runs[-1].primary
    found: dict[Key, MetricResult] = {}
    gated: set[Key] = set()
    for run in reversed(runs):
        for key, row in run.rows.items():
            found.setdefault(key, row)
        if not chosen.metrics:
            gated.update(key for key in run.gates if key in run.rows)
    found = {
        key: row for key, row in found.items() if not chosen.models or row.model in chosen.models
    }
    asked = {key: row for key, row in found.items() if _is_asked(row, chosen, primary)}
    whole = {row.metric for row in asked.values() if row.label is None and row.slice is None}
    drawn = gated & set(found)
    for key, row in asked.items():
        # Of a metric that has labels alone these are drawn, if it is asked for.
        alone = bool(chosen.metrics) and row.metric not in whole
        if row.slice is None and (row.label is None or alone):
            drawn.add(key)
    names = {(found[key].metric, found[key].output) for key in drawn}
    places = {tuple(name): at for at, name in enumerate(primary)}

    def place(key: Key) -> tuple[bool, int]:
        return key not in drawn, places.get((found[key].metric, found[key].output), len(places))

    shown = [
        key
        for key, row in found.items()
        if key in drawn
        or ((row.metric, row.output) in names and (row.label is None or row.slice is None))
    ]
    return {key: key in drawn for key in sorted(shown, key=place)}


def _followed(runs: Sequence[_Run], key: Key, *, trend: bool) -> list[HistoryRow]:
    """A value in every run that has it, with its changes, and without tests."""
    found: list[HistoryRow] = []
    valued: list[HistoryRow] = []
    for number, run in enumerate(runs):
        if key not in run.rows:
            continue
        row = _row(number, run, key, trend=trend)
        if row.value is not None and valued:
            row = _changed(row, valued)
        if row.value is not None:
            valued.append(row)
        found.append(row)
    return found


def _row(number: int, run: _Run, key: Key, *, trend: bool) -> HistoryRow:
    row, gates = run.rows[key], run.gates.get(key, ())
    low, high = row.interval or (None, None)
    least = [gate.limit for gate in gates if gate.rule == "min"]
    most = [gate.limit for gate in gates if gate.rule == "max"]
    statuses = {gate.status for gate in gates}
    status = next((one for one in _STATUSES if one in statuses), None)
    return HistoryRow(
        run=number,
        path=run.path,
        started_at=run.info.started_at,
        commit=run.info.commit,
        metric=row.metric,
        output=row.output,
        model=row.model,
        label=row.label,
        slice=row.slice,
        parameters=row.parameters,
        trend=trend,
        value=row.value,
        unit=row.unit,
        direction=row.direction,
        n=row.n,
        interval_low=low,
        interval_high=high,
        undefined=row.undefined,
        gate_min=max(least, default=None),
        gate_max=min(most, default=None),
        gate=status,
        bad=("gate",) if status == "failed" else (),
    )


def _changed(row: HistoryRow, valued: Sequence[HistoryRow]) -> HistoryRow:
    """The row with its changes from earlier values; not tested so far."""
    previous, first = valued[-1], valued[0]
    best = valued[0]
    for one in valued[1:]:
        # Of equal values the latest: less has changed since.
        best = best if _gain(one, best) < 0 else one
    below = row.direction is not None and _gain(row, best) < 0 and best is not previous
    part = row.label is not None or row.slice is not None
    return replace(
        row,
        previous=previous.run,
        change=_less(row, previous),
        first_change=_less(row, first),
        verdict=None if row.direction is None else "not tested",
        reason=_OF_A_PART if part and row.direction is not None else None,
        best=best.run if below else None,
        best_verdict="not tested" if below else None,
    )


def _less(row: HistoryRow, other: HistoryRow) -> float:
    if row.value is None or other.value is None:
        raise ValueError("only values are compared")
    return row.value - other.value


def _gain(row: HistoryRow, other: HistoryRow) -> float:
    """How much better a value is than another."""
    difference = _less(row, other)
    return -difference if row.direction == "lower" else difference


class _Tests:
    """Paired tests between runs; a run is read with its samples where a test needs it."""

    def __init__(self, runs: Sequence[_Run], chosen: Chosen, progress: Progress) -> None:
        self._runs = runs
        self._progress = progress
        self._single = all(len(run.models) == 1 for run in runs)
        # Whatever is shown: a verdict does not depend on it, but for what is shown beside.
        self._primary = {tuple(one) for run in runs[-1:] for one in run.primary}
        self._chosen = chosen
        self._read: OrderedDict[int, RunResult] = OrderedDict()
        self._found: dict[tuple[int, int], Mapping[Key, ComparisonResult]] = {}
        self._warnings: list[str] = []

    def tested(self, rows: Sequence[HistoryRow]) -> list[HistoryRow]:
        """The rows with their verdicts."""
        order = sorted(range(len(rows)), key=lambda at: rows[at].run)
        found = list(rows)
        for at in order:
            found[at] = self._tested(rows[at])
        return found

    def warnings(self) -> list[str]:
        """What changed beside the models from each run to the next."""
        return list(dict.fromkeys(self._warnings))

    def _tested(self, row: HistoryRow) -> HistoryRow:
        if not row.trend or row.verdict is None or row.previous is None or row.reason:
            return row
        bad: list[Bad] = list(row.bad)
        one = self._between(row.run, row.previous).get(self._place(row))
        row = replace(
            row,
            verdict="not tested" if one is None else one.verdict,
            p=_deciding(one),
            reason=_NOT_COMPARED if one is None else one.reason,
        )
        if row.verdict == "worse":
            bad.append("previous")
        if row.best is not None:
            one = self._between(row.run, row.best).get(self._place(row))
            row = replace(
                row,
                best_verdict="not tested" if one is None else one.verdict,
                best_p=_deciding(one),
            )
            if row.best_verdict == "worse":
                bad.append("best")
        return replace(row, bad=tuple(bad))

    def _place(self, row: HistoryRow | ComparisonResult) -> Key:
        model = None if self._single else row.model
        return row.metric, row.output, model, frozen(row.parameters)

    def _between(self, later: int, earlier: int) -> Mapping[Key, ComparisonResult]:
        pair = later, earlier
        if pair not in self._found:
            self._progress("testing", later, len(self._runs))
            result, before = self._whole(later), self._whole(earlier)
            compared = against_baseline(result, before)
            self._found[pair] = {self._place(one): one for one in compared}
            if earlier == later - 1:
                self._warn(later, result, before)
        return self._found[pair]

    def _warn(self, later: int, result: RunResult, before: RunResult) -> None:
        single = len(result.models) == len(before.models) == 1
        names = (
            zip(result.models, before.models, strict=False)
            if single
            else ((name, name) for name in result.models if name in before.models)
        )
        which = f"{self._runs[later - 1].path} → {self._runs[later].path}"
        for message in run_differences(before, result, list(names)):
            self._warnings.append(f"{which}: {message}")

    def _whole(self, number: int) -> RunResult:
        """A run with what its tests need."""
        if number not in self._read:
            result = self._lean(read_run(self._runs[number].path))
            # Resampled once here, and not again for every run that it is compared with. Where some
            # runs have intervals it depends on the pair how the others are drawn.
            alike = not any(run.has_intervals for run in self._runs)
            self._read[number] = _resampled(result) if alike else result
        self._read.move_to_end(number)
        while len(self._read) > _KEPT:
            self._read.popitem(last=False)
        return self._read[number]

    def _lean(self, result: RunResult) -> RunResult:
        """A run without values that no history shows, and without what none shows of samples."""

        def is_needed(metric: str, output: str) -> bool:
            names = {metric, f"{metric}.{output}"}
            return (metric, output) in self._primary or bool(names & set(self._chosen.metrics))

        gated = {(gate.metric, gate.output) for gate in result.gates}
        metrics = [
            row
            for row in result.metrics
            if row.label is None
            and row.slice is None
            and (is_needed(row.metric, row.output) or (row.metric, row.output) in gated)
        ]
        used = {row.metric for row in metrics}
        evidence: list[Any] = [
            replace(one, calls=tuple(call for call in one.calls if call[0] in used))
            for one in result.evidence
        ]
        return replace(
            result,
            metrics=metrics,
            evidence=tuple(one for one in evidence if one.calls),
            curves=(),
            tables=(),
            examples=(),
            comparisons=(),
        )


def _resampled(result: RunResult) -> RunResult:
    """A run with the resamples of its evidence, of which nothing is left to compute."""
    joined, _ = with_resamples(result, result, [(model, model) for model in result.models])
    # What its units are is asked later.
    done = tuple(replace(one, calls=()) for one in joined.evidence)
    return replace(joined, evidence=done)


def _deciding(one: ComparisonResult | None) -> float | None:
    if one is None:
        return None
    return one.p if one.p_adjusted is None else one.p_adjusted


def _history(
    runs: Sequence[_Run], rows: Sequence[HistoryRow], chosen: Chosen, warnings: Sequence[str]
) -> History:
    bad = [sum(bool(row.bad) for row in rows if row.trend and row.run == at) for at in _of(runs)]
    shown = [
        HistoryRun(
            run=at,
            path=run.path,
            started_at=run.info.started_at,
            commit=run.info.commit,
            valor_version=run.info.valor_version,
            config_sha256=run.info.config_sha256,
            models=run.models,
            verdict=run.verdict,
            bad=bad[at],
            failed_gates=run.failed_gates,
        )
        for at, run in enumerate(runs)
    ]
    return History(
        task=runs[-1].task,
        level=runs[-1].level,
        runs=shown,
        rows=rows,
        regressions=_regressions(runs, chosen),
        first_bad=next((one.run for one in shown if one.bad or one.failed_gates), None),
        warnings=warnings,
    )


def _of(runs: Sequence[_Run]) -> range:
    return range(len(runs))


def _regressions(runs: Sequence[_Run], chosen: Chosen) -> list[LabelRegression]:
    """Labels that got worse between the last two runs, largest drop first; counts left out."""
    if len(runs) < 2:
        return []
    before, now = runs[-2:]
    primary = {tuple(name) for name in now.primary}
    found: list[LabelRegression] = []
    further: list[LabelRegression] = []
    for key, row in now.rows.items():
        other = before.rows.get(key)
        if other is None or row.label is None or row.slice is not None or row.direction is None:
            continue
        if row.value is None or other.value is None or row.unit == "count":
            continue
        if chosen.models and row.model not in chosen.models:
            continue
        if chosen.metrics and not _is_asked(row, chosen, ()):
            continue
        change = row.value - other.value
        if (change < 0) == (row.direction == "higher") and change:
            # The further outputs of a metric, as recall at the threshold of the best F1, may fall
            # where nothing got worse.
            name = row.metric, row.output
            leads = bool(chosen.metrics) or row.output == "value" or name in primary
            one = _regression(row, row.label, other.value, row.value)
            (found if leads else further).append(one)
    return sorted(found or further, key=_drop, reverse=True)


def _regression(row: MetricResult, label: str, before: float, value: float) -> LabelRegression:
    return LabelRegression(
        label=label,
        metric=row.metric,
        output=row.output,
        model=row.model,
        parameters=row.parameters,
        unit=row.unit,
        direction=row.direction,
        before=before,
        value=value,
        change=value - before,
        n=row.n,
    )


def _drop(one: LabelRegression) -> float:
    """The size of a drop; of values beyond 1 as a share of the larger."""
    return abs(one.change) / max(abs(one.before), abs(one.value), 1.0)
