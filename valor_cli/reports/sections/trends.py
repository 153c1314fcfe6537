"""Values over the runs of a history: their trends as a table, and as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.reports.charts.trend import trend_chart
from valor_cli.reports.digests.compared_values import MARKS, TONES, probability
from valor_cli.reports.digests.formatting import NO_VALUE, clean, number, signed, span
from valor_cli.reports.digests.grids import ARROWS
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import Cell, Chart, Charts, Column, Section, Table, Tone
from valor_cli.results.history import Bad, HistoryRow
from valor_cli.results.identity import row_key

WHERE = "history.json"

CHARTS = 60
"""Values drawn; history.json has all of them."""

KEY = (("trend", "value"), ("band", "interval"), ("limit", "gate"), ("bad", "bad run"))

VERDICTS: Mapping[str, tuple[str, Tone]] = {
    "passed": ("✓", "good"),
    "failed": ("✗", "bad"),
    "incomplete": ("◐", "caution"),
    "done": ("●", ""),
}
UNCHECKED: tuple[str, Tone] = ("?", "caution")
"""The sign and the tone of a run's verdict, and of a gate that was not checked."""

LEVELS = "▁▂▃▄▅▆▇█"
MISSING = "·"

SPARKS = 30
"""Runs in a sparkline, the latest ones."""

REASONS: Mapping[Bad, str] = {
    "gate": "gate failed",
    "previous": "worse than the run before",
    "best": "worse than the best run",
}

_NONE = Cell(NO_VALUE, "quiet")


class Trend(Struct, frozen=True):
    """A value over all runs.

    Attributes:
        title: The metric with what tells it from its siblings, the label and the slice.
        rows: Those of the runs that have the value.
        points: One for each run; None where it does not have the value.
    """

    title: str
    model: str
    rows: Sequence[HistoryRow]
    points: Sequence[HistoryRow | None]


def trends_by_model(rows: Sequence[HistoryRow], runs: int) -> dict[str, list[Trend]]:
    """The trends that reports show, by model.

    Args:
        rows: All values.
        runs: How many runs there are.
    """
    names = Names((row.metric, row.parameters) for row in rows)
    by_value: dict[object, list[HistoryRow]] = {}
    for row in rows:
        by_value.setdefault(row_key(row), []).append(row)
    found: dict[str, list[Trend]] = {}
    for own in by_value.values():
        if own[0].trend:
            row, by_run = own[-1], {one.run: one for one in own}
            where = " / ".join(clean(one) for one in (row.label, row.slice) if one is not None)
            name = names.title(row.metric, row.output, row.parameters)
            named = f"{name} {ARROWS[row.direction]}".rstrip() + (f" [{where}]" if where else "")
            points = [by_run.get(at) for at in range(runs)]
            found.setdefault(row.model, []).append(Trend(named, clean(row.model, 60), own, points))
    return found


def trend_table(
    shown: Sequence[Trend], left_out: int, ticks: Sequence[tuple[str, str]], where: str, of: str
) -> Table:
    """Each value with a sparkline, its last changes and its first bad run.

    Args:
        shown: Of one model.
        left_out: How many others there are.
        ticks: Names of the runs in two lines.
        where: What has the others.
        of: The model, where there are several.
    """
    gates = [_gate(one.rows) for one in shown]
    gated = any(cell.text for cell in gates)
    columns = [
        Column(of, "text"),
        Column("trend"),
        Column("now"),
        *([Column("gate")] if gated else []),
        Column("since last"),
        Column("since first", drop=2),
        Column("first bad run", "text", drop=3),
    ]
    rows = [
        [
            Cell(one.title),
            Cell(sparkline(one.points)),
            _now(one.points[-1]),
            *([gate] if gated else []),
            _since_last(one.points[-1]),
            _since_first(one.points[-1]),
            _first_bad(one.rows, ticks),
        ]
        for one, gate in zip(shown, gates, strict=True)
    ]
    title = f"Values{f' of {of}' if of else ''}"
    return Table(columns, rows, title, screen=(40, 40), left_out=left_out, where=where)


