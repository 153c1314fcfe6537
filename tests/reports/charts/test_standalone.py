"""The style of a chart of its own: that of the page, with colours of one theme that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from valor_cli.reports.charts import standalone
from valor_cli.reports.charts.standalone import stylesheet

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
