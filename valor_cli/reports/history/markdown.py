"""Markdown report of a history, for pull requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from valor_cli.reports.history.digest import (
    Cell,
    HistoryDigest,
    Regressed,
    Trend,
    history_digest,
)
from valor_cli.reports.render.markdown.escaping import escaped, folded, in_html, table
from valor_cli.results.history import History

VALUES, RUNS, LABELS, WARNINGS = 60, 60, 20, 10
"""Rows shown of all models' values, of runs, of labels, and of warnings."""


def history_markdown(history: History) -> str:
    """The report; all data is escaped."""
    return "\n".join(_lines(history_digest(history))) + "\n"


def _lines(digest: HistoryDigest) -> Iterator[str]:
    yield f"## {digest.symbol} {digest.word} · {escaped(digest.detail)}"
    yield ""
    last = f"Last run {digest.last.small}: {digest.last.text}."
    yield escaped(f"{digest.reasons}. {last}" if digest.reasons else last)
    room = VALUES
    for model, trends in digest.models:
        yield ""
        if len(digest.models) > 1:
            yield f"**{escaped(model)}**"
            yield ""
        yield from _trends(trends[:room])
        if len(trends) > room:
            yield ""
            yield f"{len(trends) - room:,} more values are in history.json."
        room = max(room - len(trends), 0)
    if digest.regressions:
        yield ""
        yield from _labels(digest)
    yield ""
    yield from folded(f"{len(digest.runs)} runs", _runs(digest))
    if digest.warnings:
        yield ""
        yield "**Warnings**"
        yield ""
        yield from (f"- {escaped(warning)}" for warning in digest.warnings[:WARNINGS])
        if len(digest.warnings) > WARNINGS:
            yield f"- {len(digest.warnings) - WARNINGS:,} more in history.json"
    if digest.notes:
        yield ""
        yield f"<sub>{in_html(' '.join(digest.notes))}</sub>"


def _trends(trends: Sequence[Trend]) -> Iterator[str]:
    gated = any(one.gate.text for one in trends)
    headings = ["value", "trend", "now", *(["gate"] if gated else [])]
    headings += ["since last run", "since first run", "first bad run"]
    rows = []
    for one in trends:
        where = f" \\[{escaped(one.where)}\\]" if one.where else ""
        row = [f"{escaped(one.name)} {one.arrow}{where}".strip()]
        row.append("".join(mark for mark, _ in one.spark))
        row.append(_cell(one.now))
        row += [_cell(one.gate)] if gated else []
        row += [_cell(one.since_last), _cell(one.since_first), _first_bad(one.first_bad)]
        rows.append(row)
    yield from table(headings, rows, left=2)


def _cell(cell: Cell) -> str:
    text = escaped(cell.text) if cell.text else ""
    text = f"**{text}**" if cell.tone == "bad" and text else text
    return f"{text} {escaped(cell.small)}" if cell.small else text


def _first_bad(cell: Cell) -> str:
    found = _cell(cell)
    return f"{found}: {escaped(cell.title)}" if cell.title else found


def _labels(digest: HistoryDigest) -> Iterator[str]:
    many = len(digest.models) > 1
    shown = digest.regressions[:LABELS]
    title = f"Labels that got worse: {len(digest.regressions)}"
    since = f"From {escaped(digest.regressed_since)}; values of labels are not tested."
    headings = ["label", *(["model"] if many else []), "value", "before", "now", "change", "n"]

    def lines() -> Iterator[str]:
        yield since
        yield ""
        rows = [_label(one, many=many) for one in shown]
        yield from table([*headings, "also"], rows, left=3 if many else 2)
        if len(digest.regressions) > LABELS:
            yield ""
            yield f"{len(digest.regressions) - LABELS:,} more are in history.json."

    yield from folded(title, lines())


def _label(one: Regressed, *, many: bool) -> list[str]:
    first = [escaped(one.label), *([escaped(one.model)] if many else [])]
    return [*first, escaped(one.name), one.before, one.now, one.change, one.n, escaped(one.also)]


def _runs(digest: HistoryDigest) -> Iterator[str]:
    rows = [
        [
            escaped(run.when),
            escaped(run.commit),
            escaped(run.name),
            _cell(run.verdict),
            _cell(run.bad),
        ]
        for run in digest.runs[-RUNS:]
    ]
    yield from table(["run", "commit", "folder", "verdict", "bad values"], rows, left=4)
    if len(digest.runs) > RUNS:
        yield ""
        yield f"{len(digest.runs) - RUNS:,} earlier runs are in history.json."
