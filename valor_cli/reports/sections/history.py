"""The report of a history as a document: the first bad run, and the trend of each value."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from valor_cli.reports.digests.formatting import NO_VALUE, clean, number, plural, signed, words
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import (
    Block,
    Cell,
    Column,
    Document,
    Item,
    Items,
    Note,
    Samples,
    Section,
    Table,
    Tone,
)
from valor_cli.reports.sections.trends import (
    REASONS,
    VERDICTS,
    WHERE,
    drawn_trends,
    trend_table,
    trends_by_model,
)
from valor_cli.results.history import History, HistoryRow, HistoryRun, LabelRegression

VALUES, LABELS = 60, 200
"""Values and labels listed; history.json has all of them."""

COMMIT = 7
"""Characters of a commit that are shown."""

ALSO = 3
"""Other values of a label that are named beside the one that dropped most."""


class ShownRun(Struct, frozen=True):
    """A run in words.

    Attributes:
        tick: The two lines of its place on an axis: the time, and the commit or the folder.
        when: The time in full.
        name: Its folder.
        link: URL of its own report, relative to that of the history; empty without one.
    """

    tick: tuple[str, str]
    when: str
    commit: str
    name: str
    link: str


def history_report(
    history: History, out: str | None = None, explored: Sequence[HistoryRun] = ()
) -> Document:
    """The first bad run, every value with its trend, the labels that got worse, and the runs.

    Args:
        history: The runs.
        out: The folder of the report, from which it links to those of the runs; None: no links.
        explored: The runs whose samples the page shows.
    """
    runs = shown_runs(history.runs, out)
    ticks = [run.tick for run in runs]
    models = list(trends_by_model(history.rows, len(runs)).values())
    word, symbol, tone, detail, reasons = _verdict(history, runs)
    most = max(VALUES // max(len(models), 1), 4)
    values: list[Block] = [
        trend_table(
            own[:most],
            *(max(len(own) - most, 0), ticks, WHERE, own[0].model if len(models) > 1 else ""),
        )
        for own in models
    ]
    if not values:
        values.append(Note("The runs have no headline value; name one with --metric.", "", (1, 1)))
    notes = [Note(one, screen=(1, 1)) for one in _notes(history)]
    sections = [
        Section("Values", "values", values, plain=True),
        drawn_trends(models, ticks),
        _labels(history, runs),
        _samples(history, explored),
        _runs(history.runs, runs),
        _warnings(history.warnings),
        Section("Notes", "notes", notes, plain=True) if notes else None,
    ]
    return Document(
        word=word,
        symbol=symbol,
        detail=detail,
        tone=tone,
        title=f"{words(history.task)}, history",
        scope=[*([reasons] if reasons else []), _last(history.runs[-1], runs[-1])],
        alert="",
        badges=(),
        models=(),
        sections=[one for one in sections if one is not None],
    )


def _samples(history: History, runs: Sequence[HistoryRun]) -> Section | None:
    """Which two runs' samples are side by side, and why these."""
    if len(runs) < 2:
        return None
    before, after = (run.run for run in runs)
    why = ""
    if (before, after) == (after - 1, history.first_bad):
        why = ", the run before the first bad one and that"
    told = " and ".join(run_names(runs))
    return Section("Samples", "samples", (Samples(),), f"{told}{why}")


def run_name(run: HistoryRun) -> str:
    """The name of its folder."""
    return clean(os.path.basename(os.path.abspath(_folder(run.path))), 40)


def run_names(runs: Sequence[HistoryRun]) -> list[str]:
    """Names of their folders; where two have one name their numbers, from 1."""
    names = [run_name(run) for run in runs]
    return names if len(set(names)) == len(names) else [f"{run.run + 1}" for run in runs]


def shown_runs(runs: Sequence[HistoryRun], out: str | None) -> list[ShownRun]:
    """The runs in words, with links from the folder `out`."""
    times = [run.started_at[:16].replace("T", " ") for run in runs]
    found = []
    for run, when, tick in zip(runs, times, _ticks(times), strict=True):
        folder, name = _folder(run.path), run_name(run)
        commit = clean(run.commit[:COMMIT]) if run.commit else ""
        link = "" if out is None else _link(folder, out)
        found.append(ShownRun((clean(tick, 24), commit or name), clean(when), commit, name, link))
    return found


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


def _verdict(history: History, runs: Sequence[ShownRun]) -> tuple[str, str, Tone, str, str]:
    """The word, its sign and tone, which run it is, and why."""
    drawn = [row for row in history.rows if row.trend]
    if history.first_bad is None:
        fell = sum(row.verdict == "not tested" and bool(row.change) and _fell(row) for row in drawn)
        passed = "no gate failed" if any(row.gate for row in drawn) else "no gates set"
        tested = any(row.p is not None for row in drawn)
        worse = "no value tested worse" if tested else "nothing was tested"
        untested = f"; {plural(fell, 'value')} fell and {'was' if fell == 1 else 'were'} not tested"
        detail = f"{plural(len(runs), 'run')}: {passed}, {worse}{untested if fell else ''}"
        return "NO BAD RUN", "●" if fell or not tested else "✓", "", detail, ""
    run, shown = history.runs[history.first_bad], runs[history.first_bad]
    counts = Counter(reason for row in drawn if row.run == run.run for reason in row.bad)
    told = []
    if run.failed_gates:
        told.append(f"{plural(run.failed_gates, 'gate')} failed")
    for reason in ("previous", "best"):
        if counts[reason]:
            told.append(f"{plural(counts[reason], 'value')} {REASONS[reason]}")
    detail = " · ".join(filter(None, (shown.when, shown.commit, shown.name)))
    return "FIRST BAD RUN", "✗", "bad", detail, "; ".join(told)


