"""Charts as files: the style of the page in colours that can be read, and pictures with text."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.reports.task_runs import classified
from valor_cli.errors import MissingExtraError
from valor_cli.reports.charts import standalone
from valor_cli.reports.charts.export import render
from valor_cli.reports.charts.standalone import stylesheet, to_png

PAGE = Path(standalone.__file__).parents[1] / "page"


def _luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _colour(style: str, rule: str) -> str:
    return re.search(rf"{re.escape(rule)}[^}}]*?(?:fill|stroke): (#\w+)", style)[1]  # type: ignore[index]


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_is_resolved_and_texts_can_be_read(dark: bool) -> None:
    style = stylesheet(dark=dark)
    assert "var(" not in style
    ground = _colour(style, ".chart .paper")
    assert _contrast(_colour(style, ".chart text"), ground) >= 4.5
    assert _contrast(_colour(style, ".chart .grid text"), ground) >= 4.5
    for model in range(6):
        assert _contrast(_colour(style, f"path.m{model}"), ground) >= 3  # of lines and areas


def test_models_have_different_dashes() -> None:
    style = stylesheet(dark=False)
    dashes = [re.search(rf"path\.m{m}[^}}]*?dasharray: ([\d. ]+)", style) for m in range(6)]
    assert dashes[0] is None
    assert len({found[1] for found in dashes if found}) == 5


def test_the_two_themes_differ() -> None:
    assert stylesheet(dark=False) != stylesheet(dark=True)


def test_the_page_has_the_same_rules() -> None:
    rules = (PAGE / "charts.css").read_text(encoding="utf-8")
    light = stylesheet(dark=False)
    assert [
        one for one in re.findall(r"^(\S.*?) \{", rules, re.MULTILINE) if one not in light
    ] == []


def _inked(picture: Image.Image, box: tuple[int, int, int, int]) -> int:
    """Pixels of a part that are far from its ground."""
    part = picture.convert("L").crop(box)
    ground = max(part.getcolors() or [(0, 0)])[1]
    return sum(abs(int(one) - int(ground)) > 60 for one in part.tobytes())


def test_size_and_text_without_system_fonts() -> None:
    pytest.importorskip("resvg_py")
    svg = render(classified(), "pr_curve")
    pictures = [
        Image.open(io.BytesIO(to_png(svg, scale=0.5, system_fonts=fonts)))
        for fonts in (True, False)
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
