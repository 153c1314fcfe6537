"""Markdown report of a run, for pull requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from valor_cli.reports.render.html.differences import differences
from valor_cli.reports.render.markdown.comparisons import baseline, notes, pairs, searches
from valor_cli.reports.render.markdown.escaping import escaped, folded, table
from valor_cli.reports.render.markdown.findings import (
    breakdown,
    calibration,
    confusions,
    spread,
    worst,
)
from valor_cli.reports.render.markdown.judges import judges
from valor_cli.reports.render.markdown.samples import coverage, insights, problems, worst_texts
from valor_cli.reports.render.markdown.values import headline, labels, slices
from valor_cli.reports.sections.digest import Digest, digest
from valor_cli.reports.sections.formatting import clean, shown_input
from valor_cli.reports.sections.gates import Gate
from valor_cli.reports.sections.grids import FEW_MARK, few_of
from valor_cli.reports.sections.intervals import interval_text, small_n_note
from valor_cli.results import RunInfo, RunResult

ROOM = 65_000
"""Characters of the whole: GitHub takes 65,536 of a comment."""

BADGES = 6
GATES = 40
WARNINGS = 15
INPUTS = 30
"""Gates beside the verdict, gates listed, warnings, and files that were read."""

_SYMBOLS = {"passed": "✓", "failed": "✗", "not checked": "?"}
_MARKS = {"passed": "✓ passed", "failed": "✗ **failed**", "not checked": "? not checked"}


def to_markdown(result: RunResult, prepared: Digest | None = None) -> str:
    """The report; every word from the data is escaped.

    First what a reviewer needs to know, then folded blocks for those who ask further. Where all of
    it is longer than a comment may be, the longest blocks give way, and the last line names them.
    """
    told = digest(result) if prepared is None else prepared
    compared = differences(result)
    sections: dict[str, Iterable[str]] = {
        "verdict": _verdict(told),
        "values": headline(told, compared, [*_notes(result, told), *notes(compared, told)]),
        "gates": _gates(result, told),
        "problems": problems(result),
        "the baseline": baseline(compared),
        "models against each other": pairs(compared, told),
        "found slices": searches(result, told),
        "insights": insights(result),
        "warnings": _warnings(result.warnings, told),
        "slices": slices(told),
        "labels": labels(told),
        "errors": breakdown(result, told),
        "confusions": confusions(result, told),
        "calibration": calibration(result, told),
        "spread": spread(result, told),
        "worst images": worst(result, told),
        "worst samples": worst_texts(result, told),
        "coverage": coverage(result, told),
        "judges": judges(result, told),
        "run": _run(result.run, told),
    }
    texts = {name: "\n".join(lines) for name, lines in sections.items()}
    return "\n\n".join(_fitting({name: text for name, text in texts.items() if text})) + "\n"


def _fitting(texts: dict[str, str]) -> list[str]:
    """The sections that there is room for; the verdict always stays."""
    left_out: list[str] = []
    while sum(len(text) + 2 for text in texts.values()) > ROOM and len(texts) > 1:
        longest = max(
            (name for name in texts if name != "verdict"), key=lambda one: len(texts[one])
        )
        del texts[longest]
        left_out.append(longest)
    message = f"Left out for want of room: {', '.join(left_out)}. The HTML report has them."
    return [*texts.values(), *([message] if left_out else [])]


def _verdict(told: Digest) -> Iterator[str]:
    yield f"## {told.verdict.symbol} {told.verdict.word} · {told.verdict.detail}"
    yield ""
    if told.stopped:
        yield f"**STOPPED**: {escaped(told.stopped)}"
        yield ""
    if told.gates:
        many = len(told.models) > 1
        badges = [_badge(gate, many=many) for gate in told.gates[:BADGES]]
        if len(told.gates) > BADGES:
            badges.append(f"… {len(told.gates) - BADGES:,} more")
        yield " ".join(f"<kbd>{badge}</kbd>" for badge in badges)
        yield ""
    yield f"**{escaped(told.task)}** · " + " · ".join(map(escaped, told.scope))


def _badge(gate: Gate, *, many: bool) -> str:
    parts = [clean(gate.subject, 60), clean(gate.where, 40) if gate.where else ""]
    parts += [clean(gate.model, 30) if many and gate.model else ""]
    subject = escaped(" · ".join(filter(None, parts)))
    asked = escaped(gate.rule)
    found = asked if gate.status == "not checked" else f"{gate.value} ({asked})"
    return f"{_SYMBOLS[gate.status]} {subject}: {found}"


def _notes(result: RunResult, told: Digest) -> Iterator[str]:
    """Notes on all headline numbers."""
    cells = [cell for line in told.headline.lines for cells in line.cells for cell in cells]
    if any(cell.interval for cell in cells):
        how = interval_text(result, told.unit)
        if how:
            yield how
    if few := few_of(told.headline.lines):
        yield f"{FEW_MARK} {small_n_note(few)}"


def _gates(result: RunResult, told: Digest) -> Iterator[str]:
    """To be seen where one failed, folded where none did."""
    if not told.gates:
        return
    counts = Counter[str](gate.status for gate in result.gates)
    if counts["failed"]:
        yield "### Gates"
        yield ""
        yield from _gate_table(told)
        return
    shown = [f"{counts[status]:,} {status}" for status in _MARKS if counts[status]]
    yield from folded(f"Gates ({', '.join(shown)})", _gate_table(told))


def _gate_table(told: Digest) -> Iterator[str]:
    many = len(told.models) > 1
    reasons = any(gate.reason for gate in told.gates[:GATES])
    rows = []
    for gate in told.gates[:GATES]:
        subject = escaped(f"{gate.subject} · {gate.where}" if gate.where else gate.subject)
        model = [escaped(gate.model)] if many else []
        cells = [escaped(gate.rule), gate.value, *([escaped(gate.reason)] if reasons else [])]
        rows.append([_MARKS[gate.status], subject, *model, *cells])
    headings = ["status", "metric", *(["model"] if many else []), "rule", "value"]
    headings += ["reason"] if reasons else []
    yield from table(headings, rows, left=len(headings))
    if len(told.gates) > GATES:
        yield ""
        yield f"… and {len(told.gates) - GATES:,} more in results.json."


def _warnings(warnings: Sequence[str], told: Digest) -> Iterator[str]:
    found = [f"- {escaped(clean(warning, 400))}" for warning in warnings]
    found += [f"- No predictions for labels of {escaped(line)}" for line in told.missing]
    found += [f"- No ground truth for labels of {escaped(line)}" for line in told.ignored]
    if not found:
        return
    yield "### Warnings"
    yield ""
    yield from found[:WARNINGS]
    if len(found) > WARNINGS:
        yield f"- … and {len(found) - WARNINGS:,} more in results.json"


def _run(run: RunInfo, told: Digest) -> Iterator[str]:
    yield from folded("Run", _facts(run, told))


def _facts(run: RunInfo, told: Digest) -> Iterator[str]:
    facts = {
        "valor": run.valor_version,
        "started": run.started_at,
        "duration": f"{run.duration_s:.2f} s",
        "command": run.command,
        "config": run.config,
        "config sha256": run.config_sha256,
        **dict(told.settings),
        **({"models asked": ", ".join(run.models_used)} if run.models_used else {}),
        **run.packages,
    }
    named = [[escaped(clean(k)), escaped(clean(v, 400))] for k, v in facts.items()]
    yield from table(["", ""], named, left=2)
    yield ""
    shown = map(shown_input, run.inputs[:INPUTS])
    inputs = [[escaped(path), rows, skipped, sha[:12]] for path, rows, skipped, sha in shown]
    yield from table(["input", "rows", "skipped", "sha256"], inputs)
    if len(run.inputs) > INPUTS:
        yield ""
        yield f"… and {len(run.inputs) - INPUTS:,} more in results.json."
