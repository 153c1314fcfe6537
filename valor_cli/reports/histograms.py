"""A run in; charts of how the values of its samples spread, metric by metric, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from valor_cli.reports.charts.distribution_sheet import Spreads, spreads
from valor_cli.results import RunResult

MODELS = 6
"""Models drawn in one chart."""

CHARTS = 24
"""Metrics drawn; the page says how many it left out."""


def histogram_charts(result: RunResult, models: Sequence[str]) -> dict[str, Any]:
    """What histograms.html.j2 shows: a chart for each metric that says more than yes or no.

    Args:
        result: The run; of images other charts show how they spread.
        models: Its models' names as they are shown.
    """
    judged = [one for one in result.samples if one.statuses is not None]
    found = [
        one
        for one in spreads(replace(result, samples=judged))
        if not all(value in (0, 1) for part in one.values for value in part.values)
    ]
    drawn = [replace(one, values=one.values[:MODELS]) for one in found[:CHARTS]]
    return {
        "charts": [(_heading(one), one.drawn(models)) for one in drawn],
        "left_out": len(found) - len(drawn),
        "more_models": max((len(one.values) for one in found), default=0) > MODELS,
    }


def _heading(one: Spreads) -> str:
    return f"{one.name} ({one.detail})" if one.detail else one.name
