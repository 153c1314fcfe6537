"""Gate results in words, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.document import Cell, Column, Section, Table, Tone
from valor_cli.reports.sections.formatting import against, against_share, clean
from valor_cli.reports.sections.grids import RowIndex, Scopes
from valor_cli.reports.sections.naming import frozen, short_name
from valor_cli.reports.sections.row_keys import LabelRows
from valor_cli.results import COVERAGE, NOT_WORSE, TOO_LOW, GateResult

_ORDER = {"failed": 0, "not checked": 1, "passed": 2}
SYMBOLS = {"failed": "✗", "not checked": "?", "passed": "✓"}
_TONES: dict[str, Tone] = {"failed": "bad", "not checked": "caution", "passed": "good"}

BADGES = 8
"""Gates shown in brief above all else."""

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
    """A gate in words."""

    status: str
    subject: str
    where: str
    model: str
    rule: str
    value: str
    reason: str


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
    )


def badges(shown: Sequence[Gate], models: int) -> list[tuple[str, str]]:
    """The first gates in brief, failed ones first."""
    return [(SYMBOLS[gate.status], _brief(gate, models > 1)) for gate in shown[:BADGES]]


def _brief(gate: Gate, many: bool) -> str:
    parts = [clean(gate.subject, 60), clean(gate.where, 40) if gate.where else ""]
    parts += [clean(gate.model, 30) if many and gate.model else ""]
    told = gate.rule if gate.status == "not checked" else f"{gate.value} ({gate.rule})"
    return f"{' · '.join(filter(None, parts))}: {told}"


def section(shown: Sequence[Gate], models: int) -> Section | None:
    """All gates with their rule and value; pages fold them where none failed."""
    if not shown:
        return None
    many, reasons = models > 1, any(gate.reason for gate in shown)
    columns = [
        Column("", "text"),
        Column("gate", "text"),
        *([Column("model", "text")] if many else []),
        Column("rule"),
        Column("value"),
        *([Column("reason", "text")] if reasons else []),
    ]
    rows = [
        [
            Cell(gate.status, _TONES[gate.status], symbol=SYMBOLS[gate.status]),
            Cell(f"{gate.subject} [{gate.where}]" if gate.where else gate.subject),
            *([Cell(gate.model)] if many else []),
            Cell(gate.rule, "quiet"),
            Cell(gate.value, _TONES[gate.status] if gate.status == "failed" else ""),
            *([Cell(gate.reason, "quiet")] if reasons else []),
        ]
        for gate in shown
    ]
    table = Table(columns, rows, caption="Gates", screen=(3, 8), page=60)
    counts = Counter(gate.status for gate in shown)
    told = ", ".join(f"{counts[status]:,} {status}" for status in _ORDER if counts[status])
    return Section("Gates", "gates", (table,), told, folded=not counts["failed"], plain=True)
