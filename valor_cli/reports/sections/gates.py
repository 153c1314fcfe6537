"""Gates: in brief for the head of a report, and all of them as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.gates import Gate
from valor_cli.reports.document import Cell, Column, Section, Table, Tone, explore

SYMBOLS = {"failed": "✗", "not checked": "?", "passed": "✓"}
_TONES: dict[str, Tone] = {"failed": "bad", "not checked": "caution", "passed": "good"}

_OUTCOMES = {"recall": "fn", "precision": "fp"}
"""What brings a metric down, as the explorer calls it."""

BADGES = 8
"""Gates shown in brief above all else."""


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
            Cell(
                f"{gate.subject} [{gate.where}]" if gate.where else gate.subject, link=_link(gate)
            ),
            *([Cell(gate.model)] if many else []),
            Cell(gate.rule, "quiet"),
            Cell(gate.value, _TONES[gate.status] if gate.status == "failed" else ""),
            *([Cell(gate.reason, "quiet")] if reasons else []),
        ]
        for gate in shown
    ]
    table = Table(columns, rows, caption="Gates", screen=(3, 8), page=60)
    counts = Counter(gate.status for gate in shown)
    told = ", ".join(f"{counts[status]:,} {status}" for status in SYMBOLS if counts[status])
    return Section("Gates", "gates", (table,), told, folded=not counts["failed"], plain=True)


def _link(gate: Gate) -> str:
    """The samples that a failed gate is about: the false negatives of a recall that is too low."""
    one = gate.source
    if one is None or one.status != "failed" or one.slice is not None:
        return ""
    outcome = _OUTCOMES.get(one.metric)
    metric = None if outcome else one.metric
    return explore(model=one.model, label=one.label, outcome=outcome, metric=metric)
