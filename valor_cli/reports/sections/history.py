"""The report of a history as a document: the trend of each value over many runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from valor_cli.reports.charts.trend import trend_chart
from valor_cli.reports.digests.history import HistoryDigest, Regressed, Trend, history_digest
from valor_cli.reports.document import (
    Block,
    Cell,
    Charts,
    Column,
    Document,
    Item,
    Items,
    Note,
    Samples,
    Section,
    Table,
)
from valor_cli.results.history import History

VALUES, LABELS, CHARTS = 60, 200, 60
"""Values and labels listed, and values drawn; history.json has all of them."""

WHERE = "history.json"

KEY = (("trend", "value"), ("band", "interval"), ("limit", "gate"), ("bad", "bad run"))


def history_report(history: History, out: str | None = None) -> Document:
    """The first bad run, every value with its trend, the labels that got worse, and the runs.

    Args:
        history: The runs.
        out: The folder of the report, from which it links to those of the runs; None: no links.
    """
    d = history_digest(history, out)
    last = f"last run {d.last.small}: {d.last.text}"
    sections = [_trends(d), _drawn(d), _labels(d), _explorer(d), _runs(d), _warnings(d), _notes(d)]
    return Document(
        word=d.word,
        symbol=d.symbol,
        detail=d.detail,
        tone=d.tone,
        title=f"{d.task}, history",
        scope=[*([d.reasons] if d.reasons else []), last],
        alert="",
        badges=(),
        models=(),
        sections=[one for one in sections if one is not None],
    )


def _trends(d: HistoryDigest) -> Section:
    """The values of each model, with a sparkline."""
    many = len(d.models) > 1
    most = max(VALUES // max(len(d.models), 1), 4)
    blocks: list[Block] = [_trend_table(model, trends, most, many) for model, trends in d.models]
    if not blocks:
        blocks.append(Note("The runs have no headline value; name one with --metric.", "", (1, 1)))
    return Section("Values", "values", blocks, plain=True)


def _trend_table(model: str, trends: Sequence[Trend], most: int, many: bool) -> Table:
    gated = any(one.gate.text for one in trends)
    columns = [
        Column(model if many else "", "text"),
        Column("trend"),
        Column("now"),
        *([Column("gate")] if gated else []),
        Column("since last"),
        Column("since first", drop=2),
        Column("first bad run", "text", drop=3),
    ]
    rows = [
        [
            Cell(f"{one.name} {one.arrow}".strip() + (f" [{one.where}]" if one.where else "")),
            one.spark,
            one.now,
            *([one.gate] if gated else []),
            one.since_last,
            one.since_first,
            one.first_bad,
        ]
        for one in trends[:most]
    ]
    left_out = max(len(trends) - most, 0)
    title = f"Values{f' of {model}' if many else ''}"
    return Table(columns, rows, title, screen=(40, 40), left_out=left_out, where=WHERE)


def _drawn(d: HistoryDigest) -> Section | None:
    """A chart for each value."""
    room, blocks = CHARTS, []
    for model, trends in d.models:
        charts = [
            replace(trend_chart(one, d.runs).chart(f"{one.title} {one.arrow}", "trends"), key=KEY)
            for one in trends[:room]
        ]
        room -= len(charts)
        if charts:
            blocks.append(Charts(charts, model if len(d.models) > 1 else ""))
    return Section("Trends", "trends", blocks) if blocks else None


def _labels(d: HistoryDigest) -> Section | None:
    """The labels that got worse between the last two runs, the largest drop first."""
    if not d.regressions:
        return None
    many = len(d.models) > 1
    columns = [
        Column("label", "text"),
        *([Column("model", "text")] if many else []),
        Column("value", "text"),
        *map(Column, ("before", "now", "change", "n")),
        Column("also", "text", drop=1),
    ]
    rows = [_label(one, many) for one in d.regressions[:LABELS]]
    left_out = len(d.regressions) - len(rows)
    table = Table(columns, rows, "Labels that got worse", page=20, screen=(4, 8), sortable=True,
                  left_out=left_out, where=WHERE)  # fmt: skip
    why = "Values of labels are not tested: of few objects (n), chance alone moves them much."
    return Section("Labels that got worse", "labels", (table, Note(why)), f"{d.regressed_since}")


def _label(one: Regressed, many: bool) -> list[Cell]:
    return [
        Cell(one.label),
        *([Cell(one.model)] if many else []),
        Cell(one.name),
        Cell(one.before),
        Cell(one.now),
        Cell(one.change, "bad"),
        Cell(one.n, "quiet"),
        Cell(one.also, "quiet"),
    ]


def _explorer(d: HistoryDigest) -> Section | None:
    """The samples of two runs, on pages."""
    return Section("Samples", "samples", (Samples(),)) if len(d.runs) > 1 else None


def _runs(d: HistoryDigest) -> Section:
    """The latest run first."""
    columns = [Column(name, "text") for name in ("run", "commit", "folder", "verdict")]
    columns += [Column("bad values")]
    rows = [
        [
            Cell(run.when, link=run.link),
            Cell(run.commit or "–", "quiet"),
            Cell(run.name, link=run.link),
            run.verdict,
            run.bad,
        ]
        for run in reversed(d.runs)
    ]
    table = Table(columns, rows, "Runs", page=60, screen=(6, 10), where=WHERE)
    return Section("Runs", "runs", (table,), f"{len(d.runs):,}", folded=True)


def _warnings(d: HistoryDigest) -> Section | None:
    """What else than the models changed."""
    if not d.warnings:
        return None
    items = Items([Item(one) for one in d.warnings], page=10, screen=(2, 4), where=WHERE)
    return Section("Warnings", "warnings", (items,))


def _notes(d: HistoryDigest) -> Section | None:
    if not d.notes:
        return None
    return Section("Notes", "notes", [Note(one, screen=(1, 1)) for one in d.notes], plain=True)
