"""Values by label and by slice, and what searches for bad slices found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from valor_cli.reports.digests.compared_values import ComparedValue, compared_values, probability
from valor_cli.reports.digests.digest import Digest, difference, worst_first
from valor_cli.reports.digests.formatting import clean, number, plural
from valor_cli.reports.digests.grids import Grid, Line, Measure
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import Block, Cell, Column, Item, Items, Section, Table, explore
from valor_cli.reports.sections.headline import forward, plain_change
from valor_cli.reports.sections.tables import (
    change_cell,
    few_note,
    grid_table,
    p_cell,
    value_cell,
    verdict_cell,
)
from valor_cli.results import ComparisonResult, FoundSlice, RunResult, SliceSearchResult

VIEW = 9
"""Columns of a table of labels, except that those of a metric stay together."""

CHANGED = 200
CELLS = 22_000
"""Labels by change, and cells of all tables of labels; results.json has what is left out."""

MEASURES = 3
"""Headline measures of each slice."""

SLICES = 200
FOUND = 10
"""Slices listed, and those that a search found."""


def of_slices(result: RunResult) -> dict[str, str]:
    """By a slice's name as reports show it, the link to its samples, where they are known."""
    names = dict.fromkeys(name for one in result.slices for name in one.names)
    return {clean(name, 120): explore(slice=name) for name in names}


