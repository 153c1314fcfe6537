"""A run in; one self-contained HTML page out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from valor_cli.reports.compiled_templates import CompiledTemplates
from valor_cli.reports.coverage import PARTIAL
from valor_cli.reports.curves import PLOT, curves
from valor_cli.reports.diagrams import diagrams
from valor_cli.reports.digest import Digest, digest
from valor_cli.reports.digest import worst_first as by_worst
from valor_cli.reports.formatting import covered, number, plain, span, words
from valor_cli.reports.grids import Cell, Grid, Line, Measure
from valor_cli.reports.illustrated import illustrated
from valor_cli.reports.judges_told import judges_told
from valor_cli.reports.leaderboard import breakable, heading, leaderboard, ranked
from valor_cli.reports.samples_told import samples_told
from valor_cli.results import Pictures, RunInfo, RunResult

SLICE_MEASURES = 4
"""Headline measures shown for each slice."""

VIEW = 9
"""Columns of each label table at most, except that a metric's own stay together."""

CELLS = 25_000
"""Cells of the label table at most, about 1.5 MB; the page says how many labels it left out."""

_TEMPLATES = Path(__file__).with_name("templates")
_SCRIPTS = ("report.js", "roc.js", "errors.js", "samples.js")
_STYLES = ("report.css", "errors.css", "diagrams.css", "samples.css", "judges.css")
_MARKS = {"passed": "✓", "failed": "✗", "not checked": "?"}

_NO_PICTURES = Pictures()


def to_html(result: RunResult, pictures: Pictures = _NO_PICTURES) -> str:
    """The page: nothing in it is fetched, and every word from the data is escaped.

    Args:
        result: The run.
        pictures: Images to embed; the drawings of the others stand on a plain ground.
    """
    script = "".join(map(_file, _SCRIPTS))
    told = digest(result)
    drawn = curves(result)
    folder = FileSystemLoader(_TEMPLATES)
    page = Environment(
        loader=folder,
        bytecode_cache=CompiledTemplates(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return page.get_template("report.html.j2").render(
        told=told,
        verdict=told.verdict,
        marks=_MARKS,
        css=Markup("".join(map(_file, _STYLES))),  # noqa: S704 - a file of this package
        script=Markup(script),  # noqa: S704 - a file of this package
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        board=leaderboard(told),
        leading=_leading(told),
        ranked=ranked(told),
        partial=PARTIAL,
        bars=any(cell.interval for cell in _cells(told.headline)),
        labels=_label_views(told),
        slices=_slices(told),
        curves=drawn,
        curve_data=Markup(drawn.data),  # noqa: S704 - numbers alone, see Curves.data
        plot=PLOT,
        ticks=_ticks(),
        warnings=[plain(warning, 600) for warning in result.warnings],
        run=_run(result.run, told),
        packages=[(plain(k), plain(v)) for k, v in result.run.packages.items()],
        inputs=[
            (plain(file.path, 200), f"{file.rows:,}", f"{file.skipped:,}", plain(file.sha256))
            for file in result.run.inputs
        ],
        **illustrated(result, pictures),
        **diagrams(result),
        **samples_told(result, told.models),
        **judges_told(result),
    )


def _file(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _leading(told: Digest) -> int:
    """Measures of the first table of results; further outputs of metrics of samples are folded."""
    folded = told.of_samples and told.leading
    return told.leading if folded else len(told.headline.measures)


def _cells(grid: Grid) -> Iterable[Cell]:
    return (cell for line in grid.lines for cells in line.cells for cell in cells)


def _bounded(told: Digest) -> Sequence[Line]:
    width = len(told.labels.measures) * len(told.models)
    return told.labels.lines[: CELLS // max(width, 1)]


def _label_views(told: Digest) -> list[dict[str, Any]]:
    """The label table, in parts that are narrow enough to read."""
    lines = _bounded(told)
    parts = []
    for view in views(told.labels.measures):
        measures = tuple(told.labels.measures[index] for index in view)
        part = [Line(one.name, one.n, tuple(one.cells[i] for i in view)) for one in lines]
        metrics = dict.fromkeys(words(measure.metric or measure.name) for measure in measures)
        title = ", ".join(metrics)
        parts.append(_table(Grid(measures, tuple(part)), part, told) | {"title": title})
    return parts


def views(measures: Sequence[Measure]) -> list[list[int]]:
    """Positions of the measures by table: a metric's together, counts apart, about `VIEW` each."""
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


def _slices(told: Digest) -> dict[str, Any]:
    few = slice(SLICE_MEASURES)
    lines = tuple(Line(line.name, line.n, line.cells[few]) for line in by_worst(told.slices))
    return _table(Grid(told.slices.measures[few], lines), lines, told, intervals=True)


def _table(
    grid: Grid, lines: Sequence[Line], told: Digest, *, intervals: bool = False
) -> dict[str, Any]:
    """Labels or slices: headings, and rows whose numbers are ready HTML."""
    measures = [measure for measure in grid.measures for _ in told.models]
    rows = []
    for line in lines:
        cells = [cell for cells in line.cells for cell in cells]
        numbers = "".join(map(_td, cells, measures, [intervals] * len(cells)))
        ready = Markup(numbers)  # noqa: S704 - _td escapes what comes from the data
        rows.append((breakable(line.name), number(line.n, "count"), ready))
    return {"headings": [heading(measure) for measure in grid.measures], "rows": rows}


def _td(cell: Cell, measure: Measure, intervals: bool) -> str:
    if cell.value is None:
        return f'<td class="na" title="{escape(cell.undefined or "no value")}">–</td>'
    text = number(cell.value, measure.unit)
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


def _ticks() -> list[tuple[str, float, float]]:
    """Gridlines every 0.2: their text and where they stand across and down."""
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    return [(f"{i / 5:.1f}", left + w * i / 5, top + h * (1 - i / 5)) for i in range(6)]


def _run(run: RunInfo, told: Digest) -> list[tuple[str, str]]:
    facts = [
        ("valor", run.valor_version),
        ("Started", run.started_at),
        ("Duration", f"{run.duration_s:.2f} s"),
        ("Command", run.command),
        ("Config", run.config),
        ("Config sha256", run.config_sha256),
        *((name.capitalize(), text) for name, text in told.settings),
        *([("Models asked", ", ".join(run.models_used))] if run.models_used else []),
    ]
    return [(name, plain(text, 600)) for name, text in facts]
