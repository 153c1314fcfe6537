"""Gates on being no worse than the baseline."""

from __future__ import annotations

from typing import Any

from valor_cli.pipeline.worse import judge_worse
from valor_cli.results import NOT_WORSE, ComparisonResult, GateResult


def gate(metric: str, limit: float = 0.05, **changes: Any) -> GateResult:
    fields: dict[str, Any] = {
        "output": "value",
        "model": "m",
        "label": None,
        "slice": None,
        "parameters": {"k": [1, 2]},
        "rule": NOT_WORSE,
        "value": None,
        "status": "not checked",
        "reason": "not in the baseline",
    }
    return GateResult(metric, limit=limit, **{**fields, **changes})


def compared(metric: str, difference: float, p: float | None, **changes: Any) -> ComparisonResult:
    fields: dict[str, Any] = {
        "output": "value",
        "model": "m",
        "other": "m",
        "baseline": True,
        "label": None,
        "slice": None,
        # As a file gives it back: a tuple.
        "parameters": {"k": (1, 2)},
        "unit": "fraction",
        "direction": "higher",
        "value": 0.5 + difference,
        "other_value": 0.5,
        "interval": (difference - 0.1, difference + 0.1),
        "level": 0.95,
        "n": 40,
        "wins": 1,
        "losses": 1,
        "ties": 38,
        "unpaired": 0,
        "test": "sign_permutation",
        "p_adjusted": 1.0,
        "effect": None,
        "effect_kind": None,
        "verdict": "cannot tell",
        "reason": None,
    }
    return ComparisonResult(metric, difference=difference, p=p, **{**fields, **changes})


def told(gates: list[GateResult], rows: list[ComparisonResult]) -> list[tuple[str, float | None]]:
    return [(one.status, one.value) for one in judge_worse(gates, rows)]


def test_worse_fails_and_what_cannot_be_told_passes() -> None:
    assert told([gate("a")], [compared("a", -0.1, 0.01)]) == [("failed", 0.01)]
    assert told([gate("a")], [compared("a", -0.1, 0.05)]) == [("passed", 0.05)]
    assert told([gate("a", 0.2)], [compared("a", -0.1, 0.05)]) == [("failed", 0.05)]
    assert told([gate("a")], [compared("a", 0.1, 0.01)]) == [("passed", 0.01)]
    lower = compared("a", 0.1, 0.01, direction="lower")
    assert told([gate("a")], [lower]) == [("failed", 0.01)]
    # Of one metric at two settings, each gate is judged by its own.
    other = {"parameters": {"k": [1, 3]}}
    rows = [compared("a", -0.1, 0.01), compared("a", 0.1, 0.01, **other)]
    assert told([gate("a"), gate("a", **other)], rows) == [("failed", 0.02), ("passed", 0.02)]
    (failed,) = judge_worse([gate("a")], [compared("a", -0.1, 0.01)])
    assert failed.reason == "-0.100 [-0.200, +0.000] against the baseline"


def test_p_values_are_adjusted_over_the_gates_alone() -> None:
    rows = [compared("a", -0.1, 0.03), compared("b", -0.1, 0.04), compared("c", -0.1, 1e-9)]
    # Two tests: 0.03 * 2 = 0.06, and 0.04 may not look surer than that; c has no gate.
    gates = [gate("a"), gate("b"), gate("z", rule="min", status="passed")]
    assert told(gates, rows) == [("passed", 0.06), ("passed", 0.06), ("passed", None)]


def test_what_could_not_be_tested_is_not_checked() -> None:
    untested = compared("a", -0.1, None, reason="other samples")
    (first, absent) = judge_worse([gate("a"), gate("b")], [untested])
    assert (first.status, first.reason) == ("not checked", "not tested: other samples")
    assert (absent.status, absent.reason) == ("not checked", "not in the baseline")
