"""Label and slice tables of the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from valor_cli.reports.render.html.leaderboard import breakable, heading
from valor_cli.reports.sections.digest import Digest
from valor_cli.reports.sections.digest import worst_first as by_worst
from valor_cli.reports.sections.formatting import covered, number, span, words
from valor_cli.reports.sections.grids import FEW_MARK, Cell, Grid, Line, Measure, few_of

SLICE_MEASURES = 4
"""Headline measures shown for each slice."""

VIEW = 9
"""Columns of each label table at most, except that a metric's own stay together."""

CELLS = 25_000
"""Cells of the label table at most, about 1.5 MB; the page says how many labels it left out."""


def label_views(digest: Digest) -> list[dict[str, Any]]:
    """The label table, split into parts of readable width."""
    lines = _bounded(digest)
    parts = []
    for view in views(digest.labels.measures):
        measures = tuple(digest.labels.measures[index] for index in view)
        part = [Line(one.name, one.n, tuple(one.cells[i] for i in view)) for one in lines]
        metrics = dict.fromkeys(words(measure.metric or measure.name) for measure in measures)
        title = ", ".join(metrics)
        parts.append(_table(Grid(measures, tuple(part)), part, digest) | {"title": title})
    return parts


def _bounded(digest: Digest) -> Sequence[Line]:
    width = len(digest.labels.measures) * len(digest.models)
    return digest.labels.lines[: CELLS // max(width, 1)]


def views(measures: Sequence[Measure]) -> list[list[int]]:
    """Measures by table: a metric's together, counts separate, about `VIEW` each."""
    if len(measures) <= VIEW:
        return [list(range(len(measures)))]
    metrics: dict[tuple[bool, str], list[int]] = {}
    for index, measure in enumerate(measures):
        metrics.setdefault((measure.unit == "count", measure.metric), []).append(index)
    found: list[list[int]] = []
    last = None
    for (counts, _), indexes in sorted(metrics.items(), key=lambda item: item[0][0]):
        if counts == last and len(found[-1]) + len(indexes) <= VIEW:
            found[-1] += indexes
        else:
            found.append(indexes)
        last = counts
    return found


def slice_table(digest: Digest) -> dict[str, Any]:
    """The slices, worst first, with their intervals."""
    few = slice(SLICE_MEASURES)
    lines = tuple(Line(line.name, line.n, line.cells[few]) for line in by_worst(digest.slices))
    return _table(Grid(digest.slices.measures[few], lines), lines, digest, intervals=True)


def _table(
    grid: Grid, lines: Sequence[Line], digest: Digest, *, intervals: bool = False
) -> dict[str, Any]:
    """Labels or slices: headings, and rows whose numbers are ready HTML."""
    measures = [measure for measure in grid.measures for _ in digest.models]
    rows = []
    for line in lines:
        cells = [cell for cells in line.cells for cell in cells]
        whole = line.all_few
        marks = ["" if whole or not cell.few else FEW_MARK for cell in cells]
        numbers = "".join(map(_td, cells, measures, [intervals] * len(cells), marks))
        ready = Markup(numbers)  # noqa: S704 - _td escapes what comes from the data
        n = number(line.n, "count") + (FEW_MARK if whole else "")
        rows.append((breakable(line.name), n, ready))
    return {
        "headings": [heading(measure) for measure in grid.measures],
        "rows": rows,
        "few": few_of(lines),
    }


def _td(cell: Cell, measure: Measure, intervals: bool, mark: str) -> str:
    if cell.value is None:
        return f'<td class="na" title="{escape(cell.undefined or "no value")}">–</td>'
    text = number(cell.value, measure.unit) + mark
    if cell.best:
        text = f"<b>{text}</b>"
    if intervals and cell.interval:
        text += f" <small>{span(cell.interval, measure.unit)}</small>"
    if cell.coverage is not None:
        text += f" <small>of {covered(cell.coverage)}</small>"
    reason = f' title="{escape(cell.undefined)}"' if cell.undefined else ""
    if intervals or measure.unit != "fraction" or not 0 <= cell.value <= 1:
        return f"<td{reason}>{text}</td>"
    return f'<td class="bar"{reason} style="--v:{cell.value:.3g}">{text}</td>'
