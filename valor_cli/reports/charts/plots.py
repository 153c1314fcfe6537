"""SVG primitives of charts: axes, paths, texts.

Nothing is coloured here: elements have classes that page/charts.css styles, both on the page
and in separate files.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.document import Chart

PLOT = {"width": 380, "height": 262, "left": 30, "top": 24, "w": 338, "h": 200}
"""Positions of the axes in a chart; the script uses the same numbers."""

MODELS = 6
"""Colours and dashes there are; further models begin again."""

LETTER = 6.0
"""Width of a letter of a chart's text, in the chart's units: a little more than most have."""

_ROUNDED = 1e-3
"""The part of a step by which a multiple may miss an end of an axis and still be on it."""

Column = Sequence[float | None]


def path(xs: Column, ys: Column) -> str:
    """An SVG path through the defined points, with gaps at undefined ones."""
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    parts = []
    pen = "M"
    for x, y in zip(xs, ys, strict=True):
        if x is None or y is None:
            pen = "M"
            continue
        parts.append(f"{pen}{left + w * x:.1f} {top + h * (1 - y):.1f}")
        pen = "L"
    return "".join(parts)


def ticks() -> list[tuple[str, float, float]]:
    """Gridlines every 0.2: their label and position on both axes."""
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    return [(f"{i / 5:.1f}", left + w * i / 5, top + h * (1 - i / 5)) for i in range(6)]


def text(
    words: str, x: float, y: float, kind: str = "", anchor: str = "", *, limit: int = 60
) -> str:
    """A line of text; data is cleaned, shortened and escaped."""
    shown = escape(clean(words, limit))
    named = f' class="{kind}"' if kind else ""
    side = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}"{side}>{shown}</text>'


def rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    """A rectangle."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{max(height, 0.0):.1f}"'
    return f'<rect class="{kind}" {place}/>'


def title(words: str) -> str:
    """A tooltip."""
    return f"<title>{escape(words)}</title>"


def extent(words: str) -> float:
    """Approximate width of a text; East Asian wide characters count twice."""
    return LETTER * sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in words)


def fitted(words: str, room: float) -> str:
    """A text shortened to fit."""
    shown = clean(words, 200)
    while extent(shown) > room and len(shown) > 2:
        shown = shown[:-2].rstrip() + "…"
    return shown


def round_step(most: float, parts: int = 4) -> float:
    """A step of 1, 2 or 5 times a power of ten that divides `most` into about so many parts."""
    rough = most / parts if most > 0 else 1.0
    unit = 10.0 ** int(f"{rough:e}".partition("e")[2])
    return next(times * unit for times in (1, 2, 5, 10) if times * unit >= rough * 0.999999)


def multiples(low: float, high: float, step: float) -> list[float]:
    """The multiples of a step from `low` to `high`; an end that rounding misses belongs to them."""
    # The binary neighbours of decimals: 1.8 // 0.2 is 8, and 0.3 / 0.1 is below 3.
    first, last = math.ceil(low / step - _ROUNDED), math.floor(high / step + _ROUNDED)
    return [at * step for at in range(first, last + 1)]


def class_of(model: int) -> str:
    """The CSS class of a model's colour."""
    return f"m{model % MODELS}"


Line = tuple[int, str]
"""A model's position, and its path."""

NAMES = {
    "pr": ("recall →", "precision"),
    "f1": ("threshold →", "F1"),
    "roc": ("false positive rate →", "true positive rate"),
}
"""Axis labels by kind of chart."""


def lined(kind: str, lines: Sequence[Line], told: str, names: tuple[str, str] = ("", "")) -> Chart:
    """One line per model; `names` labels axes that `NAMES` does not have."""
    x_name, y_name = NAMES.get(kind, names)
    paths = "".join(
        f'<path class="{class_of(model)}" data-model="{model}" d="{d}"/>' for model, d in lines
    )
    body = grid(x_name, y_name, diagonal=kind == "roc")
    body += f'<g class="lines">{paths}</g><g class="cursor"></g>'
    return Chart(
        PLOT["width"],
        PLOT["height"],
        body,
        told,
        tuple(model for model, _ in lines),
    )


def grid(
    x_name: str,
    y_name: str,
    *,
    diagonal: bool = False,
    below: float = 0.0,
    levels: str | None = None,
) -> str:
    """Gridlines and their numbers.

    Args:
        x_name, y_name: Axis labels.
        diagonal: Whether to draw it.
        below: Additional distance of the horizontal axis labels from the axis.
        levels: Ready gridlines of another vertical axis than that from 0 to 1.
    """
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    floor = top + h + below
    parts = []
    for number, x, y in ticks():
        level = f"M{left} {y:.1f}h{w}" if levels is None else ""
        parts.append(f'<path d="M{x:.1f} {top}v{h}{level}"/>')
        parts.append(text(number, x, floor + 15, anchor="middle"))
        if levels is None:
            parts.append(text(number, left - 7, y + 4, anchor="end"))
    if levels is not None:
        parts.append(f'<g class="levels">{levels}</g>')
    if diagonal:
        parts.append(f'<path class="ideal" d="M{left} {top + h}L{left + w} {top}"/>')
    parts.append(text(x_name, left + w, floor + 32, "axis", "end"))
    parts.append(text(y_name, 4, 10, "axis"))
    return f'<g class="grid">{"".join(parts)}</g>'


def listed(parts: Iterable[str], most: int = 5) -> str:
    """A sentence that lists the first few models' parts."""
    known = [part for part in parts if part]
    more = f"; and {len(known) - most} more" if len(known) > most else ""
    return "; ".join(known[:most]) + more