def _fell(row: HistoryRow) -> bool:
    return row.change is not None and (row.change < 0) == (row.direction == "higher")


def _last(run: HistoryRun, shown: ShownRun) -> str:
    bad = plural(run.bad, "bad value") if run.bad else "no bad value"
    return f"last run {shown.when}: {VERDICTS[run.verdict][0]} {run.verdict}, {bad}"


def _labels(history: History, runs: Sequence[ShownRun]) -> Section | None:
    """The labels that got worse between the last two runs, by the value that dropped most."""
    if not history.regressions:
        return None
    names = Names((one.metric, one.parameters) for one in history.regressions)
    by_label: dict[tuple[str, str], list[LabelRegression]] = {}
    for one in history.regressions:
        by_label.setdefault((one.model, one.label), []).append(one)
    many = len({row.model for row in history.rows if row.trend}) > 1
    columns = [
        Column("label", "text"),
        *([Column("model", "text")] if many else []),
        Column("value", "text"),
        *map(Column, ("before", "now", "change", "n")),
        Column("also", "text", drop=1),
    ]
    rows = [
        [
            Cell(clean(first.label, 60)),
            *([Cell(clean(first.model, 60))] if many else []),
            Cell(_name(first, names)),
            Cell(number(first.before, first.unit)),
            Cell(number(first.value, first.unit)),
            Cell(signed(first.change, first.unit), "bad"),
            Cell(number(first.n, "count"), "quiet"),
            Cell(_also(others, names), "quiet"),
        ]
        for first, *others in list(by_label.values())[:LABELS]
    ]
    left_out = len(by_label) - len(rows)
    table = Table(columns, rows, "Labels that got worse", page=20, screen=(4, 8), sortable=True,
                  left_out=left_out, where=WHERE)  # fmt: skip
    why = "Values of labels are not tested: of few objects (n), chance alone moves them much."
    return Section("Labels that got worse", "labels", (table, Note(why)), _ends(runs[-2:]))


def _name(one: LabelRegression, names: Names) -> str:
    return names.title(one.metric, one.output, one.parameters)


def _also(others: Sequence[LabelRegression], names: Names) -> str:
    told = [f"{_name(one, names)} {signed(one.change, one.unit)}" for one in others[:ALSO]]
    return ", ".join(told + ([f"{len(others) - ALSO} more"] if len(others) > ALSO else []))


def _ends(runs: Sequence[ShownRun]) -> str:
    """Two runs by their times, or by their names if they began in one minute."""
    times = [run.when for run in runs]
    apart = len(set(times)) == len(times)
    return " → ".join(times if apart else [run.name for run in runs]) if len(runs) > 1 else ""


def _runs(runs: Sequence[HistoryRun], shown: Sequence[ShownRun]) -> Section:
    """The latest run first."""
    columns = [Column(name, "text") for name in ("run", "commit", "folder", "verdict")]
    columns += [Column("bad values")]
    rows = [
        [
            Cell(told.when, link=told.link),
            Cell(told.commit or "–", "quiet"),
            Cell(told.name, link=told.link),
            Cell(f"{VERDICTS[run.verdict][0]} {run.verdict}", VERDICTS[run.verdict][1]),
            _bad(run),
        ]
        for run, told in zip(reversed(runs), reversed(shown), strict=True)
    ]
    table = Table(columns, rows, "Runs", page=60, screen=(6, 10), where=WHERE)
    return Section("Runs", "runs", (table,), f"{len(runs):,}", folded=True)


def _bad(run: HistoryRun) -> Cell:
    """The number of bad values, and of failed gates."""
    gates = f"· {plural(run.failed_gates, 'failed gate')}"
    tone: Tone = "bad" if run.bad or run.failed_gates else "quiet"
    return Cell(f"{run.bad:,}" if run.bad else NO_VALUE, tone, gates if run.failed_gates else "")


def _warnings(warnings: Sequence[str]) -> Section | None:
    """What else than the models changed."""
    if not warnings:
        return None
    told = [Item(clean(one, 300)) for one in warnings]
    items = Items(told, page=10, screen=(2, 4), where=WHERE)
    return Section("Warnings", "warnings", (items,))


def _notes(history: History) -> Iterator[str]:
    """What the verdicts mean."""
    if len(history.runs) < 2:
        return
    chance = 1 - history.level
    yield (
        "A value is bad if its gate failed, or if the paired test finds it worse than in the run "
        f"before, or than in the best run so far (p < {chance:.2g}, adjusted within a run)."
    )
    if any(row.p is not None for row in history.rows):
        yield (
            f"Where nothing changes, the test against the run before calls about one run in "
            f"{round(2 / chance)} of a model worse by chance."
        )
    reasons = dict.fromkeys(
        row.reason
        for row in history.rows
        if row.trend and row.reason and row.verdict == "not tested" and row.label is None
    )
    yield from (f"Not tested: {clean(reason, 300)}." for reason in list(reasons)[:3])
