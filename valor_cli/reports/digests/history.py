"""What reports show of a history: rows of cells, in words, for every medium."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from valor_cli.reports.digests.compared_values import MARKS, TONES, probability
from valor_cli.reports.digests.formatting import NO_VALUE, clean, number, signed, span, words
from valor_cli.reports.digests.grids import ARROWS
from valor_cli.reports.digests.naming import Names, frozen
from valor_cli.reports.document import Cell, Tone
from valor_cli.results.history import Bad, History, HistoryRow, HistoryRun, LabelRegression

RUN_MARKS: Mapping[str, tuple[str, Tone]] = {
    "passed": ("✓", "good"),
    "failed": ("✗", "bad"),
    "incomplete": ("◐", "caution"),
    "done": ("●", ""),
}
UNCHECKED: tuple[str, Tone] = ("?", "caution")
"""The sign and the tone of a run's verdict, and of a gate that was not checked."""

LEVELS = "▁▂▃▄▅▆▇█"
MISSING = "·"
COMMIT = 7
"""Characters of a commit that are shown."""

SPARKS = 30
"""Runs in a sparkline, the latest ones."""

REASONS: Mapping[Bad, str] = {
    "gate": "gate failed",
    "previous": "worse than the run before",
    "best": "worse than the best run",
}

ALSO = 3
"""Other values of a label that are named beside the one that dropped most."""


class ShownRun(Struct, frozen=True):
    """A run in words.

    Attributes:
        tick: The two lines of its place on an axis: the time, and the commit or the folder.
        when: The time in full.
        name: Its folder.
        bad: The number of its bad values, and of failed gates.
        link: URL of its own report, relative to that of the history; empty without one.
    """

    number: int
    tick: tuple[str, str]
    when: str
    commit: str
    name: str
    verdict: Cell
    bad: Cell
    link: str


class Point(Struct, frozen=True):
    """A value of a trend.

    Attributes:
        told: The value in words, with its run and why it is bad.
    """

    value: float | None
    low: float | None
    high: float | None
    gate_min: float | None
    gate_max: float | None
    bad: bool
    told: str


class Trend(Struct, frozen=True):
    """A value over all runs.

    Attributes:
        name: The metric with what tells it from its siblings; `where` the label and the slice.
        points: One for each run; None where the run does not have the value.
        spark: The sparkline of the latest runs.
        now: The last value, with its interval.
        gate: Limit and status in the last run that has a gate.
    """

    name: str
    where: str
    model: str
    unit: str
    arrow: str
    points: tuple[Point | None, ...]
    spark: Cell
    now: Cell
    gate: Cell
    since_last: Cell
    since_first: Cell
    first_bad: Cell

    @property
    def title(self) -> str:
        """The name with the label and the slice."""
        return f"{self.name} [{self.where}]" if self.where else self.name


class Regressed(Struct, frozen=True):
    """A label that got worse, with the value that dropped most."""

    label: str
    model: str
    name: str
    before: str
    now: str
    change: str
    n: str
    also: str


class HistoryDigest(Struct, frozen=True):
    """A history in words; untrusted text is cleaned but not escaped.

    Attributes:
        word, tone: Whether there is a bad run.
        detail: Which one, and why; `last` says how the last run is.
        models: The trends of each model.
        regressed_since: The two runs between which labels regressed, in words.
        notes: What the verdicts mean.
    """

    task: str
    word: str
    symbol: str
    tone: Tone
    detail: str
    reasons: str
    last: Cell
    runs: tuple[ShownRun, ...]
    models: tuple[tuple[str, tuple[Trend, ...]], ...]
    regressions: tuple[Regressed, ...]
    regressed_since: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def history_digest(history: History, out: str | None = None) -> HistoryDigest:
    """The content that all reports share.

    Args:
        history: The runs.
        out: The folder of the report, from which it links to those of the runs; None: no links.
    """
    runs = _runs(history.runs, out)
    names = Names((row.metric, row.parameters) for row in history.rows)
    trends: dict[str, list[Trend]] = {}
    for rows in _by_value(history.rows):
        if rows[0].trend:
            trends.setdefault(rows[0].model, []).append(_trend(rows, runs, names))
    word, symbol, tone, detail, reasons = _verdict(history, runs)
    before = " → ".join(_ends(runs[-2:])) if len(runs) > 1 else ""
    return HistoryDigest(
        task=words(history.task),
        word=word,
        symbol=symbol,
        tone=tone,
        detail=detail,
        reasons=reasons,
        last=_last(history, runs),
        runs=runs,
        models=tuple((clean(model, 60), tuple(found)) for model, found in trends.items()),
        regressions=_regressions(history.regressions),
        regressed_since=before,
        warnings=tuple(clean(warning, 300) for warning in history.warnings),
        notes=_notes(history),
    )


def _ends(runs: Sequence[ShownRun]) -> list[str]:
    """Runs by their times, or by their names if they began in one minute."""
    times = [run.when for run in runs]
    return times if len(set(times)) == len(times) else [run.name for run in runs]


