"""Data of reliability diagrams and distributions for the HTML report."""

from __future__ import annotations

from typing import Any

from valor_cli.reports.charts.calibration import error_of, reliability, span
from valor_cli.reports.charts.distribution import MARKS, distributions
from valor_cli.reports.charts.distribution_sheet import spread
from valor_cli.reports.sections.anchors import Anchors
from valor_cli.reports.sections.formatting import capital, clean, number, signed
from valor_cli.reports.sections.reliability import Reliability, calibrations
from valor_cli.reports.sections.samples.table import sample_tables
from valor_cli.results import RunResult

DRAWN = 4
"""Models with a diagram at each setting; the table has all of them."""

SETTINGS = 12
"""Settings shown; results.json has all of them."""


def diagrams(result: RunResult, anchors: Anchors) -> dict[str, Any]:
    """The parts of calibration.html.j2 and samples.html.j2."""
    found = calibrations(result)
    models = [clean(model, 60) for model in result.models]
    unit = "image" if "images" in result.data else "sample"
    spreads = distributions(result)[:SETTINGS]
    return {
        "calibrations": [
            {
                "title": part.title,
                "drawn": [_diagram(one, part.metric) for one in part.models[:DRAWN]],
                "models": [_table(one) for one in part.models],
            }
            for part in found[:SETTINGS]
        ],
        "all_calibrations": len(found),
        "distributions": [
            {
                "title": part.title,
                "heading": capital(part.title),
                "detail": part.detail,
                "drawing": spread(part, models, unit),
                "marks": [name for _, name in MARKS],
                "rows": [(one.model, one.marks) for one in part.spreads],
            }
            for part in spreads
        ],
        "sample_tables": [
            {
                "title": part.title,
                "headings": [capital(name) for name in part.headings],
                "rows": [
                    (anchors.name(sample, part.title, "values"), name, values)
                    for sample, (name, values) in zip(part.sample_ids, part.rows, strict=True)
                ],
                "left_out": f"{part.left_out:,}" if part.left_out else "",
            }
            for part in sample_tables(result)
        ],
    }


def _diagram(one: Reliability, metric: str) -> dict[str, Any]:
    return {
        "model": one.model,
        "leaning": one.leaning,
        "error": error_of(one, metric),
        "drawing": reliability(one, metric),
    }


def _table(one: Reliability) -> dict[str, Any]:
    rows = [
        (
            span(part),
            f"{part.n:,}",
            number(part.confidence),
            number(part.accuracy),
            signed(part.gap),
        )
        for part in one.bins
    ]
    return {"model": one.model, "leaning": one.leaning, "rows": rows}
