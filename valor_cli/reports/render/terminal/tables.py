"""Tables of the terminal summary, fitted to its width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from valor_cli.reports.render.terminal.table_width import HEADING, Fitting, table
from valor_cli.reports.sections.comparison.rows import ComparedValue
from valor_cli.reports.sections.coverage import PARTIAL
from valor_cli.reports.sections.digest import SIDE_BY_SIDE, Digest, difference, ranking
from valor_cli.reports.sections.digest import worst_first as by_worst
from valor_cli.reports.sections.formatting import clean, covered, number, signed, span
from valor_cli.reports.sections.gates import Gate
from valor_cli.reports.sections.grids import FEW_MARK, Cell, Key, Line, Measure

RANKED = 12
"""Models shown one a line at most."""

_MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "not checked": ("?", "yellow")}


class _Form(NamedTuple):
    """How much of a table is shown: the less, the narrower."""

    columns: int
    intervals: bool = True
    difference: bool = True
    heading: int = HEADING
    verdict: bool = False
    p: bool = False


def _compared_forms(columns: int) -> Iterator[_Form]:
    """As `_forms`, with the verdict; p-value, then intervals, then the verdict are dropped."""
    for intervals in (True, False):
        for p in (True, False):
            yield _Form(columns, intervals, verdict=True, p=p)
            yield _Form(columns, intervals, heading=12, verdict=True, p=p)
    yield from _forms(columns)


def _forms(columns: int) -> Iterator[_Form]:
    """Narrower and narrower: without intervals, then the difference, then further columns."""
    for intervals in (True, False):
        yield _Form(columns, intervals)
        yield _Form(columns, intervals, heading=12)
    for left in range(columns, 0, -1):
        yield _Form(left, intervals=False, difference=False, heading=12)


def headline(
    digest: Digest, most: int, compared: Mapping[Key, ComparedValue] | None = None
) -> Iterator[RenderableType]:
    """Headline values, with models side by side, or one per line if many.

    Args:
        digest: What there is to show.
        most: Lines.
        compared: By measure, the comparison of the second model with the first.
    """
    grid = digest.headline
    if not grid.measures:
        yield Text("No overall values; the report shows what was found.")
        return
    intervals = any(cell.interval for line in grid.lines for cells in line.cells for cell in cells)
    count = len(digest.models)
    # A ranking has room for few measures, and runs of samples have many.
    if count > SIDE_BY_SIDE or (count > 2 and intervals and not digest.of_samples):
        yield from _ranking(digest)
    else:
        forms = _compared_forms(count) if compared else _forms(count)
        yield Fitting(_side_by_side(digest, most, form, compared or {}) for form in forms)
        yield from more(len(grid.measures) + digest.unlisted - most)
    if digest.partial:
        yield Text(PARTIAL, style="dim")


def _side_by_side(
    digest: Digest, most: int, form: _Form, compared: Mapping[Key, ComparedValue]
) -> list[RenderableType]:
    pair = ["difference"] if len(digest.models) == 2 and form.difference else []
    pair += [f"{digest.models[1]} is"] if form.verdict else []
    made = table("", *digest.models[: form.columns], *pair, width=form.heading)
    rows = list(zip(digest.headline.measures, digest.headline.lines[0].cells, strict=True))[:most]
    values = [_values(cells, measure, form) for measure, cells in rows]
    for index, column in enumerate(zip(*values, strict=True)):
        tails = [len(_part(cells[index])) for _, cells in rows]
        _line_up(column, tails, str(made.columns[index + 1].header))
    for (measure, cells), texts in zip(rows, values, strict=True):
        one = compared.get(measure.key)
        change = [_change(cells, measure, one)] if pair else []
        change += [_judged(one, p=form.p)] if form.verdict else []
        made.add_row(Text(str(measure)), *texts, *change)
    if form.verdict:
        made.columns[-1].justify = "left"
    return [made, *_left_out(len(digest.models) - form.columns)]


def _line_up(column: Sequence[Text], tails: Sequence[int], heading: str) -> None:
    """Numbers below each other where some are followed by their coverage, so many characters."""
    if not any(tails):
        return
    for text, tail in zip(column, tails, strict=True):
        text.pad_right(max(tails) - tail)
    widest = max(map(cell_len, (*heading.split("\n"), *(text.plain for text in column))))
    for text in column:
        text.pad_left(widest - text.cell_len)
        text.justify = "left"  # to the right, Rich would take the room behind the number away


def _change(cells: Sequence[Cell], measure: Measure, compared: ComparedValue | None) -> Text:
    """How far the second model is from the first: over the samples of both, where they are paired.

    The two values may rest on other samples each, and their difference be another one.
    """
    change = difference(cells) if compared is None else compared.row.difference
    good = change is not None and (change > 0) == (measure.direction == "higher")
    style = "none" if not change or measure.direction is None else "green" if good else "red"
    return Text(signed(change, measure.unit), style=style)


def _judged(one: ComparedValue | None, *, p: bool) -> Text:
    """The verdict of the second model, with its p-value."""
    if one is None:
        return Text("")
    # What shows two runs is imported where there are two: 5 ms.
    from valor_cli.reports.render.terminal.compared import STYLES

    text = Text(one.verdict, style=STYLES[one.outcome])
    return text.append(f" {one.p}", style="dim") if p and one.row.p is not None else text


def _ranking(digest: Digest) -> Iterator[RenderableType]:
    """Many models: one a line, best first, with the first few measures."""
    order = ranking(digest.headline, len(digest.models))
    columns = min(6 if digest.of_samples else 3, len(digest.headline.measures))
    yield Fitting([_ranked(digest, order, form)] for form in _forms(columns))
    yield from more(len(order) - RANKED)


def _ranked(digest: Digest, order: Sequence[int], form: _Form) -> RenderableType:
    measures = digest.headline.measures[: form.columns]
    made = table("", *map(str, measures), width=form.heading)
    rows = [[cells[model] for cells in digest.headline.lines[0].cells] for model in order[:RANKED]]
    values = [
        [_value(cell, at, interval=form.intervals) for cell, at in zip(row, measures, strict=False)]
        for row in rows
    ]
    for index, column in enumerate(zip(*values, strict=True)):
        tails = [len(_part(row[index])) for row in rows]
        _line_up(column, tails, str(made.columns[index + 1].header))
    for model, texts in zip(order, values, strict=False):
        made.add_row(Text(clean(digest.models[model], 24)), *texts)
    return made


def _values(cells: Sequence[Cell], measure: Measure, form: _Form) -> list[Text]:
    return [_value(cell, measure, interval=form.intervals) for cell in cells[: form.columns]]


def _value(cell: Cell, measure: Measure, *, interval: bool) -> Text:
    text = Text.assemble((number(cell.value, measure.unit), "bold" if cell.best else ""))
    if interval and cell.interval:
        text.append(f" {span(cell.interval, measure.unit)}", style="dim")
    text.append(_part(cell), style="yellow")
    return text


def _part(cell: Cell) -> str:
    few = FEW_MARK if cell.few else ""
    return few if cell.coverage is None else f"{few} ({covered(cell.coverage)})"


def gates(held: Sequence[Gate], most: int, *, many: bool) -> Iterator[RenderableType]:
    """Gates and their results."""
    if held:
        shown = held[:most]
        yield Fitting([[_gate_table(shown, many=many)], [_narrow_gates(shown, many=many)]])
        yield from more(len(held) - most)


def _gate_table(gates: Sequence[Gate], *, many: bool) -> RenderableType:
    made = table("", "Gate", "rule", "value", "")
    made.columns[0].no_wrap = True
    made.columns[1].justify = made.columns[4].justify = "left"
    made.columns[1].no_wrap = made.columns[4].no_wrap = False
    for gate in gates:
        mark, style = _MARKS[gate.status]
        status = Text(f"{mark} {gate.status}", style=style)
        subject = _subject(gate, many=many)
        made.add_row(status, subject, Text(gate.rule), Text(gate.value), Text(gate.reason))
    return made


def _narrow_gates(gates: Sequence[Gate], *, many: bool) -> RenderableType:
    """The status as a mark only, with the reason below the gate."""
    made = table("Gate", "rule", "value")
    for gate in gates:
        mark, style = _MARKS[gate.status]
        subject = Text.assemble((f"{mark} ", style), _subject(gate, many=many))
        if gate.reason:
            subject.append(f"\n  {gate.reason}")
        made.add_row(subject, Text(gate.rule), Text(gate.value))
    return made


def _subject(gate: Gate, *, many: bool) -> Text:
    subject = Text(gate.subject)
    if gate.where:
        subject.append(f"[{gate.where}]")
    if many:
        subject.append(f"  {gate.model}", style="dim")
    return subject


def shown_lines(digest: Digest, measures: int, slices: int) -> Iterator[Line]:
    """The lines of the value tables, up to a limit."""
    for line in digest.headline.lines:
        yield replace(line, cells=line.cells[:measures])
    for line in by_worst(digest.slices)[:slices]:
        yield replace(line, cells=line.cells[:1])


def slices(digest: Digest, most: int) -> Iterator[RenderableType]:
    """The worst slices by the first headline measure."""
    if not digest.slices.lines:
        return
    forms = _forms(min(len(digest.models), SIDE_BY_SIDE))
    lines = by_worst(digest.slices)[:most]
    yield Fitting(_slice_table(digest, lines, form) for form in forms)
    yield from more(len(digest.slices.lines) - most)


def _slice_table(digest: Digest, lines: Sequence[Line], form: _Form) -> list[RenderableType]:
    measure = digest.slices.measures[0]
    shown = digest.models[: form.columns]
    made = table(f"Worst {measure} by slice", *shown, "n", width=form.heading)
    kept = form._replace(intervals=form.intervals and len(shown) <= 2)
    for line in lines:
        values = _values(line.cells[0], measure, kept)
        made.add_row(Text(line.name), *values, Text(number(line.n, "count")))
    return [made, *_left_out(min(len(digest.models), SIDE_BY_SIDE) - form.columns)]


def _left_out(models: int) -> Iterator[Text]:
    if models > 0:
        yield Text(f"  … {models} more model{'s' if models > 1 else ''}", style="dim")


def more(count: int) -> Iterator[RenderableType]:
    """A line that says how many lines are omitted."""
    if count > 0:
        yield Text(f"  … {count} more", style="dim")
