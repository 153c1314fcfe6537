"""Differences with intervals: places worked by hand, verdicts, what is undefined."""

from __future__ import annotations

import re

from msgspec.structs import replace

from tests.reports.found_runs import compared
from valor_cli.reports.charts.forest import forest


def test_places_worked_by_hand() -> None:
    one = replace(
        compared("b", "a", 0.1),
        interval=(-0.1, 0.2),
        verdict="cannot tell",
        unit="fraction",
    )
    drawn = forest([("f1", one)])
    (zero,) = map(float, re.findall(r'class="zero" d="M([\d.]+)', drawn.svg))
    # the furthest end, 0.2, is 130 from zero
    (low, high) = re.findall(r'class="span cannot-tell" d="M([\d.]+) .*?M([\d.]+)', drawn.svg)[0]
    assert (float(low) - zero, float(high) - zero) == (-65, 130)
    (mark,) = map(float, re.findall(r'class="mark cannot-tell" x="([\d.]+)"', drawn.svg))
    assert mark + 3.5 - zero == 65
    assert drawn.told.startswith("f1, b less a: +0.100 [−0.100, +0.200]")


def test_no_difference_is_said_and_not_drawn() -> None:
    one = replace(
        compared("b", "a", 0.1), difference=None, interval=None, p=None, p_adjusted=None,
        reason="no values",
    )  # fmt: skip
    drawn = forest([("f1", one)])
    assert "mark" not in drawn.svg
    assert "no values" in drawn.svg


def test_a_baseline_is_named() -> None:
    drawn = forest([("f1", replace(compared("b", "b", 0.1), baseline=True))])
    assert "b less b (baseline)" in drawn.svg


def test_units_have_scales_of_their_own() -> None:
    half = replace(compared("b", "a", 0.5), interval=None, unit="fraction")
    many = replace(compared("b", "a", 500.0), interval=None, unit="count")
    places = re.findall(r'class="mark .*?" x="([\d.]+)"', forest([("f1", half), ("n", many)]).svg)
    assert len(places) == 2
    assert len(set(places)) == 1
