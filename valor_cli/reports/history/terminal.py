"""Terminal summary of a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rich.console import RenderableType
from rich.text import Text

from valor_cli.reports.history.digest import (
    Cell,
    HistoryDigest,
    Regressed,
    ShownRun,
    Tone,
    Trend,
    history_digest,
)
from valor_cli.reports.render.terminal.table_width import Fitting, Page, table
from valor_cli.reports.sections.formatting import clean
from valor_cli.results.history import History

VALUES, RUNS, LABELS, WARNINGS = 40, 10, 8, 4
"""Rows shown of a model's values, of runs, of labels, and of warnings."""

Models: TypeAlias = Sequence[tuple[str, Sequence[Trend]]]

_FORMS = ((True, True, True), (True, False, True), (False, False, True), (False, False, False))
"""Forms of the table of values, the widest first: with intervals, with the change since the first
run, and with verdicts."""

_STYLES: dict[Tone, str] = {
    "": "none",
    "good": "green",
    "bad": "red",
    "caution": "yellow",
    "quiet": "dim",
}


def history_summary(history: History, files: Sequence[str] = ()) -> RenderableType:
    """The first bad run first, the files last; colour only repeats the text."""
    digest = history_digest(history)
    style = {"bad": "bold red"}.get(digest.tone, "bold")
    parts: list[RenderableType] = [
        Text.assemble((f"{digest.symbol} {digest.word}", style), f"  {digest.detail}")
    ]
    if digest.reasons:
        parts.append(Text(f"  {digest.reasons}"))
    last = digest.last
    parts.append(
        Text.assemble(("  last run ", "dim"), f"{last.small}  ", (last.text, _STYLES[last.tone]))
    )
    parts += ["", *_trends(digest.models)]
    parts += ["", *_runs(digest.runs)]
    if digest.regressions:
        parts += ["", *_labels(digest)]
    if digest.warnings:
        parts += ["", Text("Warnings", style="bold yellow")]
        parts += [Text(f"  {warning}") for warning in digest.warnings[:WARNINGS]]
        parts += _more(len(digest.warnings) - WARNINGS)
    if digest.notes:
        parts += ["", *(Text(note, style="dim") for note in digest.notes)]
    shown = [clean(file, 200) for file in files]
    if shown:
        apart = [Text("Report", style="bold"), *(Text(file, overflow="fold") for file in shown)]
        whole = Text.assemble(("Report", "bold"), "  ", "\n        ".join(shown), no_wrap=True)
        parts += ["", Fitting([[whole], apart])]
    return Page(parts, [f"Report  {file}" for file in shown])


def _trends(models: Models) -> Iterator[RenderableType]:
    most = max(VALUES // max(len(models), 1), 4)
    shown = [(model, trends[:most]) for model, trends in models]
    yield Fitting([_trend_table(shown, *form)] for form in _FORMS)
    yield from _more(sum(max(len(trends) - most, 0) for _, trends in models), " values")


def _trend_table(models: Models, interval: bool, first: bool, verdict: bool) -> RenderableType:
    gated = any(one.gate.text for _, trends in models for one in trends)
    headings = ["", "trend", "now", *(["gate"] if gated else []), "since last"]
    headings += [*(["since first"] if first else []), "first bad"]
    made = table(*headings, width=11)
    made.columns[1].justify = made.columns[-1].justify = "left"
    for model, trends in models:
        if len(models) > 1:
            made.add_row(Text(model, style="bold"))
        for one in trends:
            name = Text(f"{one.name} {one.arrow}".strip())
            if one.where:
                name.append(f" [{one.where}]", style="dim")
            cells = [Text.assemble(*((mark, _STYLES[tone]) for mark, tone in one.spark))]
            cells.append(_cell(one.now, small=interval))
            cells += [_cell(one.gate)] if gated else []
            cells.append(_cell(one.since_last, small=verdict))
            cells += [_cell(one.since_first)] if first else []
            cells.append(_cell(one.first_bad, small=False))
            made.add_row(name, *cells)
    return made


def _cell(cell: Cell, *, small: bool = True) -> Text:
    text = Text(cell.text, style=_STYLES[cell.tone])
    if small and cell.small:
        text.append(f" {cell.small}", style="dim" if cell.tone in ("", "quiet") else "")
    return text


def _runs(runs: Sequence[ShownRun]) -> Iterator[RenderableType]:
    made = table("run", "commit", "folder", "verdict", "bad values")
    for column in made.columns[1:4]:
        column.justify = "left"
    shown = runs[-RUNS:]
    if len(runs) > len(shown):
        yield Text(f"  … {len(runs) - len(shown):,} earlier runs", style="dim")
    for run in shown:
        made.add_row(
            Text(run.when),
            Text(run.commit),
            Text(run.name),
            _cell(run.verdict),
            _cell(run.bad),
        )
    yield made


def _labels(digest: HistoryDigest) -> Iterator[RenderableType]:
    yield Text.assemble(
        ("Labels that got worse", "bold"), (f"  {digest.regressed_since}, not tested", "dim")
    )
    many = len(digest.models) > 1
    shown = digest.regressions[:LABELS]
    also = any(one.also for one in shown)
    yield Fitting([_label_table(shown, many, told)] for told in dict.fromkeys((also, False)))
    yield from _more(len(digest.regressions) - LABELS)


def _label_table(shown: Sequence[Regressed], many: bool, also: bool) -> RenderableType:
    headings = ["label", *(["model"] if many else []), "value", "before", "now", "change", "n"]
    made = table(*headings, *(["also"] if also else []))
    for name in ("model", "value", "also"):
        for column, heading in zip(made.columns, [*headings, "also"], strict=False):
            if heading == name:
                column.justify = "left"
    for one in shown:
        cells = [Text(one.model)] if many else []
        cells += [Text(one.name), Text(one.before), Text(one.now), Text(one.change, style="red")]
        cells.append(Text(one.n, style="dim"))
        cells += [Text(one.also, style="dim")] if also else []
        made.add_row(Text(one.label), *cells)
    return made


def _more(count: int, of: str = "") -> Iterator[RenderableType]:
    if count > 0:
        yield Text(f"  … {count:,} more{of}", style="dim")
