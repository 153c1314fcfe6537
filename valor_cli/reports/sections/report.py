"""The report of a run as a document: its gates, then all that was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from valor_cli.reports.digests.digest import Digest, digest
from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.gates import Gate
from valor_cli.reports.document import Cell, Column, Document, Section, Table, Tone, explore
from valor_cli.reports.sections import comparisons, diagnostics, findings, mistakes, values
from valor_cli.reports.sections.curves import curve_section
from valor_cli.reports.sections.headline import headline
from valor_cli.reports.sections.judges import judges
from valor_cli.reports.sections.run_details import coverage, run_record, warnings
from valor_cli.reports.sections.samples import samples, worst
from valor_cli.results import RunResult

_SYMBOLS = {"failed": "✗", "not checked": "?", "passed": "✓"}
_GATE_TONES: dict[str, Tone] = {"failed": "bad", "not checked": "caution", "passed": "good"}

_OUTCOMES = {"recall": "fn", "precision": "fp"}
"""What brings a metric down, as the explorer calls it."""

_BADGES = 8
"""Gates shown in brief above all else."""


def _badges(shown: Sequence[Gate], models: int) -> list[tuple[str, str]]:
    """The first gates in brief, failed ones first."""
    return [(_SYMBOLS[gate.status], _brief(gate, models > 1)) for gate in shown[:_BADGES]]


def _brief(gate: Gate, many: bool) -> str:
    parts = [clean(gate.subject, 60), clean(gate.where, 40) if gate.where else ""]
    parts += [clean(gate.model, 30) if many and gate.model else ""]
    told = gate.rule if gate.status == "not checked" else f"{gate.value} ({gate.rule})"
    return f"{' · '.join(filter(None, parts))}: {told}"


def _gates(shown: Sequence[Gate], models: int) -> Section | None:
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
        *([Column("reason", "text", drop=1)] if reasons else []),
    ]
    rows = [
        [
            Cell(gate.status, _GATE_TONES[gate.status], symbol=_SYMBOLS[gate.status]),
            Cell(
                f"{gate.subject} [{gate.where}]" if gate.where else gate.subject, link=_link(gate)
            ),
            *([Cell(gate.model)] if many else []),
            Cell(gate.rule, "quiet"),
            Cell(gate.value, _GATE_TONES[gate.status] if gate.status == "failed" else ""),
            *([Cell(gate.reason, "quiet")] if reasons else []),
        ]
        for gate in shown
    ]
    table = Table(columns, rows, caption="Gates", screen=(3, 8), page=60)
    counts = Counter(gate.status for gate in shown)
    told = ", ".join(f"{counts[status]:,} {status}" for status in _SYMBOLS if counts[status])
    return Section("Gates", "gates", (table,), told, folded=not counts["failed"], plain=True)


def _link(gate: Gate) -> str:
    """The samples that a failed gate is about: the false negatives of a recall that is too low."""
    one = gate.source
    if one is None or one.status != "failed" or one.slice is not None:
        return ""
    outcome = _OUTCOMES.get(one.metric)
    metric = None if outcome else one.metric
    return explore(model=one.model, label=one.label, outcome=outcome, metric=metric)


TONES: Final[dict[str, Tone]] = {"PASSED": "good", "FAILED": "bad", "INCOMPLETE": "caution"}

SECTIONS: Final[tuple[Callable[[Digest], Section | None], ...]] = (
    lambda d: _gates(d.gates, len(d.models)),
    headline,
    comparisons.models,
    comparisons.baseline,
    findings.failures,
    findings.problems,
    findings.insights,
    lambda d: warnings(d.result.warnings, d.missing, d.ignored),
    samples,
    values.slices,
    values.labels,
    mistakes.breakdown,
    mistakes.confusion,
    mistakes.images,
    curve_section,
    diagnostics.calibration,
    diagnostics.spread_of_values,
    worst,
    coverage,
    judges,
    run_record,
)
"""Is it good enough, is it better than before, where does it fail; then the details."""


def report(result: RunResult) -> Document:
    """All sections that the run has content for."""
    d = digest(result)
    return Document(
        word=d.verdict.word,
        symbol=d.verdict.symbol,
        detail=d.verdict.detail,
        tone=TONES.get(d.verdict.word, ""),
        title=d.task,
        scope=d.scope,
        alert=d.stopped,
        badges=_badges(d.gates, len(d.models)),
        models=d.models,
        sections=[one for one in (section(d) for section in SECTIONS) if one is not None],
    )
