"""Charts as pictures: their size, and text that shows whatever fonts there are."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from PIL import Image

from tests.reports.task_runs import classified
from valor_cli.errors import MissingExtraError
from valor_cli.reports.charts.export import render
from valor_cli.reports.charts.png import to_png


def _inked(picture: Image.Image, box: tuple[int, int, int, int]) -> int:
    """Pixels of a part that are far from its ground."""
    part = picture.convert("L").crop(box)
    ground = max(part.getcolors() or [(0, 0)])[1]
    return sum(abs(int(one) - int(ground)) > 60 for one in part.tobytes())


def test_size_and_text_without_system_fonts() -> None:
    pytest.importorskip("resvg_py")
    svg = render(classified(), "pr_curve", width=408)
    pictures = [
        Image.open(io.BytesIO(to_png(svg, scale=1, system_fonts=fonts))) for fonts in (True, False)
    ]
    for picture in pictures:
        assert picture.width == 408
        # the heading's place
        assert _inked(picture, (0, 8, 220, 28)) > 150


def test_signs_that_no_font_has_are_spelled(monkeypatch: pytest.MonkeyPatch) -> None:
    resvg: Any = pytest.importorskip("resvg_py")
    drawn: list[str] = []
    real = resvg.svg_to_bytes

    def seen(**options: Any) -> bytes:
        drawn.append(options["svg_string"])
        return bytes(real(**options))

    monkeypatch.setattr(resvg, "svg_to_bytes", seen)
    svg = render(classified(("Zoë −", "日本")), "leaderboard")
    to_png(svg, system_fonts=False)
    assert "Zoe -" in drawn[-1]
    assert "??" in drawn[-1]
    assert "−" not in drawn[-1]


def test_the_same_chart_is_the_same_picture() -> None:
    pytest.importorskip("resvg_py")
    svg = render(classified(), "leaderboard")
    assert to_png(svg, system_fonts=False) == to_png(svg, system_fonts=False)


def test_without_resvg_the_next_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'valor-cli\[png\]'"):
        to_png("<svg/>")
