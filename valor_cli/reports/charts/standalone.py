"""Charts as files of their own: SVG in the style of the page, and PNG."""

from __future__ import annotations

import io
import re
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from msgspec import Struct

from valor_cli.extras import extra
from valor_cli.reports.charts.plots import class_of, extent, fitted, rect, text
from valor_cli.reports.document import Chart

FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

SCALE = 2.0
"""Pixels of a unit."""

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


def standalone(sheet: Sheet, models: Sequence[str], *, dark: bool = False) -> str:
    """A self-contained SVG without script; `models` are cleaned names."""
    body, wide, high = _laid_out(sheet, models)
    message = ". ".join(
        filter(None, (f"{one.title}: {one.told}".strip(": ") for one in sheet.panels))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{round(wide * SCALE)}" '
        f'height="{round(high * SCALE)}" viewBox="0 0 {wide} {high}" role="img" '
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


EXTRA = "png"
"""The extra that brings resvg, which draws SVG."""

_SYSTEM = '"DejaVu Sans", "Noto Sans", "Liberation Sans", Arial, Helvetica, "Segoe UI", sans-serif'
"""Families whose letters are the widest known, the first that there is; else Pillow's own."""

_OWN = "Aileron"
"""What Pillow's own font calls itself."""

_SPELLED = {
    "−": "-",
    "–": "-",
    "…": "...",
    "→": "",
    "↑": "",
    "↓": "",
}
"""How signs of ours are written where no font has them."""

_CELL = 24
_NO_SIGN = "\U0010fffd"
_MARKUP = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)


def to_png(svg: str, *, scale: float = 2, system_fonts: bool = True) -> bytes:
    """Convert a chart to PNG; text is drawn with the available fonts.

    Args:
        svg: What `render` returned.
        scale: Pixels of the picture for each of the chart's.
        system_fonts: Whether to use fonts of this machine, for letters beyond the English ones.

    Raises:
        MissingExtraError: resvg is not installed.
    """
    resvg = extra("resvg_py", EXTRA, "PNG charts")
    with tempfile.TemporaryDirectory() as folder:
        font = Path(folder) / "own.ttf"
        font.write_bytes(_own_font())
        options: dict[str, Any] = {
            "font_files": [str(font)],
            "sans_serif_family": _OWN,
            "skip_system_fonts": not system_fonts,
        }
        shown = svg.replace(FONTS, _SYSTEM if system_fonts else "sans-serif")
        for sign, letters in _spelled(shown, resvg, options).items():
            shown = shown.replace(sign, letters)
        return bytes(resvg.svg_to_bytes(svg_string=shown, zoom=scale, **options))


def _own_font() -> bytes:
    """The font that Pillow carries."""
    from PIL import ImageFont

    font = ImageFont.load_default(12)
    file = getattr(font, "path", None)
    return file.getvalue() if isinstance(file, io.BytesIO) else b""


def _spelled(svg: str, resvg: Any, options: Mapping[str, Any]) -> dict[str, str]:
    """Replace characters that no available font has.

    Each is drawn beside a sign that no font has: which looks the same is not there either.
    """
    from PIL import Image

    signs = sorted({sign for sign in _MARKUP.sub("", svg) if sign > "~"})
    if not signs:
        return {}
    cells = "".join(
        f'<text x="{at * _CELL + 2}" y="18">{sign}</text>'
        for at, sign in enumerate([_NO_SIGN, *signs])
    )
    probe = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_CELL * (len(signs) + 1)}" '
        f'height="{_CELL}" font-size="14" font-family=\'{_family(svg)}\'>{cells}</svg>'
    )
    drawn = Image.open(io.BytesIO(bytes(resvg.svg_to_bytes(svg_string=probe, **options))))
    looks = [
        drawn.crop((at * _CELL, 0, (at + 1) * _CELL, _CELL)).tobytes()
        for at in range(len(signs) + 1)
    ]
    pairs = zip(signs, looks[1:], strict=True)
    return {sign: _plain(sign) for sign, look in pairs if look == looks[0]}


def _family(svg: str) -> str:
    return _SYSTEM if _SYSTEM in svg else "sans-serif"


def _plain(sign: str) -> str:
    """A sign in English letters, or a question mark."""
    if sign in _SPELLED:
        return _SPELLED[sign]
    base = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return base or "?"
