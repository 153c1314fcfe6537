"""Limits held against rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import ConfigError
from valor_cli.pipeline.gates import check_not_worse_gates, judge_gates
from valor_cli.results import NOT_WORSE, ComparisonResult, CoverageResult, GateResult, MetricResult

NONE, LACKS = "no ground truth", "the baseline has no such value; its models are "


def row(value: float | None, **changes: Any) -> MetricResult:
    fields = {
        "metric": "mean_average_precision",
        "output": "value",
        "model": "m",
        "label": None,
        "slice": None,
        "parameters": {"iou_threshold": 0.5},
        "unit": "fraction",
        "direction": "higher",
        "n": 10,
        "interval": None,
        "undefined": None if value is not None else NONE,
    }
    return MetricResult(value=value, **{**fields, **changes})


def judged(
    folder: Path, gate: str, rows: list[MetricResult], before: list[MetricResult] | None = None
) -> list[GateResult]:
    return of_gates(folder, f"{{metric: mean_average_precision, {gate}}}", rows, before)


def of_gates(folder: Path, gates: str, *found: Any) -> list[GateResult]:
    path = folder / "run.yaml"
    data = "{ground_truth: a, predictions: b}"
    path.write_text(f"task: object_detection\ndata: {data}\ngates: [{gates}]\n")
    return judge_gates(load_config(path, catalogue), catalogue.task("object_detection"), *found)


@pytest.mark.parametrize(
    ("gate", "now", "before", "status", "reason"),
    [
        # A limit is kept when it is met exactly.
        ("min: 0.5", 0.5, (), "passed", None),
        ("max: 0.5", 0.5, (), "passed", None),
        ("min: 0.5", 0.4999, (), "failed", None),
        ("min: 0.1, max: 0.3", 0.4, (), "passed failed", None),
        ("max_drop: 0.01", 0.39, [0.40], "passed", None),
        ("max_drop: 0.01", 0.38, [0.40], "failed", None),
        ("max_drop: 0.01", 0.5, [0.40], "passed", None),
        ("max_drop: 0.1", 0.5, (), "not checked", "no --baseline was given"),
        ("max_drop: 0.1", 0.5, [None], "not checked", f"undefined in the baseline: {NONE}"),
        # What has no value is checked by no limit.
        ("min: 0", None, [0.4], "not checked", f"undefined: {NONE}"),
        ("max: 1", None, [0.4], "not checked", f"undefined: {NONE}"),
        ("max_drop: 0.1", None, [0.4], "not checked", f"undefined: {NONE}"),
        ("not_worse: 0.05", None, [0.4], "not checked", f"undefined: {NONE}"),
        ("max_drop: 0.1", 0.5, [], "not checked", f"{LACKS}none"),
        ("not_worse: 0.05", 0.5, [], "not checked", f"{LACKS}none"),
    ],
)
def test_a_row_against_its_limits(
    tmp_path: Path, gate: str, now: float | None, before: Any, status: str, reason: str | None
) -> None:
    rows = None if before == () else [row(value) for value in before]
    results = judged(tmp_path, gate, [row(now)], rows)
    assert " ".join(one.status for one in results) == status
    assert reason is None or results[0].reason == reason


def test_where_lower_is_better_a_rise_is_a_drop_in_quality(tmp_path: Path) -> None:
    now, before = (row(value, direction="lower") for value in (0.5, 0.4))
    (one,) = judged(tmp_path, "max_drop: 0.01", [now], [before])
    assert (one.status, one.value) == ("failed", pytest.approx(0.1))


def test_what_the_baseline_has_instead_is_said(tmp_path: Path) -> None:
    def reason(gate: str, now: MetricResult, *before: MetricResult) -> str | None:
        (one,) = judged(tmp_path, gate, [now], list(before))
        assert one.status == "not checked"
        return one.reason

    older = row(0.9, model="x"), row(0.9, model="y")
    for gate in ("max_drop: 0.1", "not_worse: 0.05"):
        assert reason(gate, row(0.5), *older) == f"{LACKS}x, y"
    now, before = (row(0.5, parameters={"model": one, "n": [1]}) for one in "ba")
    told = 'the baseline has it computed in another way: model "a", here "b"'
    assert reason("max_drop: 0.1", now, before) == told


def test_a_row_that_the_baseline_lacks_beside_one_that_it_has(tmp_path: Path) -> None:
    other = {"parameters": {"iou_threshold": 0.75}}
    rows = [row(0.5), row(0.4, **other)]
    missing, there = judged(tmp_path, "max_drop: 0.1", rows, [row(0.9, **other)])
    assert (missing.status, missing.reason) == ("not checked", "not in the baseline")
    assert there.status == "failed"


def test_every_row_it_names_must_pass(tmp_path: Path) -> None:
    rows = [row(0.6), row(0.3, parameters={"iou_threshold": 0.75}), row(0.9, model="n")]
    assert [one.status for one in judged(tmp_path, "min: 0.5", rows)] == [
        "passed",
        "failed",
        "passed",
    ]
    narrow = "min: 0.5, parameters: {iou_threshold: 0.5}, model: m"
    assert [one.status for one in judged(tmp_path, narrow, rows)] == ["passed"]


def test_the_one_model_is_compared_with_the_one_before_whatever_its_name(tmp_path: Path) -> None:
    (result,) = judged(tmp_path, "max_drop: 0.1", [row(0.5)], [row(0.7, model="older")])
    assert (result.status, result.value) == ("failed", pytest.approx(0.2))


def test_all_gates_without_an_answer_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        judged(
            tmp_path,
            "min: 0, label: cat}, {metric: mean_average_precision, min: 0, label: dog",
            [row(0.5)],
        )
    assert len(caught.value.problems) == 2


def test_parameters_that_no_row_has(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'its parameters are {"iou_threshold": 0.5}'):
        judged(tmp_path, "min: 0, parameters: {iou_threshold: 0.9}", [row(0.5)])


def test_parameters_of_any_shape_find_their_row_in_the_baseline(tmp_path: Path) -> None:
    now = {"checks": ({"check": "exists", "path": "a"},), "k": (1, 2)}
    # As a file gives it back: lists for tuples, keys in another order.
    before = {"k": [1, 2], "checks": [{"path": "a", "check": "exists"}]}
    other = {"k": [1, 2], "checks": [{"path": "b", "check": "exists"}]}
    rows = [row(0.9, parameters=other), row(0.5, parameters=before)]
    (result,) = judged(tmp_path, "max_drop: 0.1", [row(0.45, parameters=now)], rows)
    assert (result.status, result.value) == ("passed", pytest.approx(0.05))


def coverage(share: float | None, metric: str = "mean_average_precision") -> CoverageResult:
    statuses = {"ok": 9, "missing_input": 1}
    return CoverageResult(metric, "m", None, {}, 10, statuses, share)


def covered(folder: Path, gate: str, *found: CoverageResult) -> list[GateResult]:
    return of_gates(folder, gate, [], None, found)


def test_a_gate_on_coverage_asks_it_of_every_metric(tmp_path: Path) -> None:
    both = coverage(0.9), coverage(1.0, "recall")
    results = covered(tmp_path, "{coverage: 0.95}", *both)
    assert [(one.metric, one.status, one.value) for one in results] == [
        ("mean_average_precision", "failed", 0.9),
        ("recall", "passed", 1.0),
    ]
    assert results[0].rule == "coverage"
    assert results[0].reason == "of 10 samples: 1 missing input"
    (one,) = covered(tmp_path, "{metric: recall, coverage: 0.95}", *both)
    assert one.status == "passed"
    (none,) = covered(tmp_path, "{coverage: 0.95}", coverage(None))
    assert none.status == "failed"


def test_a_gate_on_coverage_that_nothing_has_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no coverage"):
        covered(tmp_path, "{coverage: 0.95}")


@pytest.mark.parametrize("model", ["enc", "./models/enc", "/models/enc/"])
def test_a_gate_finds_its_model_by_name_or_folder(tmp_path: Path, model: str) -> None:
    rows = [row(0.5, parameters={"model": one}) for one in ("other", "enc")]
    gate = f"parameters: {{model: {model}}}, min: 0.1"
    (result,) = judged(tmp_path, gate, rows)
    assert result.parameters == {"model": "enc"}


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
    return [(one.status, one.value) for one in check_not_worse_gates(gates, rows)]


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
    (failed,) = check_not_worse_gates([gate("a")], [compared("a", -0.1, 0.01)])
    assert failed.reason == "-0.100 [-0.200, +0.000] against the baseline"


def test_p_values_are_adjusted_over_the_gates_alone() -> None:
    rows = [compared("a", -0.1, 0.03), compared("b", -0.1, 0.04), compared("c", -0.1, 1e-9)]
    # Two tests: 0.03 * 2 = 0.06, and 0.04 may not look surer than that; c has no gate.
    gates = [gate("a"), gate("b"), gate("z", rule="min", status="passed")]
    assert told(gates, rows) == [("passed", 0.06), ("passed", 0.06), ("passed", None)]


def test_what_could_not_be_tested_is_not_checked() -> None:
    untested = compared("a", -0.1, None, reason="other samples")
    (first, absent) = check_not_worse_gates([gate("a"), gate("b")], [untested])
    assert (first.status, first.reason) == ("not checked", "not tested: other samples")
    assert (absent.status, absent.reason) == ("not checked", "not in the baseline")
