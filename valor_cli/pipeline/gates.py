"""Check gates: limits on the values of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from valor_cli.config import Gate, RunConfig
from valor_cli.errors import LISTED, ConfigError, Problem, did_you_mean
from valor_cli.metric import Loaded, Metric, Task
from valor_cli.pipeline.compare.baseline import BaselineRows
from valor_cli.pipeline.slices.slices import Slice
from valor_cli.reports.digests.naming import output_name
from valor_cli.results import (
    COVERAGE,
    NOT_WORSE,
    ComparisonResult,
    CoverageResult,
    GateResult,
    GateStatus,
    MetricResult,
    Parameters,
)
from valor_cli.results.identity import row_key
from valor_cli.statistics.corrections import holm


def check_gates(
    config: RunConfig,
    task: Task[Any],
    loaded: Loaded[Any],
    slices: Sequence[Slice],
    shape: Sequence[MetricResult],
) -> None:
    """Reject gates that match no row, before anything is computed.

    Args:
        config: With the gates.
        task: Whose metrics they name.
        loaded: The data.
        slices: Those of the run.
        shape: The rows that the run will have, of the whole data, without their values.

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
        if gate.on_value and not _metric(task, gate).outputs:
            message = f"{gate.metric} has no value that a limit could apply to"
            problems.append(Problem(config.place("gates", at, "metric"), message))
            continue
        named = len(problems)
        problems += _out_of_reach(config, at, gate, task)
        for key, names in known.items():
            asked = getattr(gate, key)
            if asked is not None and asked not in names:
                there = f"; there are {', '.join(names[:LISTED])}" if names else "; there are none"
                message = f"no {key} '{asked}'{did_you_mean(asked, names) or there}"
                problems.append(Problem(config.place("gates", at, key), message))
        # A name that is not there has been told; what follows from it need not be.
        if gate.on_value and len(problems) == named and not _answers(gate, task, shape):
            why = _why_none(gate, _metric(task, gate), shape)
            problems.append(Problem(config.place("gates", at), why))
    if problems:
        raise ConfigError(problems)


def _out_of_reach(config: RunConfig, at: int, gate: Gate, task: Task[Any]) -> list[Problem]:
    """Limits that no value can keep: a percentage where a fraction is meant."""
    if not gate.on_value:
        return []
    metric = _metric(task, gate)
    output = metric.output(gate.output or metric.outputs[0].name)
    low, high = output.bounds
    problems = []
    if gate.min is not None and high is not None and gate.min > high:
        problems.append(("min", f"no value of {metric.name} is above {high:g}"))
    if gate.max is not None and gate.max < low:
        problems.append(("max", f"no value of {metric.name} is below {low:g}"))
    return [Problem(config.place("gates", at, key), told) for key, told in problems]


def judge_gates(
    config: RunConfig,
    task: Task[Any],
    rows: Sequence[MetricResult],
    baseline: Sequence[MetricResult] | None,
    coverage: Sequence[CoverageResult] = (),
    comparisons: Sequence[ComparisonResult] = (),
    lost: str | None = None,
) -> list[GateResult]:
    """Check every gate against every row it names, one result per limit and row.

    A baseline of one model is compared with the one model of this run, whatever their names.
    A gate on coverage is checked for every metric it applies to. A gate on a value that does
    not exist, or that the baseline does not have, is not checked.

    Args:
        config: With the gates.
        task: Whose metrics they name.
        rows: The values of the run.
        baseline: Those of an earlier one.
        coverage: Coverage by metric and model.
        comparisons: Paired comparisons with the baseline.
        lost: Why the given baseline could not be read.

    Raises:
        ConfigError: A gate names no row of the result.
    """
    earlier = BaselineRows(baseline, {row.model for row in rows}, lost)
    results: list[GateResult] = []
    problems: list[Problem] = []
    for at, gate in enumerate(config.gates):
        if gate.coverage is not None:
            covered = [one for one in coverage if _covers(gate, one)]
            results += [replace(_judge_coverage(one, gate.coverage), gate=at) for one in covered]
            if not covered:
                message = f"{gate.metric or 'the task'} has no coverage: no value of single samples"
                problems.append(Problem(config.place("gates", at, "coverage"), message))
        if not gate.on_value:
            continue
        metric = _metric(task, gate)
        chosen = [row for row in rows if _names(gate, metric, row, in_slice=gate.slice)]
        if not chosen:
            problems.append(Problem(config.place("gates", at), _why_none(gate, metric, rows)))
        for row in chosen:
            judged = _judged(gate, row, earlier, chosen)
            results += [replace(one, gate=at) for one in judged]
    if problems:
        raise ConfigError(problems)
    return check_not_worse_gates(results, comparisons) if baseline is not None else results


def _judged(
    gate: Gate, row: MetricResult, baseline: BaselineRows, chosen: Sequence[MetricResult]
) -> Iterator[GateResult]:
    """Check a row against every limit of a gate; not-worse limits are checked later.

    Args:
        gate: The gate.
        row: One of the rows that it means.
        baseline: The baseline.
        chosen: All of the rows.
    """
    if gate.min is not None:
        yield _judge(row, "min", gate.min)
    if gate.max is not None:
        yield _judge(row, "max", gate.max)
    if gate.max_drop is None and gate.not_worse is None:
        return
    before, why = baseline.row(row), baseline.why_none()
    if row.value is None:
        why = f"undefined: {row.undefined}"
    elif before is not None:
        why = f"undefined in the baseline: {before.undefined}"
    elif baseline.given and not any(map(baseline.row, chosen)):
        why = baseline.why_other(row)
    if gate.max_drop is not None:
        yield _judge_drop(row, gate.max_drop, before, why)
    if gate.not_worse is not None:
        yield _result(row, NOT_WORSE, gate.not_worse, None, "not checked", why)


