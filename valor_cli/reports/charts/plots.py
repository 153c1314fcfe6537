"""SVG primitives of charts: axes, paths, texts.

Nothing is coloured here: elements have classes that templates/charts.css styles, both on the page
and in separate files.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.document import Chart

PLOT = {"width": 380, "height": 262, "left": 30, "top": 24, "w": 338, "h": 200}
"""Positions of the axes in a chart; the script uses the same numbers."""

MODELS = 6
"""Colours and dashes there are; further models begin again."""

LETTER = 6.0
"""Width of a letter of a chart's text, in the chart's units: a little more than most have."""

Column = Sequence[float | None]


class Drawing(Struct, frozen=True):
    """A chart without its heading.

    Attributes:
        body: SVG elements, everything from the data escaped.
        told: The chart in a few words, for those who do not see it.
        models: Positions of the models that have a line or bars, for the key.
        key: Further classes and words for the key: ("over", "overconfident").
    """

    width: int
    height: int
    body: str
    told: str
    models: tuple[int, ...] = ()
    key: tuple[tuple[str, str], ...] = ()

    def chart(self, title: str, kind: str = "", *, heading: str = "", model: int = 0) -> Chart:
        """The drawing as a chart of a document.

        Args:
            title: What it shows.
            kind: What the page's script and style call it.
            heading: Shown in place of the title.
            model: The position of the model that it is of.
        """
        return Chart(
            title,
            self.body,
            self.width,
            self.height,
            self.told,
            kind,
            self.models,
            self.key,
            heading,
            model,
        )


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


def class_of(model: int) -> str:
    """The CSS class of a model's colour."""
    return f"m{model % MODELS}"
