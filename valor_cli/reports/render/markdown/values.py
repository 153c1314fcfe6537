"""Value tables of the Markdown report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from valor_cli.reports.render.html.differences import Differences
from valor_cli.reports.render.markdown.escaping import escaped, folded, table
from valor_cli.reports.sections.comparison.rows import ComparedValue
from valor_cli.reports.sections.coverage import PARTIAL
from valor_cli.reports.sections.digest import SIDE_BY_SIDE, Digest, difference, ranking, worst_first
from valor_cli.reports.sections.formatting import covered, number, signed, span
from valor_cli.reports.sections.grids import FEW_MARK, Cell, Grid, Line, Measure, few_of
from valor_cli.reports.sections.intervals import small_n_note

LEADING = 12
"""Values of the whole run shown at once; the others are folded."""

RANKED = 30
ACROSS = 6
"""Models shown one per line, and values beside each of them."""

LABELS = 500
SLICES = 50
"""Lines shown."""

COLUMNS = 18
CELLS = 4_500
"""Columns of the table of labels, and cells of it."""

Row = tuple[Measure, Sequence[Cell]]


def headline(digest: Digest, compared: Differences, notes: Sequence[str]) -> Iterator[str]:
    """The headline values of the whole run, others folded.

    Args:
        digest: The run.
        compared: What its models have on each other.
        notes: What is to be said of the numbers, each a clause.
    """
    if not digest.headline.measures:
        return
    rows = list(zip(digest.headline.measures, digest.headline.lines[0].cells, strict=True))
    many = len(digest.models) > SIDE_BY_SIDE
    leading = min(digest.leading or len(rows), ACROSS if many else LEADING)
    yield from (
        _ranked(rows[:leading], digest) if many else _beside(rows[:leading], digest, compared)
    )
    notes = [*notes, *([f"{PARTIAL[:1].lower()}{PARTIAL[1:]}"] if digest.partial else [])]
    if notes:
        yield ""
        yield f"<sub>{escaped('; '.join(notes))}.</sub>"
    rest = rows[leading : leading + LEADING] if many else rows[leading:]
    left_out = len(rows) - leading - len(rest) + digest.unlisted
    if rest:
        yield ""
        lines = list(_ranked(rest, digest) if many else _beside(rest, digest, compared))
        lines += [f"\n… and {left_out:,} more in results.json."] if left_out else []
        noun = "value" if len(rest) == 1 else "values"
        yield from folded(f"{len(rest):,} further {noun}", lines)


def _beside(rows: Sequence[Row], digest: Digest, compared: Differences) -> Iterator[str]:
    """A row per value, models as columns; of two models, what the second has on the first."""
    two = len(digest.models) == 2
    tested = any(measure.key in compared.of_two for measure, _ in rows)
    headings = ["", *map(escaped, digest.models), *(["difference"] if two else [])]
    headings += ["p", f"{escaped(digest.models[1])} is"] if tested else []
    lines = []
    for measure, cells in rows:
        line = [escaped(str(measure)), *(value(cell, measure) for cell in cells)]
        one = compared.of_two.get(measure.key)
        if one is not None:
            line += [_difference(one), escaped(one.p), one.verdict]
        elif two:
            line += [signed(difference(cells), measure.unit), *(["", ""] if tested else [])]
        lines.append(line)
    yield from table(headings, lines)


def _difference(one: ComparedValue) -> str:
    return f"{one.difference} {one.interval}".rstrip()


def _ranked(rows: Sequence[Row], digest: Digest) -> Iterator[str]:
    """A row per model, best first."""
    order = ranking(digest.headline, len(digest.models))
    lines = [
        [escaped(digest.models[model]), *(value(cells[model], measure) for measure, cells in rows)]
        for model in order[:RANKED]
    ]
    yield from table(["model", *(escaped(str(measure)) for measure, _ in rows)], lines)
    if len(order) > RANKED:
        yield ""
        yield f"… and {len(order) - RANKED:,} more models."


def value(cell: Cell, measure: Measure, *, interval: bool = True, marked: bool = True) -> str:
    """A table cell: best in bold, small n marked, partial coverage stated."""
    text = number(cell.value, measure.unit)
    text += FEW_MARK if marked and cell.few and cell.value is not None else ""
    text = f"**{text}**" if cell.best else text
    text = f"{text} {span(cell.interval, measure.unit)}".rstrip() if interval else text
    return text if cell.coverage is None else f"{text} ({covered(cell.coverage)})"


def _lines(grid: Grid, digest: Digest, first: str, most: int, *, intervals: bool) -> Iterator[str]:
    """Labels or slices: a column per measure and model."""
    many = len(digest.models) > 1
    headings = [
        f"{escaped(str(measure))}<br>{escaped(model)}" if many else escaped(str(measure))
        for measure in grid.measures
        for model in digest.models
    ]
    rows = []
    for line in grid.lines[:most]:
        pairs = zip(line.cells, grid.measures, strict=True)
        values = [
            value(cell, measure, interval=intervals, marked=not line.all_few)
            for cells, measure in pairs
            for cell in cells
        ]
        # A mark at each value of a line would say the same so many times.
        count = number(line.n, "count") + (FEW_MARK if line.all_few else "")
        rows.append([escaped(line.name), count, *values])
    yield from table([first, digest.n_name, *headings], rows)
    if few := few_of(grid.lines[:most]):
        yield ""
        yield f"<sub>{FEW_MARK} {small_n_note(few)}.</sub>"
    if len(grid.lines) > most:
        yield ""
        yield f"… and {len(grid.lines) - most:,} more."


def slices(digest: Digest) -> Iterator[str]:
    """Slices, worst first."""
    grid = Grid(digest.slices.measures, worst_first(digest.slices))
    if grid.lines:
        few = 3 if len(digest.models) <= 2 else 1
        summary = f"Slices ({len(grid.lines):,}), worst first"
        yield from folded(summary, _lines(_cut(grid, few), digest, "slice", SLICES, intervals=True))


def labels(digest: Digest) -> Iterator[str]:
    """All labels, in order."""
    if digest.labels.lines:
        yield from folded(f"Labels ({len(digest.labels.lines):,})", _labels(digest))


def _labels(digest: Digest) -> Iterator[str]:
    # Intervals would double the width of a table that is wide already; results.json has them.
    models = max(len(digest.models), 2)
    grid = _cut(digest.labels, max(COLUMNS // models, 1))
    most = min(LABELS, CELLS // max(len(grid.measures) * len(digest.models), 1))
    yield from _lines(grid, digest, "label", most, intervals=False)
    left_out = len(digest.labels.measures) - len(grid.measures)
    if left_out:
        yield ""
        yield f"… and {left_out} more columns in results.json."


def _cut(grid: Grid, measures: int) -> Grid:
    few = slice(measures)
    lines: tuple[Line, ...] = tuple(replace(line, cells=line.cells[few]) for line in grid.lines)
    return Grid(grid.measures[few], lines)
