"""Follow each value of a history from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.errors import Problem, UnknownNameError, did_you_mean
from valor_cli.pipeline.history.runs import Run
from valor_cli.results import GateStatus, MetricResult
from valor_cli.results.history import HistoryRow
from valor_cli.results.identity import RowKey

_OF_A_PART: Final = "values of labels and slices are not tested"
_STATUSES: Final[tuple[GateStatus, ...]] = ("failed", "not checked", "passed")


class Chosen(Struct, frozen=True):
    """Which values a history shows.

    Attributes:
        metrics: Names of metrics, or METRIC.OUTPUT; empty: the headline values, and those with
            gates.
        models: Names of models; empty: all.
    """

    metrics: Sequence[str] = ()
    models: Sequence[str] = ()


def check_names(runs: Sequence[Run], chosen: Chosen) -> None:
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


def is_asked(row: MetricResult, chosen: Chosen, primary: Sequence[tuple[str, str]]) -> bool:
    if chosen.metrics:
        return row.metric in chosen.metrics or f"{row.metric}.{row.output}" in chosen.metrics
    return (row.metric, row.output) in primary


def keys_of(runs: Sequence[Run], chosen: Chosen) -> dict[RowKey, bool]:
    """The values, and whether each is drawn: headline values first, those of the last run first."""
    primary = runs[-1].primary
    found: dict[RowKey, MetricResult] = {}
    gated: set[RowKey] = set()
    for run in reversed(runs):
        for key, row in run.rows.items():
            found.setdefault(key, row)
        if not chosen.metrics:
            gated.update(key for key in run.gates if key in run.rows)
    found = {
        key: row for key, row in found.items() if not chosen.models or row.model in chosen.models
    }
    asked = {key: row for key, row in found.items() if is_asked(row, chosen, primary)}
    whole = {row.metric for row in asked.values() if row.label is None and row.slice is None}
    drawn = gated & set(found)
    for key, row in asked.items():
        # Of a metric that has labels alone these are drawn, if it is asked for.
        alone = bool(chosen.metrics) and row.metric not in whole
        if row.slice is None and (row.label is None or alone):
            drawn.add(key)
    names = {(found[key].metric, found[key].output) for key in drawn}
    places = {tuple(name): at for at, name in enumerate(primary)}

    def place(key: RowKey) -> tuple[bool, int]:
        return key not in drawn, places.get((found[key].metric, found[key].output), len(places))

    shown = [
        key
        for key, row in found.items()
        if key in drawn
        or ((row.metric, row.output) in names and (row.label is None or row.slice is None))
    ]
    return {key: key in drawn for key in sorted(shown, key=place)}


def followed(runs: Sequence[Run], key: RowKey, *, trend: bool) -> list[HistoryRow]:
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


def _row(number: int, run: Run, key: RowKey, *, trend: bool) -> HistoryRow:
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