def labels(d: Digest) -> Section | None:
    """All labels: what changed most first, where there are two models; then every value."""
    if not d.labels.lines:
        return None
    width = len(d.labels.measures) * len(d.models)
    most = CELLS // max(width, 1)
    lines = d.labels.lines[:most]
    left_out = len(d.labels.lines) - len(lines)
    blocks: list[Block] = [*_changes(d)]
    for at, view in enumerate(views(d.labels.measures, max(VIEW // len(d.models), 1))):
        grid = _part(Grid(d.labels.measures, lines), view)
        metrics = ", ".join(dict.fromkeys(one.name for one in grid.measures))
        table = grid_table(
            *(grid, d.models, "label", d.n_name), page=500, sortable=True, left_out=left_out,
            caption=f"Labels: {metrics}", folded="" if not at else f"{metrics} by label",
        )  # fmt: skip
        links = {line.name: explore(label=line.name) for line in lines}
        blocks.append(_linked(table, links))
    blocks += few_note(lines)
    told = f"{len(d.labels.lines):,}"
    return Section("Labels", "labels", blocks, told=told, folded=True)


def _linked(table: Table, links: Mapping[str, str]) -> Table:
    """The labels or slices as links to their samples."""
    rows = [[replace(row[0], link=links.get(row[0].text, "")), *row[1:]] for row in table.rows]
    return replace(table, rows=rows)


def _part(grid: Grid, kept: Sequence[int]) -> Grid:
    lines = tuple(Line(one.name, one.n, tuple(one.cells[at] for at in kept)) for one in grid.lines)
    return Grid(tuple(grid.measures[at] for at in kept), lines)


def views(measures: Sequence[Measure], most: int) -> list[list[int]]:
    """Measures by table: a metric's together, counts separate, about so many each."""
    metrics: dict[tuple[bool, str], list[int]] = {}
    for index, measure in enumerate(measures):
        metrics.setdefault((measure.unit == "count", measure.metric), []).append(index)
    found: list[list[int]] = []
    last = None
    for (counts, _), indexes in sorted(metrics.items(), key=lambda item: item[0][0]):
        if counts == last and len(found[-1]) + len(indexes) <= most:
            found[-1] += indexes
        else:
            found.append(list(indexes))
        last = counts
    return found


def _changes(d: Digest) -> list[Table]:
    """One measure of two models, or of one and its baseline, what regressed most first."""
    tested = compared_labels(d)
    if tested:
        return [_tested(tested, d)]
    at = next((at for at, one in enumerate(d.labels.measures) if one.direction), None)
    if at is None or len(d.models) != 2 or len(d.labels.lines) < 2:
        return []
    first = d.labels.measures[at]
    sign = -1.0 if first.direction == "lower" else 1.0
    lines = [(line, line.cells[at], difference(line.cells[at])) for line in d.labels.lines]
    lines.sort(key=lambda one: (one[2] is None, sign * (one[2] or 0.0)))
    columns = [Column("label", "text"), *(Column(model) for model in d.models)]
    columns += [Column("difference"), Column(d.n_name)]
    rows = [
        [
            Cell(line.name, link=explore(label=line.name)),
            *(value_cell(cell, first) for cell in cells),
            plain_change(cells, first),
            Cell(number(line.n, "count"), "quiet"),
        ]
        for line, cells, _ in lines[:CHANGED]
    ]
    title = f"{first}: {d.models[1]} against {d.models[0]}, regressed most first"
    left_out = len(lines) - len(rows)
    return [Table(columns, rows, title, title, page=20, sortable=True, left_out=left_out)]


def compared_labels(d: Digest) -> list[ComparedValue]:
    """Labels of two models, or of one and its baseline, what regressed most first."""
    if len(d.models) > 2:
        return []
    held = len(d.models) == 1
    rows = [
        row if held else forward(row, d.result.models)
        for row in d.result.comparisons
        if row.label is not None and row.baseline == held
    ]
    rows.sort(key=regression)
    return compared_values(rows)


def regression(row: ComparisonResult) -> tuple[bool, float]:
    """A sort key: the widest change for the worse first."""
    sign = -1.0 if row.direction == "lower" else 1.0
    return row.difference is None, sign * (row.difference or 0.0)


def _tested(values: Sequence[ComparedValue], d: Digest) -> Table:
    """Both values of each label, the change with its interval, and the verdict."""
    n = {line.name: line.n for line in d.labels.lines}
    held = len(d.models) == 1
    columns = [
        Column("label", "text"),
        *map(Column, ("baseline", "now") if held else d.models),
        Column("change"),
        Column("p"),
        Column("now it is" if held else f"{d.models[1]} is", "text"),
        Column(d.n_name),
    ]
    rows = [
        [
            Cell(clean(one.row.label or "", 120), link=explore(label=one.row.label)),
            Cell(one.other),
            Cell(one.value),
            change_cell(one),
            p_cell(one),
            verdict_cell(one),
            Cell(number(n.get(clean(one.row.label or "", 120)), "count"), "quiet"),
        ]
        for one in values[:CHANGED]
    ]
    whose = "now against the baseline" if held else f"{d.models[1]} against {d.models[0]}"
    title = f"{values[0].name}: {whose}, regressed most first"
    left_out = len(values) - len(rows)
    return Table(columns, rows, title, title, page=20, sortable=True, left_out=left_out)


def slices(d: Digest) -> Section | None:
    """Slices of the config worst first, then those that searches found."""
    blocks: list[Block] = []
    lines = worst_first(d.slices)
    if lines:
        grid = _part(
            Grid(d.slices.measures, lines[:SLICES]), range(len(d.slices.measures[:MEASURES]))
        )
        table = grid_table(
            *(grid, d.models, f"worst {grid.measures[0]} first", d.n_name), intervals=True,
            page=50, screen=(3, 6), left_out=len(lines) - len(grid.lines), sortable=True,
            caption="Slices",
        )  # fmt: skip
        blocks += [_linked(table, of_slices(d.result)), *few_note(grid.lines)]
    blocks += _searches(d)
    if not blocks:
        return None
    told = f"{len(lines):,}" if lines else ""
    return Section("Slices", "slices", blocks, told=told, folded=not d.result.searches)


def _searches(d: Digest) -> list[Block]:
    """The slices that searches report as worse than the rest, the worst of each search first."""
    result = d.result
    if not result.searches:
        return []
    units = {(row.metric, row.output): row.unit for row in result.metrics}
    names = Names((one.metric, one.parameters) for one in result.searches)
    ranked = [
        (rank, one, part) for one in result.searches for rank, part in enumerate(one.found[:FOUND])
    ]
    ranked.sort(key=lambda found: found[0])
    blocks: list[Block] = []
    if ranked:
        columns = [Column("slices found by search", "text"), Column("metric", "text", drop=2)]
        columns += [Column("model", "text")] if len(d.models) > 1 else []
        columns += [Column("value"), Column("rest"), Column("adjusted p"), Column("n")]
        rows = [
            _found(one, part, d, names, units.get((one.metric, one.output), "fraction"))
            for _, one, part in ranked
        ]
        blocks.append(Table(columns, rows, "Slices found", screen=(2, 5), page=30))
    none = any(one.found for one in result.searches)
    blocks.append(
        Items(
            [Item(_searched(one, d, names)) for one in result.searches],
            page=8,
            screen=(0, 0) if none else (1, 2),
        )
    )
    return blocks


def _found(
    one: SliceSearchResult, part: FoundSlice, d: Digest, names: Names, unit: str
) -> list[Cell]:
    return [
        Cell(clean(part.slice, 120), link=of_slices(d.result).get(clean(part.slice, 120), "")),
        Cell(names.title(one.metric, one.output, one.parameters), "quiet"),
        *([Cell(clean(one.model, 60))] if len(d.models) > 1 else []),
        Cell(number(part.value, unit)),
        Cell(number(part.rest, unit)),
        Cell(probability(part.p_adjusted)),
        Cell(f"{part.n:,}"),
    ]


def _searched(one: SliceSearchResult, d: Digest, names: Names) -> str:
    """What was searched, and how many slices are worse."""
    who = f"{clean(one.model, 60)}, " if len(d.models) > 1 else ""
    columns = ", ".join(clean(name, 40) for name in one.columns)
    parts = plural(one.searched, "slice")
    of = f"by {columns}; {one.min_size:,} {d.unit}s or more"
    found = f"{len(one.found):,} worse beyond chance" if one.found else "none worse beyond chance"
    measure = names.title(one.metric, one.output, one.parameters)
    return f"{who}{measure}: {parts} compared with the rest ({of}): {found}"
