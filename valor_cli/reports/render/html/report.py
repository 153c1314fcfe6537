"""HTML report of a run, as one self-contained page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from valor_cli.reports.charts.curve_charts import DRAWN, counted, figures
from valor_cli.reports.charts.curves import Curves, curves
from valor_cli.reports.charts.diagrams import diagrams
from valor_cli.reports.charts.distribution import distributions
from valor_cli.reports.charts.lines import lined
from valor_cli.reports.explorer import page as explorer_page
from valor_cli.reports.explorer.data import Explorer, explorer_of
from valor_cli.reports.render.html.compiled_templates import CompiledTemplates
from valor_cli.reports.render.html.differences import differences
from valor_cli.reports.render.html.error_views import illustrated
from valor_cli.reports.render.html.leaderboard import leaderboard, ranked
from valor_cli.reports.render.html.line_tables import label_views, slice_table
from valor_cli.reports.render.html.samples import sample_section
from valor_cli.reports.render.html.worst_slices import search_texts
from valor_cli.reports.sections.anchors import Anchors
from valor_cli.reports.sections.comparison.rows import MARKS
from valor_cli.reports.sections.coverage import PARTIAL
from valor_cli.reports.sections.digest import Digest, digest
from valor_cli.reports.sections.formatting import clean, shown_input
from valor_cli.reports.sections.grids import FEW_MARK, Cell, Grid, few_of
from valor_cli.reports.sections.intervals import interval_text, small_n_note
from valor_cli.reports.sections.judge_agreement import agreement_lines, prompt_lines
from valor_cli.reports.sections.judge_usage import usage_table
from valor_cli.results import EmbeddedImages, RunInfo, RunResult

_TEMPLATES = Path(__file__).parents[2] / "page" / "templates"
_SCRIPTS = ("report.js", "errors.js", "samples.js", "links.js")
_CHART_SCRIPTS = ("../vendor/uplot.min.js", "plots.js", "curves.js")
_CHART_STYLES = ("../vendor/uplot.min.css", "plots.css")
_STYLES = (
    "report.css",
    "charts.css",
    "errors.css",
    "diagrams.css",
    "samples.css",
    "judges.css",
    "links.css",
)
_MARKS = {"passed": "✓", "failed": "✗", "not checked": "?"}

_NO_PICTURES = EmbeddedImages()

COUNTED = 4
"""Models whose counts are drawn; the table has all of them."""

USAGE = 120
AGREEMENTS = 100
PROMPTS = 100
"""Lines listed; results.json has all of them."""


def to_html(
    result: RunResult,
    pictures: EmbeddedImages = _NO_PICTURES,
    prepared: Digest | None = None,
    explored: Explorer | None = None,
) -> str:
    """A self-contained page; all data is escaped.

    Args:
        result: The run.
        pictures: Images embedded or beside it; other drawings have a plain background.
        prepared, explored: Made before, as they are needed elsewhere, too.
    """
    explored = explorer_of(result, pictures) if explored is None else explored
    told = digest(result) if prepared is None else prepared
    anchors = Anchors()
    found = differences(result)
    drawn = curves(result)
    live = charted(drawn, result)
    script = "".join(map(_file, (*_SCRIPTS, *(_CHART_SCRIPTS if live else ()))))
    script += explorer_page.script() if explored else ""
    styles = (*_STYLES, *(_CHART_STYLES if live else ()))
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
        css=Markup("".join(map(_file, styles)) + (explorer_page.style() if explored else "")),  # noqa: S704 - a file of this package
        script=Markup(script),  # noqa: S704 - a file of this package
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        board=leaderboard(told, found.of_two),
        few_mark=FEW_MARK,
        few_told=small_n_note,
        few=few_of(told.headline.lines),
        how=interval_text(result, told.unit),
        compared=found,
        outcome_marks=MARKS,
        plain=clean,
        leading=_leading(told),
        ranked=ranked(told),
        partial=PARTIAL,
        bars=any(cell.interval for cell in _cells(told.headline)),
        labels=label_views(told),
        slices=slice_table(told),
        searches=search_texts(result, told.unit),
        curves=drawn,
        charted=live,
        curve_data=Markup(drawn.data),  # noqa: S704 - numbers alone, see Curves.data
        **page_charts(drawn, told.models),
        warnings=[clean(warning, 600) for warning in result.warnings],
        run=_run(result.run, told),
        packages=[(clean(k), clean(v)) for k, v in result.run.packages.items()],
        inputs=[shown_input(file) for file in result.run.inputs],
        files_beside=bool(pictures.links or pictures.overlay_links),
        **illustrated(result, pictures, anchors),
        **diagrams(result, anchors),
        **sample_section(result, told.models, anchors),
        **judge_section(result),
        **explorer_page.context(explored),
        searchable=len(anchors),
    )


def _file(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _leading(told: Digest) -> int:
    """Measures of the first table of results; those that are not primary are folded."""
    return told.leading or len(told.headline.measures)


def _cells(grid: Grid) -> Iterable[Cell]:
    return (cell for line in grid.lines for cells in line.cells for cell in cells)


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
    return [(name, clean(text, 600)) for name, text in facts]


def charted(curves: Curves, result: RunResult) -> bool:
    """Whether the page has zoomable charts: curves or distributions."""
    return bool(curves.titles) or bool(distributions(result))


def page_charts(curves: Curves, models: Sequence[str]) -> dict[str, Any]:
    """Context of curves.html.j2 and chart_macros.html.j2.

    `models` are their names, cleaned.
    """
    return {
        "curve_figures": [figures(choice, models) for choice in curves.drawn],
        "counted_figures": [
            figure
            for choice in curves.drawn[:1]
            for figure in counted(choice, curves.counted[:COUNTED], models)
        ],
        "no_lines": {kind: lined(kind, (), "") for kind in DRAWN},
        "chart_number": count(1).__next__,
    }


def judge_section(result: RunResult) -> dict[str, Any]:
    """Context of the judge template."""
    used = usage_table(result, USAGE)
    agreed = agreement_lines(result)
    prompts = prompt_lines(result)
    return {
        "judged": bool(used or agreed or prompts),
        "usage": used,
        "agreements": agreed[:AGREEMENTS],
        "all_agreements": len(agreed),
        "prompts": prompts[:PROMPTS],
        "all_prompts": len(prompts),
    }
