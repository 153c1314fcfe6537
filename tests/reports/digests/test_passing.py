"""What decides whether a sample passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tests.reports.task_runs import gate_row, run_of, value_row
from valor_cli.reports.digests.passing import PassRule, pass_rule
from valor_cli.results import RunResult, SamplesResult, ThresholdUsed

VALUES = {"f1": [0.2, 0.9, None], "recall": [0.5, 0.7, None]}
VERDICTS = {"pass": [0, 1, None]}


def run(
    columns: Mapping[str, Sequence[float | None]],
    *,
    threshold: float | None = None,
    gates: Sequence[tuple[str, str, float]] = (),
    direction: str | None = "higher",
    **of_gate: Any,
) -> RunResult:
    """A run of one model and metric; gates are (output, rule, limit)."""
    parameters: dict[str, Any] = {"ignore_case": True}
    whole: dict[str, Any] = {"metric": "m", "parameters": parameters, "label": None, "slice": None}
    result = run_of(
        "text_generation",
        ("a",),
        metrics=[
            value_row("m", "a", 0.5, parameters=parameters, output=output, direction=direction)
            for output in columns
        ],
        gates=[
            gate_row(rule, limit, 0.5, "passed", **{**whole, "model": "a", **of_gate, "output": on})
            for on, rule, limit in gates
        ],
        samples=[SamplesResult("m", "a", parameters, ["x", "y", "z"], columns, [None] * 3)],
    )
    if threshold is None:
        return result
    used = ThresholdUsed("m", parameters, threshold, given=True)
    return replace(result, run=replace(result.run, thresholds=(used,)))


@pytest.mark.parametrize(
    ("result", "output", "expected"),
    [
        (run(VALUES), None, None),
        (run(VALUES, threshold=0.4), None, PassRule("f1", 0.4, True, True)),
        # The gate is on the mean: a sample is held against the threshold, if there is one.
        (run(VALUES, threshold=0.4, gates=[("f1", "min", 0.8)]), None,
         PassRule("f1", 0.4, True, True)),
        (run(VALUES, gates=[("f1", "min", 0.8)]), None, PassRule("f1", 0.8, True, True)),
        (run(VALUES, gates=[("f1", "max_drop", 0.8)]), None, None),
        # An upper limit of what should be high says nothing of a good sample.
        (run(VALUES, gates=[("f1", "max", 0.95)]), None, None),
        (run(VALUES, gates=[("f1", "max", 0.3)], direction="lower"), None,
         PassRule("f1", 0.3, False, True)),
        (run(VALUES, gates=[("f1", "min", 0.8)], model="b"), None, None),
        (run(VALUES, gates=[("f1", "min", 0.8)], slice="short"), None, None),
        (run(VALUES, gates=[("f1", "min", 0.8)], parameters={"ignore_case": False}), None, None),
        # The threshold is the primary output's.
        (run(VALUES, threshold=0.4), "recall", None),
        (run(VALUES, threshold=0.4, gates=[("recall", "min", 0.6)]), "recall",
         PassRule("recall", 0.6, True, True)),
        (run(VERDICTS), None, PassRule("pass", 1.0, True, False)),
        (run(VERDICTS, threshold=0.4), None, PassRule("pass", 1.0, True, True)),
        (run({"value": [0, 1, None]}), None, PassRule("value", 1.0, True, False)),
        (run({"value": [1.0, 1.0, None]}), None, PassRule("value", 1.0, True, False)),
        (run({"value": [0, 1, 1]}, direction="lower"), None, PassRule("value", 0.0, False, False)),
    ],
)  # fmt: skip
def test_the_first_that_there_is_decides(
    result: RunResult, output: str | None, expected: PassRule | None
) -> None:
    assert pass_rule(result, result.samples[0], output) == expected


def test_what_is_asked_for_comes_before_all_else() -> None:
    result = run({**VALUES, **VERDICTS}, threshold=0.4)
    rule = pass_rule(result, result.samples[0], threshold=0.6)
    assert rule == PassRule("f1", 0.6, higher=True, given=True)
    assert [rule.passes(value) for value in (0.59, 0.6, 0.61)] == [False, True, True]