def _by_value(rows: Sequence[HistoryRow]) -> list[list[HistoryRow]]:
    found: dict[object, list[HistoryRow]] = {}
    for row in rows:
        key = row.metric, row.output, row.model, row.label, row.slice, frozen(row.parameters)
        found.setdefault(key, []).append(row)
    return list(found.values())


def _runs(runs: Sequence[HistoryRun], out: str | None) -> tuple[ShownRun, ...]:
    times = [run.started_at[:16].replace("T", " ") for run in runs]
    ticks = _ticks(times)
    found = []
    for run, when, tick in zip(runs, times, ticks, strict=True):
        folder = _folder(run.path)
        name = clean(os.path.basename(os.path.abspath(folder)), 40)
        commit = clean(run.commit[:COMMIT]) if run.commit else ""
        mark, tone = RUN_MARKS[run.verdict]
        found.append(
            ShownRun(
                number=run.run,
                tick=(clean(tick, 24), commit or name),
                when=clean(when),
                commit=commit,
                name=name,
                verdict=Cell(f"{mark} {run.verdict}", tone),
                bad=_bad_of(run),
                link="" if out is None else _link(folder, out),
            )
        )
    return tuple(found)


def _folder(path: str) -> str:
    if os.path.isdir(path) or not path.endswith(".json"):
        return path
    return os.path.dirname(path) or os.curdir


def _ticks(times: Sequence[str]) -> list[str]:
    """Times without what all have in common: the year, or the day, or the time of day."""
    days = [when[:10] for when in times]
    if len(set(days)) == len(days):
        return [day[5:] for day in days] if len({day[:4] for day in days}) == 1 else days
    return [when[11:] for when in times] if len(set(days)) == 1 else [when[5:] for when in times]


def _bad_of(run: HistoryRun) -> Cell:
    gates = f"{run.failed_gates} failed gate{'s' * (run.failed_gates != 1)}"
    return Cell(
        f"{run.bad:,}" if run.bad else NO_VALUE,
        "bad" if run.bad or run.failed_gates else "quiet",
        f"· {gates}" if run.failed_gates else "",
    )


def _link(folder: str, out: str) -> str:
    """The URL of a run's own report, if there is one."""
    from urllib.parse import quote

    report = os.path.join(folder, "report.html")
    if not os.path.isfile(report):
        return ""
    try:
        return quote(os.path.relpath(report, out).replace(os.sep, "/"))
    except ValueError:
        return ""  # on another drive


def _trend(rows: Sequence[HistoryRow], runs: Sequence[ShownRun], names: Names) -> Trend:
    row = rows[-1]
    by_run = {one.run: one for one in rows}
    points = tuple(
        _point(by_run[run.number], run) if run.number in by_run else None for run in runs
    )
    where = [clean(part) for part in (row.label, row.slice) if part is not None]
    now = by_run.get(runs[-1].number)
    return Trend(
        name=_name(row, names),
        where=" / ".join(where),
        model=clean(row.model, 60),
        unit=row.unit,
        arrow=ARROWS[row.direction],
        points=points,
        spark=_spark(points),
        now=_now(now),
        gate=_gate(rows),
        since_last=Cell(NO_VALUE, "quiet") if now is None else _since_last(now),
        since_first=_since_first(now),
        first_bad=_first_bad(rows, runs),
    )


def _name(row: HistoryRow | LabelRegression, names: Names) -> str:
    return names.title(row.metric, row.output, row.parameters)


def _point(row: HistoryRow, run: ShownRun) -> Point:
    told = f"{' '.join(run.tick)}: {number(row.value, row.unit)} {_interval(row)}".strip()
    if row.value is None and row.undefined:
        told += f" ({clean(row.undefined, 120)})"
    if row.bad:
        told += f"; {_why(row)}"
    return Point(
        row.value,
        row.interval_low,
        row.interval_high,
        row.gate_min,
        row.gate_max,
        bool(row.bad),
        told,
    )


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


def _spark(points: Sequence[Point | None]) -> Cell:
    shown = points[-SPARKS:]
    known = [one.value for one in shown if one is not None and one.value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)

    def drawn(one: Point | None) -> str:
        if one is None or one.value is None:
            return MISSING
        part = (one.value - low) / (high - low) if high > low else 0.5
        return LEVELS[min(int(part * len(LEVELS)), len(LEVELS) - 1)]

    return Cell("".join(map(drawn, shown)))


def _now(row: HistoryRow | None) -> Cell:
    if row is None:
        return Cell(NO_VALUE, "quiet", title="the last run does not have it")
    if row.value is None:
        return Cell(NO_VALUE, "quiet", title=clean(row.undefined or "", 200))
    return Cell(number(row.value, row.unit), "bad" if row.bad else "", _interval(row))


