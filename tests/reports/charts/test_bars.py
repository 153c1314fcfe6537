"""Bars with intervals: places worked by hand, undefined values, scales of their own."""

from __future__ import annotations

import re

import pytest

from valor_cli.reports.charts.bars import Bar, Group, barred

MODELS = ("one", "two")


def _rects(kind: str, body: str) -> list[tuple[float, float]]:
    found = re.findall(rf'<rect class="{kind}" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', body)
    return [(float(x), float(width)) for x, width in found]


def test_bars_worked_by_hand() -> None:
    group = Group("f1", (Bar(0, 0.5, (0.25, 0.75)), Bar(1, 0.2)))
    drawn = barred([group], MODELS)
    # names take 2 letters of 6 and 10 more; 300 units from there to 1
    assert _rects("m0", drawn.svg) == [(25.4, 150.0)]
    assert _rects("m1", drawn.svg) == [(25.4, 60.0)]
    assert _rects("track", drawn.svg) == [(25.4, 300.0)] * 2
    # 0.25 and 0.75 of 300 from 22
    assert re.findall(r'<path class="whisker" d="M([\d.]+) .*?M([\d.]+) ', drawn.svg) == [
        ("100.4", "250.4")
    ]
    assert drawn.told == "f1: one 0.500 [0.250, 0.750], two 0.200"
    assert drawn.models == (0, 1)


def test_values_below_zero_go_the_other_way() -> None:
    group = Group("d", (Bar(0, -1.0), Bar(1, 3.0)), "score", scale="d")
    drawn = barred([group], MODELS)
    # from -1 to 3: zero stands at a quarter of 300, after the 16 of the name
    assert _rects("m0", drawn.svg) == [(18.7, 75.0)]
    assert _rects("m1", drawn.svg) == [(93.7, 225.0)]


def test_undefined_is_no_bar_of_no_length() -> None:
    drawn = barred([Group("f1", (Bar(0, None, None, "no samples"), Bar(1, 0.0)))], MODELS)
    assert _rects("m0", drawn.svg) == []
    assert [width for _, width in _rects("m1", drawn.svg)] == [0.0]
    assert drawn.told == "f1: one –, two 0.000"


def test_other_units_have_scales_of_their_own_and_no_axis() -> None:
    groups = [
        Group("f1", (Bar(0, 0.5),), scale="fraction"),
        Group("tokens", (Bar(0, 500),), "count", scale="tokens"),
    ]
    drawn = barred(groups, MODELS)
    assert [width for _, width in _rects("m0", drawn.svg)] == [150.0, 300.0]
    assert 'class="grid"' not in drawn.svg
    assert 'class="grid"' in barred(groups[:1], MODELS).svg


@pytest.mark.parametrize("whole", [True, False])
def test_fractions_end_at_one_or_at_the_largest(whole: bool) -> None:
    drawn = barred([Group("f1", (Bar(0, 0.5),))], MODELS, whole=whole)
    assert [width for _, width in _rects("m0", drawn.svg)] == [150.0 if whole else 300.0]
