"""A run in; a Markdown report that reads well in a pull request out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from valor_cli.reports.breakdown import breakdowns
from valor_cli.reports.coverage import PARTIAL
from valor_cli.reports.digest import Digest, difference, digest, worst_first
from valor_cli.reports.formatting import covered, number, plain, signed, span
from valor_cli.reports.grids import Cell, Grid, Measure
from valor_cli.reports.markdown_findings import breakdown, calibration, confusions, spread, worst
from valor_cli.reports.markdown_judges import judges
from valor_cli.reports.markdown_samples import coverage, insights, problems, worst_texts
from valor_cli.reports.markdown_text import escaped, table
from valor_cli.results import RunInfo, RunResult

LABELS = 500
SLICES = 50
"""Lines shown in full: GitHub cuts a comment at 65,536 characters."""

MEASURES = 9
CELLS = 4_500
"""Measures shown of each label, and of all labels and models together."""

_MARKS = {"passed": "✓ passed", "failed": "✗ **failed**", "not checked": "? not checked"}


def to_markdown(result: RunResult) -> str:
    """The report; every word from the data is escaped."""
    told = digest(result)
    sections = [
        _verdict(told),
        _headline(told),
        _gates(told),
        problems(result),
        insights(result),
        coverage(result, told),
        judges(result, told),
        _slices(told),
        *map(breakdown, breakdowns(result), repeat(told)),
        confusions(result, told),
        calibration(result, told),
        spread(result, told),
        worst(result, told),
        worst_texts(result, told),
        _warnings(result.warnings, told),
        _labels(told),
        _run(result.run, told),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, sections) if lines) + "\n"


def _verdict(told: Digest) -> Iterator[str]:
    yield f"## {told.verdict.symbol} {told.verdict.word} · {told.verdict.detail}"
    yield ""
    if told.stopped:
        yield f"**STOPPED**: {escaped(told.stopped)}"
        yield ""
    yield f"**{escaped(told.task)}** · " + " · ".join(map(escaped, told.scope))


def _value(cell: Cell, measure: Measure, *, interval: bool = True) -> str:
    text = number(cell.value, measure.unit)
    text = f"**{text}**" if cell.best else text
    text = f"{text} {span(cell.interval, measure.unit)}".rstrip() if interval else text
    return text if cell.coverage is None else f"{text} ({covered(cell.coverage)})"


def _headline(told: Digest) -> Iterator[str]:
    if not told.headline.measures:
        return
    rows = list(zip(told.headline.measures, told.headline.lines[0].cells, strict=True))
    leading = told.leading if told.of_samples and told.leading else len(rows)
    yield from _measures(rows[:leading], told)
    if told.partial:
        yield f"\n{PARTIAL}."
    if rows[leading:]:
        yield f"\n<details><summary>{len(rows) - leading} further outputs</summary>\n"
        yield from _measures(rows[leading:], told)
        yield "\n</details>"
    if told.unlisted:
        yield f"\n{told.unlisted:,} more in results.json"


def _measures(shown: Sequence[tuple[Measure, Sequence[Cell]]], told: Digest) -> Iterator[str]:
    pair = ["difference"] if len(told.models) == 2 else []
    rows = []
    for measure, cells in shown:
        change = [signed(difference(cells), measure.unit)] if pair else []
        values = [_value(cell, measure) for cell in cells]
        rows.append([escaped(str(measure)), *values, *change])
    yield from table(["", *map(escaped, told.models), *pair], rows)


def _gates(told: Digest) -> Iterator[str]:
    if not told.gates:
        return
    many = len(told.models) > 1
    rows = []
    for gate in told.gates:
        subject = escaped(f"{gate.subject} · {gate.where}" if gate.where else gate.subject)
        model = [escaped(gate.model)] if many else []
        cells = [gate.rule, gate.value, escaped(gate.reason)]
        rows.append([_MARKS[gate.status], subject, *model, *cells])
    yield "### Gates"
    yield ""
    headings = ["status", "metric", *(["model"] if many else []), "rule", "value", "reason"]
    yield from table(headings, rows, left=len(headings))


def _lines(grid: Grid, told: Digest, first: str, most: int, *, intervals: bool) -> Iterator[str]:
    """Labels or slices: a column per measure and model."""
    many = len(told.models) > 1
    headings = [
        f"{escaped(str(measure))}<br>{escaped(model)}" if many else escaped(str(measure))
        for measure in grid.measures
        for model in told.models
    ]
    rows = []
    for line in grid.lines[:most]:
        pairs = zip(line.cells, grid.measures, strict=True)
        values = [
            _value(cell, measure, interval=intervals) for cells, measure in pairs for cell in cells
        ]
        rows.append([escaped(line.name), number(line.n, "count"), *values])
    yield from table([first, told.n_name, *headings], rows)
    if len(grid.lines) > most:
        yield ""
        yield f"… and {len(grid.lines) - most:,} more."


def _slices(told: Digest) -> Iterator[str]:
    if not told.slices.lines:
        return
    yield "### Slices, worst first"
    yield ""
    few = slice(3)
    lines = tuple(
        type(line)(line.name, line.n, line.cells[few]) for line in worst_first(told.slices)
    )
    yield from _lines(Grid(told.slices.measures[few], lines), told, "slice", SLICES, intervals=True)


def _labels(told: Digest) -> Iterator[str]:
    if not told.labels.lines:
        return
    yield f"<details><summary>Labels ({len(told.labels.lines):,})</summary>"
    yield ""
    # Intervals would double the width of a table that is wide already; results.json has them.
    few = slice(MEASURES)
    lines = tuple(type(line)(line.name, line.n, line.cells[few]) for line in told.labels.lines)
    grid = Grid(told.labels.measures[few], lines)
    most = min(LABELS, CELLS // max(len(grid.measures) * len(told.models), 1))
    yield from _lines(grid, told, "label", most, intervals=False)
    if len(told.labels.measures) > MEASURES:
        yield ""
        yield f"… and {len(told.labels.measures) - MEASURES} more columns in results.json."
    yield ""
    yield "</details>"


def _warnings(warnings: Sequence[str], told: Digest) -> Iterator[str]:
    notes = [f"- {escaped(plain(warning, 400))}" for warning in warnings]
    notes += [f"- No predictions for labels of {escaped(line)}" for line in told.missing]
    notes += [f"- No ground truth for labels of {escaped(line)}" for line in told.ignored]
    if notes:
        yield "### Warnings"
        yield ""
        yield from notes


def _run(run: RunInfo, told: Digest) -> Iterator[str]:
    yield "<details><summary>Run</summary>"
    yield ""
    facts = {
        "valor": run.valor_version,
        "started": run.started_at,
        "duration": f"{run.duration_s:.2f} s",
        "command": run.command,
        "config": run.config,
        "config sha256": run.config_sha256,
        **dict(told.settings),
        **({"models asked": ", ".join(run.models_used)} if run.models_used else {}),
        **run.packages,
    }
    named = [[escaped(plain(k)), escaped(plain(v, 400))] for k, v in facts.items()]
    yield from table(["", ""], named, left=2)
    yield ""
    inputs = [
        [escaped(plain(file.path, 200)), f"{file.rows:,}", f"{file.skipped:,}", file.sha256[:12]]
        for file in run.inputs
    ]
    yield from table(["input", "rows", "skipped", "sha256"], inputs)
    yield ""
    yield "</details>"
