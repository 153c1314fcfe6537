"""Leaderboard of the HTML report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from valor_cli.reports.sections.comparison.rows import ComparedValue
from valor_cli.reports.sections.digest import SIDE_BY_SIDE, Digest, difference, ranking
from valor_cli.reports.sections.formatting import covered, number, signed, span
from valor_cli.reports.sections.grids import Cell, Key, Measure
from valor_cli.reports.sections.intervals import small_n_note

STRIP = 180
"""Width of a strip of bars in its own units."""

COLUMNS = 12
"""Measures beside each model where models stand in rows."""

_ARROWS = {"higher": "↑", "lower": "↓", None: ""}


def breakable(name: str) -> Markup:
    """A name that may wrap after underscores and equals signs."""
    text = str(escape(name)).replace("_", "_<wbr>").replace("=", "=<wbr>")
    return Markup(text)  # noqa: S704 - escaped just before


def heading(measure: Measure) -> Markup:
    """A measure's name with its distinguishing parameters."""
    detail = Markup(" <small>{}</small>").format(breakable(measure.detail))
    return breakable(measure.name) + (detail if measure.detail else "")


def leaderboard(digest: Digest, of_two: Mapping[Key, ComparedValue]) -> list[dict[str, Any]]:
    """One row per headline measure: its values, their difference, and bars.

    Args:
        digest: What is shown of the run.
        of_two: The difference of two models, tested, by measure.
    """
    rows = []
    lines = digest.headline.lines[0].cells if digest.headline.lines else ()
    for measure, cells in zip(digest.headline.measures, lines, strict=True):
        rows.append(
            {
                "heading": heading(measure),
                "direction": _ARROWS[measure.direction],
                "better": measure.direction,
                "cells": [_shown(cell, measure) for cell in cells],
                **_change(cells, measure, of_two.get(measure.key)),
                "strip": strip(cells, _ends(cells, measure)),
            }
        )
    return rows


def _change(
    cells: Sequence[Cell], measure: Measure, compared: ComparedValue | None
) -> dict[str, Any]:
    """The difference between two models, and whether it is significant."""
    if compared is not None:
        trend = {"better": "up", "worse": "down"}.get(compared.outcome, "")
        return {"change": compared.difference, "trend": trend, "compared": compared}
    change = difference(cells)
    trend = ""
    if change and measure.direction:
        trend = "up" if (change > 0) == (measure.direction == "higher") else "down"
    return {"change": signed(change, measure.unit), "trend": trend, "compared": None}


def ranked(digest: Digest) -> list[dict[str, Any]]:
    """One row per model, best first, if there are too many to show side by side."""
    if len(digest.models) <= SIDE_BY_SIDE or not digest.headline.lines:
        return []
    pairs = list(zip(digest.headline.measures, digest.headline.lines[0].cells, strict=True))[
        :COLUMNS
    ]
    ends = [_ends(cells, measure) for measure, cells in pairs]
    rows = []
    for model in ranking(digest.headline, len(digest.models)):
        cells = [
            (*_shown(cells[model], measure), strip([cells[model]], end, model))
            for (measure, cells), end in zip(pairs, ends, strict=True)
        ]
        rows.append({"model": digest.models[model], "index": model, "cells": cells})
    return rows


def _shown(cell: Cell, measure: Measure) -> tuple[str, str, bool, str, str, str]:
    value, interval = number(cell.value, measure.unit), span(cell.interval, measure.unit)
    part = "" if cell.coverage is None else covered(cell.coverage)
    few = small_n_note([cell.few]) if cell.few and cell.value is not None else ""
    return value, interval, cell.best, cell.undefined or "", part, few


def _ends(cells: Sequence[Cell], measure: Measure) -> tuple[float, float]:
    """Where a measure's bars begin and end: at zero; fractions on the whole way from 0 to 1."""
    points = [cell.value for cell in cells if cell.value is not None]
    points += [end for cell in cells for end in cell.interval or ()]
    return min([0.0, *points]), max([1.0 if measure.unit == "fraction" else 0.0, *points])


def strip(cells: Sequence[Cell], ends: tuple[float, float], first: int = 0) -> dict[str, Any]:
    """Stacked bars from zero with whiskers, coloured from model `first` on."""
    low, high = ends
    scale = STRIP / (high - low or 1.0)
    zero = -low * scale
    step = 12
    bars, whiskers = [], []
    for index, cell in enumerate(cells):
        y = index * step + 2
        if cell.value is not None:
            x = (cell.value - low) * scale
            color = (first + index) % 6
            bars.append((color, f"{min(x, zero):.1f}", y, f"{abs(x - zero):.1f}"))
        if cell.interval:
            a, b = ((end - low) * scale for end in cell.interval)
            whiskers.append(f"M{a:.1f} {y + 1}v6M{b:.1f} {y + 1}v6M{a:.1f} {y + 4}H{b:.1f}")
    return {"height": step * len(cells), "bars": bars, "whiskers": "".join(whiskers)}