def _covers(gate: Gate, one: CoverageResult) -> bool:
    """Whether a gate on coverage applies to this metric."""
    return (
        gate.metric in (None, one.metric)
        and gate.model in (None, one.model)
        and gate.slice == one.slice
        and _computed_so(gate.parameters, one.parameters)
    )


def _computed_so(asked: Parameters, parameters: Parameters) -> bool:
    """Whether parameters match the requested ones; a model may be named by its folder."""
    return all(
        parameters.get(key) == value
        or (key == "model" and isinstance(value, str) and parameters.get(key) == _last(value))
        for key, value in asked.items()
    )


def _last(path: str) -> str:
    return os.path.basename(os.path.normpath(path))


def _judge_coverage(one: CoverageResult, limit: float) -> GateResult:
    kept = one.coverage is not None and one.coverage >= limit
    others = {name: count for name, count in one.statuses.items() if name != "ok"}
    message = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in others.items())
    samples = "sample" if one.samples == 1 else "samples"
    return GateResult(
        one.metric,
        "",
        one.model,
        None,
        one.slice,
        one.parameters,
        COVERAGE,
        limit,
        one.coverage,
        "passed" if kept else "failed",
        None if kept else f"of {one.samples:,} {samples}: {message}",
    )


def _metric(task: Task[Any], gate: Gate) -> Metric[Any]:
    return next(metric for metric in task.metrics if metric.name == gate.metric)


def _answers(gate: Gate, task: Task[Any], shape: Sequence[MetricResult]) -> bool:
    """Whether such a row will exist; one label's row represents the others."""
    metric = _metric(task, gate)
    labelled = [row for row in shape if (row.label is None) == (gate.label is None)]
    alike = [replace(row, label=gate.label) for row in labelled]
    return any(_names(gate, metric, row, in_slice=None) for row in alike)


def _names(gate: Gate, metric: Metric[Any], row: MetricResult, *, in_slice: str | None) -> bool:
    """Whether a gate applies to this row."""
    output = gate.output or metric.outputs[0].name
    return (
        row.metric == gate.metric
        and row.output == output
        and row.label == gate.label
        and row.slice == in_slice
        and gate.model in (None, row.model)
        and _computed_so(gate.parameters, row.parameters)
    )


def _why_none(gate: Gate, metric: Metric[Any], rows: Sequence[MetricResult]) -> str:
    of_metric = [row for row in rows if row.metric == gate.metric]
    output = gate.output or metric.outputs[0].name
    same = [row for row in of_metric if row.output == output]
    if not same:
        outputs = ", ".join(dict.fromkeys(row.output for row in of_metric))
        return f"{gate.metric} has no output {output} here; it has {outputs}"
    name = output_name(str(gate.metric), output)
    labels = {row.label for row in same}
    if gate.label is None and None not in labels:
        return f"{name} has a value per label and none for all; name one with label:"
    if gate.label is not None and labels == {None}:
        return f"{name} has no value per label; leave label: out"
    if not gate.parameters:
        return f"{name} has no such value in {gate.slice}"
    seen = dict.fromkeys(json.dumps(dict(row.parameters)) for row in same)
    return f"no value of {name} is computed so; its parameters are {'; '.join(seen)}"


def _judge(row: MetricResult, rule: str, limit: float) -> GateResult:
    if row.value is None:
        return _result(row, rule, limit, None, "not checked", f"undefined: {row.undefined}")
    kept = row.value >= limit if rule == "min" else row.value <= limit
    return _result(row, rule, limit, row.value, "passed" if kept else "failed", row.undefined)


def _judge_drop(
    row: MetricResult, limit: float, before: MetricResult | None, why: str
) -> GateResult:
    """The drop from the baseline's value; `why` says that there is nothing to compare."""
    if row.value is None or before is None or before.value is None:
        return _result(row, "max_drop", limit, None, "not checked", why)
    drop = before.value - row.value if row.direction != "lower" else row.value - before.value
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


def check_not_worse_gates(
    gates: Sequence[GateResult], comparisons: Sequence[ComparisonResult]
) -> list[GateResult]:
    """All gates, with `not_worse` gates checked by the paired tests of their rows.

    A run may have many of them, and each may raise a false alarm: their p-values are adjusted
    by Holm's method over the gates of this rule. What could not be tested
    stays unchecked, with the reason.

    Args:
        gates: Of all rules.
        comparisons: The comparisons with the baseline.
    """
    found = {row_key(row): row for row in comparisons}
    open_ones = (gate.rule == NOT_WORSE and gate.status == "not checked" for gate in gates)
    at = [number for number, is_open in enumerate(open_ones) if is_open]
    rows = [found.get(row_key(gates[number])) for number in at]
    adjusted = holm([None if row is None else row.p for row in rows])
    judged = list(gates)
    for number, row, p in zip(at, rows, adjusted, strict=True):
        judged[number] = _judged_worse(gates[number], row, p)
    return judged


def _judged_worse(gate: GateResult, row: ComparisonResult | None, p: float | None) -> GateResult:
    if row is None:
        return gate
    if p is None:
        return replace(gate, reason=f"not tested: {row.reason}")
    if not _is_worse(row) or p >= gate.limit:
        return replace(gate, status="passed", value=p, reason=None)
    around = "" if row.interval is None else " [{:+.3f}, {:+.3f}]".format(*row.interval)
    message = f"{row.difference:+.3f}{around} against the baseline"
    return replace(gate, status="failed", value=p, reason=message)


def _is_worse(row: ComparisonResult) -> bool:
    difference = row.difference or 0.0
    return difference > 0 if row.direction == "lower" else difference < 0
