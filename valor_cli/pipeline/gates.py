"""Gates: limits that rows of the result must keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from valor_cli.config import Gate, RunConfig
from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.metric import Loaded, Metric, Task
from valor_cli.pipeline.slices import Slice
from valor_cli.results import GateResult, GateStatus, MetricResult


def check_gates(
    config: RunConfig, task: Task[Any], loaded: Loaded[Any], slices: Sequence[Slice]
) -> None:
    """Refuse gates that no row can answer, before anything is computed.

    Raises:
        ConfigError: A gate names a model, label or slice that the data does not have, or a
            metric that has no value.
    """
    problems = []
    known = {
        "model": list(loaded.datasets),
        "label": list(loaded.labels),
        "slice": [part.name for part in slices],
    }
    for at, gate in enumerate(config.gates):
        if not _metric(task, gate).outputs:
            message = f"{gate.metric} draws curves and has no value to hold against a limit"
            problems.append(Problem(config.place("gates", at, "metric"), message))
        for key, names in known.items():
            asked = getattr(gate, key)
            if asked is not None and asked not in names:
                there = f"; there are {', '.join(names[:20])}" if names else "; there are none"
                message = f"no {key} '{asked}'{did_you_mean(asked, names) or there}"
                problems.append(Problem(config.place("gates", at, key), message))
    if problems:
        raise ConfigError(problems)


def judge_gates(
    config: RunConfig,
    task: Task[Any],
    rows: Sequence[MetricResult],
    baseline: Sequence[MetricResult] | None,
) -> list[GateResult]:
    """Hold every gate against every row it names, one result per limit and row.

    Raises:
        ConfigError: A gate names no row of the result.
    """
    before = {_identity(row): row for row in baseline or ()}
    results: list[GateResult] = []
    for at, gate in enumerate(config.gates):
        metric = _metric(task, gate)
        chosen = [row for row in rows if _names(gate, metric, row)]
        if not chosen:
            raise ConfigError(Problem(config.place("gates", at), _why_none(gate, rows)))
        for row in chosen:
            if gate.min is not None:
                results.append(_judge(row, "min", gate.min))
            if gate.max is not None:
                results.append(_judge(row, "max", gate.max))
            if gate.max_drop is not None:
                earlier = before.get(_identity(row))
                results.append(_judge_drop(row, gate.max_drop, earlier, baseline is not None))
    return results


def _metric(task: Task[Any], gate: Gate) -> Metric[Any]:
    return next(metric for metric in task.metrics if metric.name == gate.metric)


def _names(gate: Gate, metric: Metric[Any], row: MetricResult) -> bool:
    output = gate.output or metric.outputs[0].name
    return (
        row.metric == gate.metric
        and row.output == output
        and row.label == gate.label
        and row.slice == gate.slice
        and gate.model in (None, row.model)
        and all(row.parameters.get(key) == value for key, value in gate.parameters.items())
    )


def _why_none(gate: Gate, rows: Sequence[MetricResult]) -> str:
    same = [row for row in rows if row.metric == gate.metric and row.slice == gate.slice]
    labels = {row.label for row in same}
    if gate.label is None and None not in labels:
        return f"{gate.metric} has a value per label and none for all; name one with label:"
    if gate.label is not None and gate.label not in labels:
        return f"{gate.metric} has no value per label; leave label: out"
    seen = "; ".join(dict.fromkeys(str(dict(row.parameters)) for row in same))
    return f"no value of {gate.metric} has these parameters; it was computed with {seen}"


def _judge(row: MetricResult, rule: str, limit: float) -> GateResult:
    if row.value is None:
        return _result(row, rule, limit, None, "failed", f"undefined: {row.undefined}")
    kept = row.value >= limit if rule == "min" else row.value <= limit
    return _result(row, rule, limit, row.value, "passed" if kept else "failed", row.undefined)


def _judge_drop(
    row: MetricResult, limit: float, earlier: MetricResult | None, compared: bool
) -> GateResult:
    """How far the value is worse than the baseline's, against the drop allowed."""
    if not compared:
        return _result(row, "max_drop", limit, None, "not checked", "no --baseline was given")
    if earlier is None or earlier.value is None:
        return _result(row, "max_drop", limit, None, "not checked", "not in the baseline")
    if row.value is None:
        return _result(row, "max_drop", limit, None, "failed", f"undefined: {row.undefined}")
    drop = earlier.value - row.value if row.direction != "lower" else row.value - earlier.value
    # 0.40 - 0.39 is a hair above 0.01 in binary; a drop of exactly the limit must pass.
    status: GateStatus = "passed" if drop <= limit + 1e-12 else "failed"
    return _result(row, "max_drop", limit, drop, status, None)


def _result(
    row: MetricResult,
    rule: str,
    limit: float,
    value: float | None,
    status: GateStatus,
    reason: str | None,
) -> GateResult:
    return GateResult(
        row.metric,
        row.output,
        row.model,
        row.label,
        row.slice,
        row.parameters,
        rule,
        limit,
        value,
        status,
        reason,
    )


def _identity(row: MetricResult) -> tuple[object, ...]:
    return row.metric, row.output, row.model, row.label, row.slice, tuple(_flat(row))


def _flat(row: MetricResult) -> Iterator[tuple[str, object]]:
    for key in sorted(row.parameters):
        value = row.parameters[key]
        yield key, value if isinstance(value, (str, int, float)) or value is None else tuple(value)