def _gate(rows: Sequence[HistoryRow]) -> Cell:
    row = next((one for one in reversed(rows) if one.gate is not None), None)
    if row is None or row.gate is None:
        return Cell("")
    limits = [
        f"{sign} {number(limit, row.unit)}"
        for sign, limit in (("≥", row.gate_min), ("≤", row.gate_max))
        if limit is not None
    ]
    mark, tone = RUN_MARKS.get(row.gate, UNCHECKED)
    return Cell(" ".join([", ".join(limits), mark]).strip(), tone, title=row.gate)


def _since_last(row: HistoryRow) -> Cell:
    if row.change is None:
        return Cell(NO_VALUE, "quiet")
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
        return Cell(NO_VALUE, "quiet")
    return Cell(signed(row.first_change, row.unit))


def _first_bad(rows: Sequence[HistoryRow], runs: Sequence[ShownRun]) -> Cell:
    row = next((one for one in rows if one.bad), None)
    if row is None:
        return Cell(NO_VALUE, "quiet")
    run = runs[row.run]
    return Cell(run.tick[0], "bad", f"{run.tick[1]} {_why(row)}", title=_why(row))


def _verdict(history: History, runs: Sequence[ShownRun]) -> tuple[str, str, Tone, str, str]:
    """The word, its sign and tone, which run it is, and why."""
    drawn = [row for row in history.rows if row.trend]
    if history.first_bad is None:
        fell = sum(row.verdict == "not tested" and bool(row.change) and _fell(row) for row in drawn)
        passed = "no gate failed" if any(row.gate for row in drawn) else "no gates set"
        tested = any(row.p is not None for row in drawn)
        worse = "no value tested worse" if tested else "nothing was tested"
        untested = f"; {fell} {_values(fell)} fell and {'was' if fell == 1 else 'were'} not tested"
        count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
        detail = f"{count}: {passed}, {worse}{untested if fell else ''}"
        return "NO BAD RUN", "●" if fell or not tested else "✓", "", detail, ""
    run, shown = history.runs[history.first_bad], runs[history.first_bad]
    counts = Counter(reason for row in drawn if row.run == run.run for reason in row.bad)
    told = []
    if run.failed_gates:
        told.append(f"{run.failed_gates} gate{'s' * (run.failed_gates != 1)} failed")
    for reason in ("previous", "best"):
        if counts[reason]:
            told.append(f"{counts[reason]} {_values(counts[reason])} {REASONS[reason]}")
    detail = " · ".join(filter(None, (shown.when, shown.commit, shown.name)))
    return "FIRST BAD RUN", "✗", "bad", detail, "; ".join(told)


def _values(count: int) -> str:
    return "value" if count == 1 else "values"


def _fell(row: HistoryRow) -> bool:
    return row.change is not None and (row.change < 0) == (row.direction == "higher")


def _last(history: History, runs: Sequence[ShownRun]) -> Cell:
    run, shown = history.runs[-1], runs[-1]
    bad = f"{run.bad:,} bad {_values(run.bad)}" if run.bad else "no bad value"
    tone: Tone = "bad" if run.bad else shown.verdict.tone
    return Cell(f"{shown.verdict.text}, {bad}", tone, shown.when)


def _regressions(found: Sequence[LabelRegression]) -> tuple[Regressed, ...]:
    """Each label of a model once, by the value that dropped most."""
    names = Names((one.metric, one.parameters) for one in found)
    by_label: dict[tuple[str, str], list[LabelRegression]] = {}
    for one in found:
        by_label.setdefault((one.model, one.label), []).append(one)
    shown = []
    for first, *others in by_label.values():
        also = [f"{_name(one, names)} {signed(one.change, one.unit)}" for one in others[:ALSO]]
        also += [f"{len(others) - ALSO} more"] if len(others) > ALSO else []
        shown.append(
            Regressed(
                label=clean(first.label, 60),
                model=clean(first.model, 60),
                name=_name(first, names),
                before=number(first.before, first.unit),
                now=number(first.value, first.unit),
                change=signed(first.change, first.unit),
                n=number(first.n, "count"),
                also=", ".join(also),
            )
        )
    return tuple(shown)


def _notes(history: History) -> tuple[str, ...]:
    if len(history.runs) < 2:
        return ()
    chance = 1 - history.level
    told = (
        "A value is bad if its gate failed, or if the paired test finds it worse than in the run "
        f"before, or than in the best run so far (p < {chance:.2g}, adjusted within a run)."
    )
    notes = [told]
    if any(row.p is not None for row in history.rows):
        notes.append(
            f"Where nothing changes, the test against the run before calls about one run in "
            f"{round(2 / chance)} of a model worse by chance."
        )
    reasons = dict.fromkeys(
        row.reason
        for row in history.rows
        if row.trend and row.reason and row.verdict == "not tested" and row.label is None
    )
    notes += [f"Not tested: {clean(reason, 300)}." for reason in list(reasons)[:3]]
    return tuple(notes)
