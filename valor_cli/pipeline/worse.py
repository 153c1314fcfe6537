"""Gates on being no worse than a baseline, and what was compared, in; those gates judged out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from valor_cli.reports.naming import frozen
from valor_cli.results import NOT_WORSE, ComparisonResult, GateResult
from valor_cli.statistics.corrections import holm


def judge_worse(
    gates: Sequence[GateResult], comparisons: Sequence[ComparisonResult]
) -> list[GateResult]:
    """The gates, those of this rule judged by the paired tests of their rows.

    A run may have many of them, and each is a chance of a false alarm: their p-values are adjusted
    by Holm's method, over the gates of this rule and over nothing else. What could not be tested
    stays unchecked, and says why: nothing shows that it is worse, or that it is not.

    Args:
        gates: Of all rules.
        comparisons: The values of the run held against the baseline's.
    """
    found = {_key(row): row for row in comparisons}
    open_ones = (gate.rule == NOT_WORSE and gate.status == "not checked" for gate in gates)
    at = [number for number, is_open in enumerate(open_ones) if is_open]
    rows = [found.get(_key(gates[number])) for number in at]
    adjusted = holm([None if row is None else row.p for row in rows])
    judged = list(gates)
    for number, row, p in zip(at, rows, adjusted, strict=True):
        judged[number] = _judged(gates[number], row, p)
    return judged


def _judged(gate: GateResult, row: ComparisonResult | None, p: float | None) -> GateResult:
    if row is None:
        return gate
    if p is None:
        return replace(gate, reason=f"not tested: {row.reason}")
    if not _is_worse(row) or p >= gate.limit:
        return replace(gate, status="passed", value=p, reason=None)
    around = "" if row.interval is None else " [{:+.3f}, {:+.3f}]".format(*row.interval)
    told = f"{row.difference:+.3f}{around} against the baseline"
    return replace(gate, status="failed", value=p, reason=told)


def _is_worse(row: ComparisonResult) -> bool:
    difference = row.difference or 0.0
    return difference > 0 if row.direction == "lower" else difference < 0


def _key(row: ComparisonResult | GateResult) -> tuple[object, ...]:
    return row.metric, row.output, row.model, frozen(row.parameters)
