"""The table of gates on a terminal."""

from __future__ import annotations

from tests.reports.rendered import terminal
from tests.reports.task_runs import gate_row, run_of, value_row
from valor_cli.results import GateResult, RunResult

REASON = "no --baseline was given"


def gated(*gates: GateResult) -> RunResult:
    """A run of two models with these gates."""
    rows = [value_row("f1", model, 0.4) for model in ("small", "large")]
    return run_of("classification", ("small", "large"), metrics=rows, gates=gates)


def unchecked(model: str) -> GateResult:
    return gate_row("max_drop", 0.02, None, "not checked", model=model, reason=REASON)


def lines(run: RunResult, width: int) -> list[list[str]]:
    """The words of the table's lines."""
    screen = terminal(run, width=width).split("\n")
    start = next(at for at, line in enumerate(screen) if not line)
    return [line.split() for line in screen[start + 1 : screen.index("", start + 1)]]


def test_there_is_no_column_for_reasons_that_no_shown_gate_has() -> None:
    passed = [gate_row("min", 0.3, 0.4, "passed", label=f"label {at}") for at in range(9)]
    last = gate_row("min", 0.3, 0.4, "passed", label="label 9", reason="a remark")
    shown = lines(gated(*passed, last), 120)
    assert shown[0] == ["gate", "model", "rule", "value"]
    assert shown[-1][-1] == "more"
    shown = lines(gated(last, *passed), 120)
    assert shown[0] == ["gate", "model", "rule", "value", "reason"]
    assert shown[1][-2:] == ["a", "remark"]


def test_reasons_give_way_before_the_columns_do() -> None:
    run = gated(unchecked("small"), unchecked("large"))
    assert lines(run, 80)[0] == ["gate", "model", "rule", "value", "reason"]
    narrow = lines(run, 60)
    assert narrow[0] == ["gate", "model", "rule", "value"]
    assert narrow[1] == ["?", "not", "checked", "F1", "small", "drop", "≤", "0.020", "–"]
