"""A run in; its summary for a terminal out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from valor_cli.reports.breakdown import breakdowns, costliest
from valor_cli.reports.confusion import confusions, first_of_each_model, top_pairs
from valor_cli.reports.digest import (
    SIDE_BY_SIDE,
    Cell,
    Digest,
    Gate,
    Measure,
    difference,
    digest,
    ranking,
)
from valor_cli.reports.digest import worst_first as by_worst
from valor_cli.reports.formatting import number, plain, signed, span
from valor_cli.results import MetricResult, RunResult

SCREEN = 30
"""Lines the summary tries to stay within."""

_MOST = {"headline": 12, "gates": 8, "slices": 6, "warnings": 5}
_LEAST = {"headline": 6, "gates": 3, "slices": 3, "warnings": 2}
_STYLES = {"PASSED": "bold green", "FAILED": "bold red", "DONE": "bold"}
_MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "not checked": ("?", "yellow")}

_AP, _AR = "Average Precision", "Average Recall"
_COCO = (
    ("AP", _AP, "", "all", 100),
    ("AP50", _AP, "0.50", "all", 100),
    ("AP75", _AP, "0.75", "all", 100),
    ("APsmall", _AP, "", "small", 100),
    ("APmedium", _AP, "", "medium", 100),
    ("APlarge", _AP, "", "large", 100),
    ("AR@1", _AR, "", "all", 1),
    ("AR@10", _AR, "", "all", 10),
    ("AR@100", _AR, "", "all", 100),
    ("ARsmall", _AR, "", "small", 100),
    ("ARmedium", _AR, "", "medium", 100),
    ("ARlarge", _AR, "", "large", 100),
)


def summary(result: RunResult, files: Sequence[str]) -> RenderableType:
    """What a person reads after a run: verdict first, where the reports lie last.

    Colour only repeats what the words say.
    """
    told = digest(result)
    warnings = [plain(warning, 150) for warning in result.warnings]
    errors = _errors(result, told)
    room = _room(told, len(warnings), len(files) + len(errors) + bool(errors))
    parts = [_verdict(told)]
    parts += _section(_headline(told, room["headline"]))
    parts += _section(_gates(told.gates, room["gates"], many=len(told.models) > 1))
    parts += _section(_slices(told, room["slices"]))
    parts += _section(iter(errors))
    parts += _section(_notes(told, warnings, room["warnings"]))
    if files:
        shown = [plain(file, 200) for file in files]
        parts += ["", Text.assemble(("Report", "bold"), "  ", "\n        ".join(shown))]
    return Group(*parts)


def coco_table(result: RunResult) -> str:
    """The lines of pycocotools for each model; empty where `coco` was not computed."""
    tables: dict[tuple[str, tuple[Any, ...]], dict[str, MetricResult]] = {}
    for row in result.metrics:
        if row.metric == "coco" and row.label is None and row.slice is None:
            ious = row.parameters.get("iou_thresholds", (0.5, 0.95))
            tables.setdefault((row.model, tuple(cast(Sequence[Any], ious))), {})[row.output] = row
    blocks = []
    for (model, ious), rows in tables.items():
        lines = [_coco_line(rows[name], ious, *rest) for name, *rest in _COCO if name in rows]
        if len(tables) > 1:
            lines.insert(0, plain(model, 60))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _coco_line(row: MetricResult, ious: Sequence[float], *cells: object) -> str:
    title, iou, area, most = cells
    kind = "(AP)" if title == _AP else "(AR)"
    several = f"{ious[0]:.2f}:{ious[-1]:.2f}" if len(ious) > 1 else f"{ious[0]:.2f}"
    value = -1.0 if row.value is None else row.value  # as pycocotools prints "no such objects"
    return (
        f" {title:<18} {kind} @[ IoU={iou or several:<9} | area={area:>6} | maxDets={most:>3} ]"
        f" = {value:0.3f}"
    )


def _room(told: Digest, warnings: int, lines: int) -> dict[str, int]:
    """How many lines each section gets: the longest give way until all fit the screen.

    `lines` counts those that stand in any case.
    """
    wanted = {
        "headline": len(told.headline.measures),
        "gates": len(told.gates),
        "slices": len(told.slices.lines),
        "warnings": warnings,
    }
    room = {name: min(count, _MOST[name]) for name, count in wanted.items()}
    frame = 3 + lines + sum(2 for count in room.values() if count)
    frame += len(told.missing[:SIDE_BY_SIDE]) + len(told.ignored[:SIDE_BY_SIDE])
    while True:
        cut = sum(room[name] < count for name, count in wanted.items())
        longest = max(room, key=lambda name: room[name] - _LEAST[name])
        if sum(room.values()) + frame + cut <= SCREEN or room[longest] <= _LEAST[longest]:
            return room
        room[longest] -= 1


def _section(parts: Iterator[RenderableType]) -> list[RenderableType]:
    found = list(parts)
    return ["", *found] if found else []


def _verdict(told: Digest) -> RenderableType:
    word = (told.verdict.word, _STYLES[told.verdict.word])
    head = Text.assemble(word, f"  {told.verdict.detail}")
    scope = Text(" · ".join((told.task, *told.scope)))
    return Group(head, scope)


def _table(*headings: str) -> Table:
    """A borderless table: first column left and free to wrap, numbers right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, heading in enumerate(headings):
        table.add_column(
            Text(plain(heading, 32) if heading else heading),
            justify="right" if index else "left",
            overflow="fold",
            no_wrap=index > 0,
        )
    return table


