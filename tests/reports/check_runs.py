"""A small run with a gate of every kind and a problem of every severity: made up."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec.structs import replace

from tests.reports.task_runs import INFO, filled, gate_row, run_of, value_row
from valor_cli.results import CoverageResult, ProblemResult, RunResult

gate = partial(gate_row, parameters={"score_threshold": 0.5}, gate=0)


def problem(kind: Any, severity: Any, message: str, **rest: Any) -> ProblemResult:
    told: dict[str, Any] = {"metric": "f1", "output": "value", "model": "small", "value": 0.3}
    told |= {"kind": kind, "severity": severity, "message": message, "threshold": 0.5}
    return filled(ProblemResult, **{**told, **rest})


def checked_run(**rest: Any) -> RunResult:
    """Two failed gates of six, four problems."""
    metrics = [
        value_row("f1", "small", 0.4, parameters={"score_threshold": 0.5}),
        value_row("f1", "small", 0.35, parameters={"score_threshold": 0.7}),
        value_row("errors", "small", 12, unit="count", direction="lower", interval=(10, 15)),
        value_row("errors", "small", None, label="=cat"),
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
    found = {"metrics": metrics, "gates": gates, "problems": problems}
    info = replace(INFO, duration_s=1.5, inputs=(), packages={})
    return run_of("object_detection", ("small",), **{**found, "run": info, **rest})


def silent_judge() -> CoverageResult:
    """What makes a run incomplete."""
    return CoverageResult("f1", "small", None, {}, 10, {"ok": 8, "judge_error": 2}, 0.8)


def named_alike(word: str) -> RunResult:
    """Every text that data or a config can choose is this one."""
    run = checked_run()
    rest: dict[str, Any] = {"metric": word, "output": word, "model": word, "parameters": {word: 1}}
    at = {"label": word, "slice": word, **rest}
    return replace(
        run,
        task=word,
        models=(word,),
        metrics=[replace(row, undefined=word, unit=word, **at) for row in run.metrics],
        gates=[replace(one, reason=word, **at) for one in run.gates],
        problems=[
            replace(one, message=word, sample_ids=(word, word), **rest) for one in run.problems
        ],
        run=replace(run.run, config=word, valor_version=word, stopped=word, stopped_by="budget"),
    )
