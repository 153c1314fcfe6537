"""Gate results in words, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import against, against_share, clean
from valor_cli.reports.digests.grids import RowIndex, Scopes
from valor_cli.reports.digests.naming import LabelRows, short_name
from valor_cli.results import COVERAGE, NOT_WORSE, TOO_LOW, GateResult, RunResult
from valor_cli.results.identity import frozen

_ORDER = {"failed": 0, "not checked": 1, "passed": 2}
_RULES = {
    "min": "≥",
    "max": "≤",
    "max_drop": "drop ≤",
    NOT_WORSE: "not worse, p ≥",
    COVERAGE: "≥",
}


class Verdict(Struct, frozen=True):
    """The verdict on all gates; `detail` says of how many.

    `word` is PASSED, FAILED or DONE, or INCOMPLETE where a coverage is too low, judges failed, or
    a gate could not be checked.
    """

    word: str
    symbol: str
    detail: str


class Gate(Struct, frozen=True):
    """A gate in words; `source` is the one it is of, None for several together."""

    status: str
    subject: str
    where: str
    model: str
    rule: str
    value: str
    reason: str
    source: GateResult | None = None


def verdict(
    gates: Sequence[GateResult], *, incomplete: str | None = None, stopped: bool = False
) -> Verdict:
    """The verdict of a run; insufficient coverage takes precedence.

    Args:
        gates: The checked gates.
        incomplete: As in `RunResult`.
        stopped: Whether the run was, before all was asked.
    """
    counts = {status: sum(gate.status == status for gate in gates) for status in _ORDER}
    unchecked = f", {counts['not checked']} not checked" if counts["not checked"] else ""
    of_all = f"{_count(gates)}{unchecked}"
    short = sum(gate.status == "failed" and gate.rule == COVERAGE for gate in gates)
    others = counts["failed"] - short
    if short:
        more = f"; {others} failed" if others else ""
        # A model that is not there is what to mend first.
        missing = f"{incomplete}; " if incomplete not in (None, TOO_LOW) else ""
        return Verdict("INCOMPLETE", "◐", f"{missing}coverage too low in {short} of {of_all}{more}")
    if incomplete or stopped:
        none = "none failed" if counts["not checked"] else f"{_count(gates)}, none failed"
        more = f"{others} of {of_all} failed" if others else none
        more = more if gates else "no gates set"
        why = "the run was stopped" if stopped else incomplete
        return Verdict("INCOMPLETE", "◐", f"{why}; {more}")
    if others:
        return Verdict("FAILED", "✗", f"{others} of {of_all}")
    if counts["not checked"]:
        return Verdict("INCOMPLETE", "◐", f"{counts['not checked']} of {_count(gates)} not checked")
    if gates:
        return Verdict("PASSED", "✓", f"{counts['passed']} of {of_all}")
    return Verdict("DONE", "●", "no gates set")


def _count(gates: Sequence[GateResult]) -> str:
    return f"{len(gates)} gate" if len(gates) == 1 else f"{len(gates)} gates"


def stopped(result: RunResult) -> str:
    """Why requests were stopped, how far the run got and how to resume; empty if complete."""
    if not result.run.stopped:
        return ""
    parts = [clean(result.run.stopped, 200)]
    samples, reached = _reached(result)
    if samples:
        parts.append(f"the judges got to {reached:,} of {samples:,} samples")
    if not result.run.usage and "judge" not in result.settings:
        # No ledger knows of models of this machine; of them vectors alone are kept.
        kept = ": vectors that were made are kept" if "embedder" in result.settings else ""
        return "; ".join([*parts, f"run it again{kept}"])
    of_money = result.run.stopped_by == "budget"
    return "; ".join([*parts, "raise budget_usd, and " * of_money + "--resume goes on"])


def _reached(result: RunResult) -> tuple[int, int]:
    """How many samples there are, and how many some metric that asks judges was computed of."""
    asked = {row.metric for row in result.run.usage}
    samples = reached = 0
    for model in result.models:
        rows = [
            row
            for row in result.coverage
            if row.model == model and row.slice is None and row.metric in asked
        ]
        samples += max((row.samples for row in rows), default=0)
        reached += max((row.samples - row.statuses.get("skipped", 0) for row in rows), default=0)
    return samples, reached


def gates(
    held: Sequence[GateResult], rows: RowIndex, names: Scopes, keyed: LabelRows
) -> tuple[Gate, ...]:
    """All gates in words, failed ones first; passed coverage gates share one last line."""
    ordered = sorted(held, key=lambda gate: _ORDER[gate.status])
    passed = [gate for gate in ordered if _is_covered(gate)]
    if len(passed) < 2:
        return tuple(_gate(gate, rows, names, keyed) for gate in ordered)
    own = (_gate(gate, rows, names, keyed) for gate in ordered if not _is_covered(gate))
    return (*own, _together(passed))


def _is_covered(gate: GateResult) -> bool:
    return gate.rule == COVERAGE and gate.status == "passed"


def _together(passed: Sequence[GateResult]) -> Gate:
    least, limit = against_share(
        min(gate.value or 0.0 for gate in passed), max(gate.limit for gate in passed)
    )
    subject = f"coverage, {len(passed)} gates"
    return Gate("passed", subject, "", "", f"≥ {limit}", least, "the lowest of them")


def _gate(gate: GateResult, rows: RowIndex, names: Scopes, keyed: LabelRows) -> Gate:
    label, parameters = keyed.place(gate.metric, gate.output, gate.label, gate.parameters)
    measure = rows.measures.get((gate.metric, gate.output, frozen(parameters)))
    own = {name: gate.parameters[name] for name in parameters}
    where = [clean(part) for part in (label, gate.slice) if part is not None] + [
        detail for detail in [names.detail(gate.metric, label, own)] if detail
    ]
    if gate.rule == COVERAGE:
        subject = f"coverage of {short_name(gate.metric, '', gate.parameters)}"
        value, limit = against_share(gate.value, gate.limit)
    else:
        subject = short_name(gate.metric, gate.output, gate.parameters)
        unit = measure.unit if measure and gate.rule != NOT_WORSE else "fraction"
        value, limit = against(gate.value, gate.limit, unit)
    if gate.rule == NOT_WORSE and gate.value is not None:
        value = f"p {value}"
    return Gate(
        status=gate.status,
        subject=clean(subject),
        where=" / ".join(where),
        model=clean(gate.model, 60),
        rule=f"{_RULES.get(gate.rule, gate.rule)} {limit}",
        value=value,
        reason=clean(gate.reason, 200) if gate.reason else "",
        source=gate,
    )
