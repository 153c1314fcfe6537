"""Convert an SVG chart to PNG."""

from __future__ import annotations

import io
import re
import tempfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from valor_cli.extras import extra
from valor_cli.reports.charts.standalone import FONTS

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
