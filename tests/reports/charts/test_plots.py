"""Pieces of SVG: paths, round steps, texts that fit, everything from the data escaped."""

from __future__ import annotations

import pytest

from valor_cli.reports.charts.plots import extent, fitted, path, rect, round_step, text, title


def test_paths_worked_by_hand() -> None:
    # 338 wide from 30, 200 high from 24 down to 224
    assert path([0, 0.5, 1], [0, 1, 0.5]) == "M30.0 224.0L199.0 24.0L368.0 124.0"
    assert path([0, None, 1], [0, 1, 1]) == "M30.0 224.0M368.0 24.0"
    assert path([], []) == ""


@pytest.mark.parametrize(
    ("most", "parts", "step"),
    [(154, 4, 50), (1, 5, 0.2), (0.035, 2, 0.02), (100, 4, 50), (8, 4, 2), (0, 4, 1)],
)
def test_steps_are_round(most: float, parts: int, step: float) -> None:
    assert round_step(most, parts) == pytest.approx(step)


def test_words_from_the_data_are_escaped() -> None:
    bad = '</text><script>"&\x1b[31m'
    assert text(bad, 1, 2, "quiet", "end") == (
        '<text class="quiet" x="1.0" y="2.0" text-anchor="end">'
        "&lt;/text&gt;&lt;script&gt;&quot;&amp;</text>"
    )
    assert title("<b>") == "<title>&lt;b&gt;</title>"


def test_texts_are_cut_to_fit() -> None:
    assert fitted("short", 100) == "short"
    cut = fitted("a long name of a thing", 60)
    assert cut.endswith("…")
    assert extent(cut) <= 60
    assert extent("日本") == 2 * extent("ab")


def test_nothing_has_a_negative_size() -> None:
    assert rect("a", 1, 2, -0.1, 3) == '<rect class="a" x="1.0" y="2.0" width="0.0" height="3.0"/>'