def sparkline(points: Sequence[HistoryRow | None]) -> str:
    """The latest values as heights of blocks."""
    shown = [None if one is None else one.value for one in points[-SPARKS:]]
    known = [value for value in shown if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)

    def drawn(value: float | None) -> str:
        if value is None:
            return MISSING
        part = (value - low) / (high - low) if high > low else 0.5
        return LEVELS[min(int(part * len(LEVELS)), len(LEVELS) - 1)]

    return "".join(map(drawn, shown))


def _interval(row: HistoryRow) -> str:
    if row.interval_low is None or row.interval_high is None:
        return ""
    return span((row.interval_low, row.interval_high), row.unit)


def _why(row: HistoryRow) -> str:
    """Why a value is bad, with the p-values of its tests."""
    told = []
    for reason in row.bad:
        p = {"previous": row.p, "best": row.best_p}.get(reason)
        told.append(f"{REASONS[reason]} (p {probability(p)})" if p is not None else REASONS[reason])
    return ", ".join(told)


def _now(row: HistoryRow | None) -> Cell:
    if row is None:
        return replace(_NONE, title="the last run does not have it")
    if row.value is None:
        return replace(_NONE, title=clean(row.undefined or "", 200))
    return Cell(number(row.value, row.unit), "bad" if row.bad else "", _interval(row))


def _gate(rows: Sequence[HistoryRow]) -> Cell:
    """Limit and status in the last run that has a gate."""
    row = next((one for one in reversed(rows) if one.gate is not None), None)
    if row is None or row.gate is None:
        return Cell("")
    limits = [
        f"{sign} {number(limit, row.unit)}"
        for sign, limit in (("≥", row.gate_min), ("≤", row.gate_max))
        if limit is not None
    ]
    mark, tone = VERDICTS.get(row.gate, UNCHECKED)
    return Cell(" ".join([", ".join(limits), mark]).strip(), tone, title=row.gate)


def _since_last(row: HistoryRow | None) -> Cell:
    if row is None or row.change is None:
        return _NONE
    told = signed(row.change, row.unit)
    if row.verdict is None or (not row.change and row.verdict == "not tested"):
        return Cell(told, "quiet")
    mark, tone = MARKS[row.verdict], TONES[row.verdict]
    p = "" if row.p is None else f"p {probability(row.p)}"
    why = "; ".join(filter(None, (p, clean(row.reason, 200) if row.reason else "")))
    # Of what cannot be told apart the p-value adds nothing.
    decided = f", {p}" if row.verdict in ("better", "worse") else ""
    return Cell(told, tone, f"{mark} {row.verdict}{decided}", title=why)


def _since_first(row: HistoryRow | None) -> Cell:
    if row is None or row.first_change is None:
        return _NONE
    return Cell(signed(row.first_change, row.unit))


def _first_bad(rows: Sequence[HistoryRow], ticks: Sequence[tuple[str, str]]) -> Cell:
    row = next((one for one in rows if one.bad), None)
    if row is None:
        return _NONE
    when, name = ticks[row.run]
    return Cell(when, "bad", f"{name} {_why(row)}", title=_why(row))


def drawn_trends(
    models: Sequence[Sequence[Trend]], ticks: Sequence[tuple[str, str]]
) -> Section | None:
    """A chart for each value, by model."""
    room, blocks = CHARTS, []
    for shown in models:
        charts = [_chart(one, ticks) for one in shown[:room]]
        room -= len(charts)
        if charts:
            blocks.append(Charts(charts, shown[0].model if len(models) > 1 else ""))
    return Section("Trends", "trends", blocks) if blocks else None


def _chart(one: Trend, ticks: Sequence[tuple[str, str]]) -> Chart:
    told = [
        "" if row is None else _point(row, tick)
        for row, tick in zip(one.points, ticks, strict=True)
    ]
    chart = trend_chart(one.title, one.points, told, ticks)
    return replace(chart, title=one.title, kind="trends", key=KEY)


def _point(row: HistoryRow, tick: tuple[str, str]) -> str:
    """A value in words, with its run and why it is bad."""
    told = f"{' '.join(tick)}: {number(row.value, row.unit)} {_interval(row)}".strip()
    if row.value is None and row.undefined:
        told += f" ({clean(row.undefined, 120)})"
    return f"{told}; {_why(row)}" if row.bad else told