def _headline(told: Digest, most: int) -> Iterator[RenderableType]:
    grid = told.headline
    if not grid.measures:
        yield Text("No overall values; the report lists what was found per label.")
        return
    intervals = any(cell.interval for line in grid.lines for cells in line.cells for cell in cells)
    count = len(told.models)
    if count > SIDE_BY_SIDE or (count > 2 and intervals):
        yield from _ranking(told)
        return
    pair = ["difference"] if count == 2 else []
    table = _table("", *told.models, *pair)
    for measure, cells in list(zip(grid.measures, grid.lines[0].cells, strict=True))[:most]:
        table.add_row(Text(str(measure)), *_row(measure, cells))
    yield table
    yield from _more(len(grid.measures) - most)


def _row(measure: Measure, cells: Sequence[Cell]) -> Iterator[Text]:
    for cell in cells:
        yield _value(cell, measure)
    if len(cells) == 2:
        change = difference(cells)
        good = change is not None and (change > 0) == (measure.direction == "higher")
        style = "none" if not change or measure.direction is None else "green" if good else "red"
        yield Text(signed(change, measure.unit), style=style)


def _ranking(told: Digest) -> Iterator[RenderableType]:
    """Many models: one a line, best first, with the first few measures."""
    grid = told.headline
    columns = 3
    order = ranking(grid, len(told.models))
    table = _table("", *(str(measure) for measure in grid.measures[:columns]))
    for model in order[: _MOST["headline"]]:
        cells = [cells[model] for cells in grid.lines[0].cells[:columns]]
        values = [_value(cell, at) for cell, at in zip(cells, grid.measures, strict=False)]
        table.add_row(Text(plain(told.models[model], 24)), *values)
    yield table
    yield from _more(len(order) - _MOST["headline"])


def _value(cell: Cell, measure: Measure) -> Text:
    text = Text.assemble((number(cell.value, measure.unit), "bold" if cell.best else ""))
    if cell.interval:
        text.append(f" {span(cell.interval, measure.unit)}", style="dim")
    return text


def _gates(gates: Sequence[Gate], most: int, *, many: bool) -> Iterator[RenderableType]:
    if not gates:
        return
    table = _table("", "Gate", "rule", "value", "")
    table.columns[0].no_wrap = True
    table.columns[1].justify = table.columns[4].justify = "left"
    table.columns[1].no_wrap = table.columns[4].no_wrap = False
    for gate in gates[:most]:
        mark, style = _MARKS[gate.status]
        subject = Text(gate.subject)
        if gate.where:
            subject.append(f"[{gate.where}]")
        if many:
            subject.append(f"  {gate.model}", style="dim")
        status = Text(f"{mark} {gate.status}", style=style)
        table.add_row(status, subject, Text(gate.rule), Text(gate.value), Text(gate.reason))
    yield table
    yield from _more(len(gates) - most)


def _slices(told: Digest, most: int) -> Iterator[RenderableType]:
    if not told.slices.lines:
        return
    measure = told.slices.measures[0]
    shown = told.models[:SIDE_BY_SIDE]
    table = _table(f"Worst {measure} by slice", *shown, "n")
    for line in by_worst(told.slices)[:most]:
        cells = line.cells[0][: len(shown)]
        if len(shown) > 2:
            cells = tuple(replace(cell, interval=None) for cell in cells)
        values = [_value(cell, measure) for cell in cells]
        table.add_row(Text(line.name), *values, Text(number(line.n, "count")))
    yield table
    yield from _more(len(told.slices.lines) - most)


def _errors(result: RunResult, told: Digest) -> list[Text]:
    """Where most is lost and what is confused most, a line each with all models."""
    lost: dict[str, str] = {}
    for breakdown in breakdowns(result)[:1]:
        for model, name in enumerate(told.models):
            if kind := costliest(breakdown, model):
                share = kind.shares[model]
                lost[name] = f"{kind.name} {signed(-(share.cost or 0.0))}"
    confused = {
        told.models[one.model]: f"{pair.ground_truth} → {pair.prediction} {pair.count:,}×"
        for one in first_of_each_model(confusions(result))
        for pair in top_pairs(one, 1)
    }
    lines = []
    for title, found in (("Most AP is lost to", lost), ("Confused most", confused)):
        many = len(told.models) > 1
        texts = [f"{text}, {plain(model, 24)}" if many else text for model, text in found.items()]
        if texts:
            lines.append(_one_line(f"{title:<20}{' · '.join(texts)}"))
    return lines


def _notes(told: Digest, warnings: Sequence[str], most: int) -> Iterator[RenderableType]:
    if warnings:
        yield Text("Warnings", style="bold yellow")
        for warning in warnings[:most]:
            yield Text(f"  {warning}")
        yield from _more(len(warnings) - most)
    for line in told.missing[:SIDE_BY_SIDE]:
        yield _one_line(f"No predictions for labels of {line}")
    for line in told.ignored[:SIDE_BY_SIDE]:
        yield _one_line(f"No ground truth for labels of {line}")


def _one_line(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def _more(count: int) -> Iterator[RenderableType]:
    if count > 0:
        yield Text(f"  … {count} more", style="dim")
