"""A small run with a gate of every kind and a problem of every severity: made up."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tests.reports.task_runs import run_of, value_row
from valor_cli.results import CoverageResult, GateResult, ProblemResult, RunInfo, RunResult


def gate(rule: str, limit: float, value: float | None, status: Any, **rest: Any) -> GateResult:
    fields: dict[str, Any] = {
        "metric": "f1",
        "output": "value",
        "model": "small",
        "label": None,
        "slice": None,
        "parameters": {"score_threshold": 0.5},
        "reason": None,
        "gate": 0,
    }
    given = {"rule": rule, "limit": limit, "value": value, "status": status}
    return GateResult(**{**fields, **given, **rest})


def problem(kind: Any, severity: Any, message: str, **rest: Any) -> ProblemResult:
    fields: dict[str, Any] = {
        "metric": "f1",
        "output": "value",
        "model": "small",
        "value": 0.3,
        "threshold": 0.5,
        "sample_ids": (),
    }
    given = {"kind": kind, "severity": severity, "message": message}
    return ProblemResult(**{**fields, **given, **rest})


def checked_run(**rest: Any) -> RunResult:
    """Two failed gates of six, four problems."""
    metrics = [
        value_row("f1", "small", 0.4, parameters={"score_threshold": 0.5}),
        value_row("f1", "small", 0.35, parameters={"score_threshold": 0.7}),
        value_row("errors", "small", 12, unit="count", direction="lower", interval=(10, 15)),
        value_row("errors", "small", None, label="=cat", undefined="no ground truth"),
    ]
    gates = [
        gate("min", 0.5, 0.4, "failed", gate=0),
        gate("max", 20, 12, "passed", metric="errors", parameters={}, gate=1),
        gate("max_drop", 0.01, None, "not checked", reason="no --baseline was given", gate=2),
        gate("not_worse", 0.05, 0.0123, "failed", reason="-0.030 against the baseline", gate=3),
        gate("coverage", 0.95, 1.0, "passed", gate=4),
        gate("min", 0.2, 0.3, "passed", label="cat", slice="metadata.weather=rain", gate=5),
    ]
    problems = [
        problem("threshold", None, "small: f1 is 0.300, yet: cannot tell"),
        problem("coverage", "low", "small: f1 has a value for 90 of 100 samples", value=0.9),
        problem("threshold", "high", "small: f1 is 0.100, below its threshold of 0.5"),
        problem("flip", "medium", "small: f1 of a-typo is 0.1; of a, 0.9", sample_ids=("a", 7)),
    ]
    run = run_of("object_detection", ("small",), metrics=metrics, gates=gates, problems=problems)
    info = RunInfo(
        valor_version="0.1.0",
        started_at="2026-03-01T09:30:00+00:00",
        duration_s=1.5,
        command="valor evaluate run.yaml",
        config="run.yaml",
        config_sha256="c0" * 32,
        inputs=(),
        packages={},
    )
    return replace(run, run=info, **rest)


def silent_judge() -> CoverageResult:
    """What makes a run incomplete."""
    return CoverageResult("f1", "small", None, {}, 10, {"ok": 8, "judge_error": 2}, 0.8)


def named_alike(word: str) -> RunResult:
    """Every text that data or a config can choose is this one."""
    run = checked_run()
    rest: dict[str, Any] = {"metric": word, "output": word, "model": word, "parameters": {word: 1}}
    return replace(
        run,
        task=word,
        models=(word,),
        metrics=[
            replace(row, label=word, slice=word, undefined=word, unit=word, **rest)
            for row in run.metrics
        ],
        gates=[replace(one, label=word, slice=word, reason=word, **rest) for one in run.gates],
        problems=[
            replace(one, message=word, sample_ids=(word, word), **rest) for one in run.problems
        ],
        run=replace(run.run, config=word, valor_version=word, stopped=word, stopped_by="budget"),
    )
