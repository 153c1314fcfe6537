"""Cells and tables of values and of compared values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from valor_cli.reports.digests import grids
from valor_cli.reports.digests.compared_values import MARKS, TONES, ComparedValue
from valor_cli.reports.digests.formatting import clean, covered, number, span
from valor_cli.reports.digests.grids import (
    ARROWS,
    FEW_MARK,
    Grid,
    Line,
    Measure,
    few_of,
    small_n_note,
)
from valor_cli.reports.document import EMPTY, Cell, Column, Note, Table


def value_cell(
    cell: grids.Cell, measure: Measure, *, interval: bool = True, marked: bool = True
) -> Cell:
    """A value with its interval and coverage; the best in strong type."""
    few = marked and bool(cell.few) and cell.value is not None
    return Cell(
        number(cell.value, measure.unit),
        "strong" if cell.best else "quiet" if cell.value is None else "",
        small=span(cell.interval, measure.unit) if interval else "",
        mark=FEW_MARK if few else "",
        share="" if cell.coverage is None else covered(cell.coverage),
        value=cell.value,
        title=cell.undefined or "",
    )


def measure_column(measure: Measure, **more: Any) -> Column:
    """The column of a measure."""
    full = 1.0 if measure.unit == "fraction" else 0.0
    return Column(
        measure.name,
        detail=measure.detail,
        arrow=ARROWS[measure.direction],
        **{"full": full, **more},
    )


def model_columns(
    measures: Sequence[Measure], models: Sequence[str], *, drop: int = 0
) -> list[Column]:
    """A column for each measure and model; with `drop`, a narrow medium leaves the last ones out.

    Args:
        measures: Of the values.
        models: Their names.
        drop: The highest order in which columns go; 0: all stay.
    """
    if len(models) == 1:
        found = [measure_column(one) for one in measures]
    else:
        found = [
            Column(
                model,
                over=str(one),
                arrow=ARROWS[one.direction],
                full=1.0 if one.unit == "fraction" else 0.0,
                model=True,
            )
            for one in measures
            for model in models
        ]
    return [_dropped(column, drop - at) for at, column in enumerate(found)] if drop else found


def _dropped(column: Column, order: int) -> Column:
    return replace(column, drop=max(order, 1))


def grid_table(
    grid: Grid,
    models: Sequence[str],
    heading: str,
    n_name: str,
    *,
    intervals: bool = False,
    **more: Any,
) -> Table:
    """Labels or slices: a column for each measure and model.

    Args:
        grid: The values.
        models: Their names.
        heading: Of the first column.
        n_name: Of the count beside it.
        intervals: Whether values are shown with theirs.
        more: Attributes of the table.
    """
    columns = [
        Column(heading, "text"),
        Column(n_name, drop=1),
        *model_columns(grid.measures, models, drop=len(grid.measures) * len(models) + 1),
    ]
    rows = [_row(line, grid.measures, intervals) for line in grid.lines]
    return Table(columns, rows, **more)


def _row(line: Line, measures: Sequence[Measure], intervals: bool) -> list[Cell]:
    pairs = zip(line.cells, measures, strict=True)
    whole = line.all_few
    values = [
        value_cell(cell, measure, interval=intervals, marked=not whole)
        for cells, measure in pairs
        for cell in cells
    ]
    # A mark at each value of a line would say the same so many times.
    n = Cell(number(line.n, "count"), "quiet", mark=FEW_MARK if whole else "")
    return [Cell(line.name), n, *values]


def few_note(lines: Sequence[Line]) -> list[Note]:
    """What the mark of few samples means, if any line has it."""
    few = few_of(lines)
    return [Note(f"{FEW_MARK} {small_n_note(few)}.")] if few else []


def change_cell(one: ComparedValue | None) -> Cell:
    """A difference with its interval."""
    if one is None:
        return EMPTY
    tone = TONES[one.outcome] if one.outcome in ("better", "worse") else ""
    return Cell(
        one.difference, tone, small=one.interval, value=one.row.difference, title=one.reason
    )


def p_cell(one: ComparedValue | None) -> Cell:
    """A p-value."""
    return EMPTY if one is None else Cell(one.p, "quiet")


def verdict_cell(one: ComparedValue | None) -> Cell:
    """A verdict with its sign."""
    if one is None:
        return EMPTY
    return Cell(one.outcome, TONES[one.outcome], symbol=MARKS[one.outcome], title=one.reason)


def compared_table(
    values: Sequence[ComparedValue],
    other: str,
    model: str,
    *,
    verdict: str = "",
    named: bool = False,
    **more: Any,
) -> Table:
    """Values of two models, their difference and verdict.

    Args:
        values: A row each.
        other, model: Headings of the baseline and of the candidate.
        verdict: Heading of the verdicts.
        named: Whether each row names its model.
        more: Attributes of the table.
    """
    effects = any(one.row.effect is not None for one in values)
    columns = [
        Column("", "text"),
        *([Column("model", "text")] if named else []),
        Column(other),
        Column(model),
        Column("difference", drop=5),
        Column("p", drop=4),
        *([Column("effect", drop=2)] if effects else []),
        Column(verdict or "verdict", "text"),
        Column("n", drop=1),
    ]
    rows = [
        [
            Cell(f"{one.name} [{one.where}]" if one.where else one.name),
            *([Cell(named_model(one))] if named else []),
            Cell(one.other, value=one.row.other_value),
            Cell(one.value, value=one.row.value),
            change_cell(one),
            p_cell(one),
            *([Cell(one.effect, "quiet")] if effects else []),
            verdict_cell(one),
            Cell(one.n, "quiet"),
        ]
        for one in values
    ]
    return Table(columns, rows, **more)


def named_model(one: ComparedValue) -> str:
    """The candidate, and the baseline's model where it has another name."""
    model = clean(one.row.model, 60)
    return model if one.row.model == one.row.other else f"{model} ({clean(one.row.other, 60)})"
