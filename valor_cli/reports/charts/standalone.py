"""Assemble drawings into one self-contained SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from msgspec import Struct

from valor_cli.reports.charts.plots import class_of, extent, fitted, rect, text
from valor_cli.reports.document import Chart

FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

SCALE = 2.0
"""Pixels of a unit where no width is asked for."""

_TEMPLATES = Path(__file__).parents[1] / "page"
_COLOUR = re.compile(r"--([\w-]+):\s*light-dark\(\s*(#\w+)\s*,\s*(#\w+)\s*\)")
_MARGIN = 14
_HEAD = 30
_LINE = 16
_APART = 18


class Sheet(Struct, frozen=True):
    """All of a chart.

    Attributes:
        heading: Above it.
        panels: Side by side, two in a row, each below its title if it has one.
        lines: Whether the key shows models as lines, not as areas.
        note: Below it.
    """

    heading: str
    panels: Sequence[Chart]
    lines: bool = False
    note: str = ""


def standalone(
    sheet: Sheet, models: Sequence[str], *, dark: bool = False, width: int | None = None
) -> str:
    """A self-contained SVG without script; `models` are cleaned names."""
    body, wide, high = _laid_out(sheet, models)
    pixels = width or round(wide * SCALE)
    message = ". ".join(
        filter(None, (f"{one.title}: {one.told}".strip(": ") for one in sheet.panels))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{pixels}" '
        f'height="{round(pixels * high / wide)}" viewBox="0 0 {wide} {high}" role="img" '
        f'aria-labelledby="title" aria-describedby="told">'
        f'<title id="title">{escape(sheet.heading)}</title><desc id="told">{escape(message)}</desc>'
        f"<style>{stylesheet(dark=dark)}</style>"
        f'<rect class="paper" width="{wide}" height="{high}"/>{body}</svg>\n'
    )


@cache
def stylesheet(*, dark: bool) -> str:
    """The rules of the page's charts, with the colours of one of its themes."""
    found: dict[str, str] = {}
    for file in sorted(_TEMPLATES.glob("*.css")):
        for name, light, other in _COLOUR.findall(file.read_text(encoding="utf-8")):
            found[name] = other if dark else light
    rules = (_TEMPLATES / "charts.css").read_text(encoding="utf-8")
    rules = re.sub(r"var\(--([\w-]+)\)", lambda match: found[match[1]], rules)
    return f".chart {{ font-family: {FONTS}; }}\n{rules}"


def _laid_out(sheet: Sheet, models: Sequence[str]) -> tuple[str, int, int]:
    """Ready SVG, and its size in units."""
    columns = 1 if len(sheet.panels) == 1 else 2
    rows = [sheet.panels[i : i + columns] for i in range(0, len(sheet.panels), columns)]
    widths = [max(row[at].width for row in rows if at < len(row)) for at in range(columns)]
    words = max(extent(sheet.note), min(extent(sheet.heading) * 1.3, 380))
    wide = round(2 * _MARGIN + max(sum(widths) + _APART * (columns - 1), words))
    key, y = _key(sheet, models, wide)
    heading = fitted(sheet.heading, (wide - 2 * _MARGIN) * 0.75)
    parts = [text(heading, _MARGIN, 22, "heading", limit=200), key]
    named = _LINE if any(one.title for one in sheet.panels) else 0
    for row in rows:
        x = _MARGIN
        for one, width in zip(row, widths, strict=False):
            if one.title:
                parts.append(text(fitted(one.title, width), x + 4, y + 10))
            parts.append(f'<g transform="translate({x} {y + named})">{one.svg}</g>')
            x += width + _APART
        y += max(one.height for one in row) + named + 6
    if sheet.note:
        parts.append(text(sheet.note, _MARGIN, y + 10, "quiet", limit=160))
        y += _LINE
    return "".join(parts), wide, y + 8


def _key(sheet: Sheet, models: Sequence[str], wide: int) -> tuple[str, int]:
    """Which colour is what, and where what follows begins."""
    shown = dict.fromkeys(model for one in sheet.panels for model in one.models)
    items = [(class_of(model), models[model], sheet.lines) for model in shown]
    kinds = dict.fromkeys(item for one in sheet.panels for item in one.key)
    items += [(kind, name, False) for kind, name in kinds]
    parts, x, y = [], float(_MARGIN), _HEAD + 8
    for kind, name, line in items:
        told = fitted(name, wide - 2 * _MARGIN - 30)
        if x > _MARGIN and x + 28 + extent(told) > wide - _MARGIN:
            x, y = float(_MARGIN), y + _LINE
        if line:
            parts.append(f'<path class="key {kind}" d="M{x:.1f} {y - 4}h22"/>')
        else:
            parts.append(rect(f"{kind}", x + 4, y - 9, 11, 11))
        parts.append(text(told, x + (28 if line else 21), y, limit=200))
        x += (28 if line else 21) + extent(told) + 14
    return "".join(parts), y + 10 if items else _HEAD
