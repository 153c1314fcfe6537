"""Drawings worked by hand: pieces of SVG, bars, curves, histograms, differences, reliability."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.reports.found_runs import compared
from tests.reports.task_runs import classified
from valor_cli.reports.charts.bars import Bar, Group, barred
from valor_cli.reports.charts.curves import (
    COUNTS,
    Choice,
    ceiling,
    choices,
    counts_by_threshold,
    figures,
)
from valor_cli.reports.charts.distributions import BINS, Values, binned, histogram
from valor_cli.reports.charts.forest import forest
from valor_cli.reports.charts.plots import (
    PLOT,
    extent,
    fitted,
    multiples,
    path,
    rect,
    round_step,
    text,
    title,
)
from valor_cli.reports.charts.reliability import Bin, Reliability, calibrations, reliability
from valor_cli.results import CurveResult, RunResult

MODELS = ("one", "two")


def _rects(kind: str, svg: str) -> list[dict[str, float]]:
    """The numbers of the rectangles of a class."""
    tags = re.findall(rf'<rect class="{kind}" (.*?)/>', svg)
    return [{name: float(n) for name, n in re.findall(r'(\w+)="([\d.]+)"', tag)} for tag in tags]


def _across(kind: str, svg: str) -> list[tuple[float, float]]:
    return [(one["x"], one["width"]) for one in _rects(kind, svg)]


# Pieces


def test_paths_and_rectangles() -> None:
    # 338 wide from 30, 200 high from 24 down to 224
    assert path([0, 0.5, 1], [0, 1, 0.5]) == "M30.0 224.0L199.0 24.0L368.0 124.0"
    assert path([0, None, 1], [0, 1, 1]) == "M30.0 224.0M368.0 24.0"
    assert path([], []) == ""
    # Nothing has a negative size.
    assert rect("a", 1, 2, -0.1, 3) == '<rect class="a" x="1.0" y="2.0" width="0.0" height="3.0"/>'


@pytest.mark.parametrize(
    ("most", "parts", "step"),
    [(154, 4, 50), (1, 5, 0.2), (0.035, 2, 0.02), (100, 4, 50), (8, 4, 2), (0, 4, 1)],
)
def test_steps_are_round(most: float, parts: int, step: float) -> None:
    assert round_step(most, parts) == pytest.approx(step)


def test_words_from_the_data_are_escaped_and_cut_to_fit() -> None:
    bad = '</text><script>"&\x1b[31m'
    assert text(bad, 1, 2, "quiet", "end") == (
        '<text class="quiet" x="1.0" y="2.0" text-anchor="end">'
        "&lt;/text&gt;&lt;script&gt;&quot;&amp;</text>"
    )
    assert title("<b>") == "<title>&lt;b&gt;</title>"
    assert fitted("short", 100) == "short"
    cut = fitted("a long name of a thing", 60)
    assert cut.endswith("…")
    assert extent(cut) <= 60
    assert extent("日本") == 2 * extent("ab")


# Bars with intervals


def test_bars_worked_by_hand() -> None:
    group = Group("f1", (Bar(0, 0.5, (0.25, 0.75)), Bar(1, 0.2)))
    drawn = barred([group], MODELS)
    # names take 2 letters of 6 and 10 more; 300 units from there to 1
    assert _across("m0", drawn.svg) == [(25.4, 150.0)]
    assert _across("m1", drawn.svg) == [(25.4, 60.0)]
    assert _across("track", drawn.svg) == [(25.4, 300.0)] * 2
    # 0.25 and 0.75 of 300 from 22
    whiskers = re.findall(r'<path class="whisker" d="M([\d.]+) .*?M([\d.]+) ', drawn.svg)
    assert whiskers == [("100.4", "250.4")]
    assert drawn.told == "f1: one 0.500 [0.250, 0.750], two 0.200"
    assert drawn.models == (0, 1)


def test_values_below_zero_go_the_other_way() -> None:
    drawn = barred([Group("d", (Bar(0, -1.0), Bar(1, 3.0)), "score", scale="d")], MODELS)
    # from -1 to 3: zero stands at a quarter of 300, after the 16 of the name
    assert _across("m0", drawn.svg) == [(18.7, 75.0)]
    assert _across("m1", drawn.svg) == [(93.7, 225.0)]


def test_a_lowest_value_that_is_a_decimal_multiple_has_its_tick() -> None:
    # 0.6 // 0.2 is 2 in floating point.
    drawn = barred([Group("d", (Bar(0, -0.6), Bar(1, 0.3)), "score", scale="d")], MODELS)
    (grid,) = re.findall(r'<g class="grid">(.*?)</g>', drawn.svg)
    assert re.findall(r">([^<]+)</text>", grid) == ["−0.6", "−0.4", "−0.2", "0", "0.2"]


@given(st.integers(-60, 60), st.integers(0, 60), st.sampled_from((1, 2, 5)), st.integers(-6, 6))
def test_multiples_of_decimal_steps(first: int, more: int, times: int, power: int) -> None:
    step = Decimal(times).scaleb(power)
    exact = [step * at for at in range(first, first + more + 1)]
    found = multiples(float(exact[0]), float(exact[-1]), float(step))
    assert found == pytest.approx([float(one) for one in exact], rel=1e-12, abs=1e-18)
    between = step / 2
    inner = multiples(float(exact[0] - between), float(exact[-1] + between), float(step))
    assert inner == found


def test_undefined_is_no_bar_of_no_length() -> None:
    drawn = barred([Group("f1", (Bar(0, None), Bar(1, 0.0)))], MODELS)
    assert _rects("m0", drawn.svg) == []
    assert [width for _, width in _across("m1", drawn.svg)] == [0.0]
    assert drawn.told == "f1: one –, two 0.000"


def test_other_units_have_scales_of_their_own_and_no_axis() -> None:
    groups = [
        Group("f1", (Bar(0, 0.5),), scale="fraction"),
        Group("tokens", (Bar(0, 500),), "count", scale="tokens"),
    ]
    drawn = barred(groups, MODELS)
    assert [width for _, width in _across("m0", drawn.svg)] == [150.0, 300.0]
    assert 'class="grid"' not in drawn.svg
    # Fractions end at one, or at the largest.
    for whole, width in ((True, 150.0), (False, 300.0)):
        alone = barred(groups[:1], MODELS, whole=whole).svg
        assert [size for _, size in _across("m0", alone)] == [width]
        assert 'class="grid"' in alone


# Curves and counts of one label

POINTS: dict[str, list[float | None]] = {
    "score_threshold": [0.0, 0.5, 1.0],
    "tp": [6, 4, 0],
    "fn_misclassifications": [2, 1, 0],
    "fn_no_predictions": [0, 3, 8],
    "fp_misclassifications": [3, 1, 0],
}
CURVE = CurveResult("detailed_pr_curve", "m", "a", None, {}, POINTS)
CHOICE = Choice("a", "a", frozenset({"detailed_pr_curve"}), (), [(0, CURVE)], [], {})


def test_a_label_has_the_charts_its_curves_allow() -> None:
    (first, *_) = choices(classified())
    found = figures(first, ("forest", "bayes"))
    assert [one.kind for one in found] == ["pr", "f1", "roc"]
    assert found[0].title == "Precision and recall, 0"
    assert [one.models for one in found] == [(0, 1)] * 3
    assert figures(replace(first, lines=(), rocs=[]), ("forest", "bayes")) == []


def test_charts_are_told_in_words() -> None:
    line = ([0.2, 0.4, 0.6], [0.9, 0.52, 0.1], [0.5, 0.75, None], [0.6, 0.61, 0.2])
    (first, *_) = choices(classified(("m",)))
    told = [one.told for one in figures(replace(first, lines=((0, line),)), ("m",))]
    assert told[:2] == ["m: precision 0.750 at recall 0.520", "m: best F1 0.610 at threshold 0.400"]
    assert re.fullmatch(r"m: area under the curve 0\.\d{3}", told[2])


def test_counts_are_stacked() -> None:
    # 6+2+0, 4+1+3, 0+0+8 ground truths: 8 each; 9 predictions at most; steps of 5
    assert ceiling(CHOICE) == 10
    drawn = counts_by_threshold(CURVE, "truths", 10)
    areas = dict(re.findall(r'<path class="(a\d)" d="(.*?)"', drawn.svg))
    assert sorted(areas) == ["a1", "a2", "a3"]
    # 200 units for 10: 6 is 120 above 224; from left to right along the top and back along 0
    assert areas["a1"] == "M30.0 104.0L199.0 144.0L368.0 224.0L368.0 224.0L199.0 224.0L30.0 224.0z"
    assert areas["a2"].startswith("M30.0 64.0L199.0 124.0L368.0 224.0L368.0 224.0L199.0 144.0")
    assert drawn.told == "at threshold 0.500: true positive 4, misclassification 1, no prediction 3"
    predictions = counts_by_threshold(CURVE, "predictions", 10).svg
    assert sorted(re.findall(r'class="(a\d)"', predictions)) == ["a1", "a4"]


def test_one_threshold_alone_is_an_area_too() -> None:
    single = {name: column[1:2] for name, column in POINTS.items()}
    drawn = counts_by_threshold(replace(CURVE, points=single), "truths", 10)
    (area,) = re.findall(r'<path class="a1" d="M(.*?) ', drawn.svg)
    assert float(area) < 199


def test_without_counts_there_are_axes() -> None:
    drawn = counts_by_threshold(None, "truths", 10)
    assert drawn.told == ""
    assert '<g class="areas"></g>' in drawn.svg
    assert ceiling(replace(CHOICE, counts=[])) >= 1
    assert len(COUNTS) == 6


# Histograms


def test_bins_worked_by_hand() -> None:
    found = binned([Values(0, (0.0, 0.05, 0.049, 0.5, 1.0))], fraction=True)
    assert len(found.edges) == BINS + 1
    # 0.05 begins the second bin, and 1 belongs to the last
    filled = [(at, n) for at, n in enumerate(found.counts[0]) if n]
    assert filled == [(0, 2), (1, 1), (10, 1), (19, 1)]
    # Edges belong to the bin that they begin: 0.15 / 0.05 is 2.9999999999999996.
    values = [i / 20 for i in range(20)]
    assert binned([Values(0, values)], fraction=True).counts[0] == (1,) * 20


@pytest.mark.parametrize("seed", range(5))
def test_bins_against_numpy(seed: int) -> None:
    dice = random.Random(seed)
    values = [dice.random() for _ in range(500)]
    counts = np.histogram(values, bins=BINS, range=(0, 1))[0]
    assert binned([Values(0, values)], fraction=True).counts[0] == tuple(counts)


def test_other_values_have_round_bins_that_hold_all() -> None:
    found = binned([Values(0, (-3, 5, 17)), Values(1, (40,))], fraction=False)
    # 43 in 20 parts: steps of 5, from -5 to 40
    assert found.edges == tuple(range(-5, 41, 5))
    assert [sum(row) for row in found.counts] == [3, 1]
    alone = binned([Values(0, (7, 7))], fraction=False)
    assert sum(alone.counts[0]) == 2
    assert alone.edges[0] <= 7 <= alone.edges[-1]


def test_the_threshold_is_marked_and_told() -> None:
    shown = [Values(0, (0.1, 0.2, 0.9))]
    drawn = histogram(shown, ("m",), name="f1", threshold=0.5)
    (x,) = re.findall(r'<path class="limit" d="M([\d.]+) ', drawn.svg)
    assert float(x) == 34 + 338 / 2
    assert drawn.told == "m: n 3, median 0.200, 2 below 0.5"
    assert 'class="limit"' not in histogram(shown, ("m",), name="f1", threshold=3).svg


def test_one_sample_among_thousands_is_seen_and_no_values_are_said() -> None:
    drawn = histogram([Values(0, [0.1] * 10_000 + [0.9])], ("m",), name="f1")
    assert [one["height"] for one in _rects("m0", drawn.svg)] == [48.0, 0.8]
    drawn = histogram([Values(0, ())], ("m",), name="f1")
    assert drawn.told == "m: no values"
    assert "<rect" not in drawn.svg


# Differences with intervals


def test_differences_worked_by_hand() -> None:
    one = compared("b", "a", 0.1, interval=(-0.1, 0.2), verdict="cannot tell")
    drawn = forest([("f1", one)])
    (zero,) = map(float, re.findall(r'class="zero" d="M([\d.]+)', drawn.svg))
    # the furthest end, 0.2, is 130 from zero
    (low, high) = re.findall(r'class="span cannot-tell" d="M([\d.]+) .*?M([\d.]+)', drawn.svg)[0]
    assert (float(low) - zero, float(high) - zero) == (-65, 130)
    (mark,) = _rects("mark cannot-tell", drawn.svg)
    assert mark["x"] + 3.5 - zero == 65
    assert drawn.told.startswith("f1, b less a: +0.100 [−0.100, +0.200]")


def test_no_difference_is_said_and_not_drawn_and_a_baseline_is_named() -> None:
    drawn = forest([("f1", compared("b", "a", None, reason="no values"))])
    assert "mark" not in drawn.svg
    assert "no values" in drawn.svg
    assert "b less b (baseline)" in forest([("f1", compared("b", "b", 0.1, baseline=True))]).svg


def test_units_have_scales_of_their_own() -> None:
    half = compared("b", "a", 0.5, interval=None)
    many = compared("b", "a", 500.0, interval=None, unit="count")
    places = re.findall(r'class="mark .*?" x="([\d.]+)"', forest([("f1", half), ("n", many)]).svg)
    assert len(places) == 2
    assert len(set(places)) == 1


# Reliability

BINNED: dict[str, list[float | None]] = {
    "confidence_low": [0.0, 0.25, 0.5, 0.75],
    "confidence_high": [0.25, 0.5, 0.75, 1.0],
    "n": [0, 10, 20, 40],
    "confidence": [None, 0.4, 0.6, 0.9],
    "accuracy": [None, 0.5, 0.6, 0.8],
}


def _calibrated(points: dict[str, list[float | None]] = BINNED) -> Any:
    run = classified(("m",), ("a",))
    ece = next(row for row in run.metrics if row.metric == "expected_calibration_error")
    curve = CurveResult(ece.metric, "m", None, None, ece.parameters, points)
    (found,) = calibrations(replace(run, curves=(curve,), metrics=(ece,)))
    return found


def test_bins_of_confidence() -> None:
    found = _calibrated()
    (one,) = found.models
    assert [part.n for part in one.bins] == [0, 10, 20, 40]
    gaps = [part.gap for part in one.bins]
    assert gaps[0] is None
    # 0.4 promised, 0.5 kept; 0.6 and 0.6; 0.9 and 0.8
    assert gaps[1:] == pytest.approx([-0.1, 0.0, 0.1])
    assert (one.error, one.over, one.filled) == (0.03, 1, 3)
    assert found.title == ""


@pytest.mark.parametrize(
    ("gaps", "words"),
    [
        ([0.1, 0.1, -0.1], "overconfident in 2 of 3 bins"),
        ([0.1, -0.1, -0.1], "underconfident in 2 of 3 bins"),
        ([0.1, -0.1], "confidence is above accuracy in 1 of 2 bins"),
        ([], "no samples"),
    ],
)
def test_which_way_a_model_errs(gaps: list[float], words: str) -> None:
    bins = tuple(Bin(0, 1, 5, 0.5 + gap, 0.5) for gap in gaps)
    one = Reliability(0, bins, None, sum(gap > 0 for gap in gaps), len(gaps))
    assert one.leaning == words


def test_keys_have_a_table_each_and_slices_none() -> None:
    run: RunResult = classified(keys=("color", "shape"))
    found = [(one.title, len(one.models)) for one in calibrations(run)]
    assert found == [("color", 2), ("shape", 2)]
    night = [replace(row, slice="night") for row in run.curves]
    assert calibrations(replace(run, curves=night)) == ()


def test_bars_of_accuracy_worked_by_hand() -> None:
    found = _calibrated()
    drawing = reliability(found.models[0], found.metric)
    bars = _rects("m0 kept", drawing.svg)
    assert len(bars) == 3  # the empty bin has none
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    under, _, over = bars
    # 338 units wide and 200 high, from (30, 224) up: the bar ends where both agree
    assert (under["x"], under["width"]) == (round(left + w / 4 + 0.75, 1), w / 4 - 1.5)
    assert (under["y"], under["height"]) == (top + h * 0.6, 80.0)  # 0.4 of 200
    assert over["height"] == 160.0
    gaps = [(gap["y"], gap["height"]) for gap in _rects("under", drawing.svg)]
    assert gaps == [(top + h / 2, 20.0), (104.0, 0.0)]
    assert [gap["height"] for gap in _rects("over", drawing.svg)] == [20.0]
    assert f'd="M{left + w * 0.9:.1f} {top + h * 0.2:.1f}h.01"' in drawing.svg
    # the histogram is 40 high where most samples are
    assert [bar["height"] for bar in _rects("count", drawing.svg)] == [10.0, 20.0, 40.0]
    assert "0.75 to 1: 40 samples, confidence 0.900, accuracy 0.800</title>" in drawing.svg
    assert drawing.told == "underconfident in 1 of 3 bins, ECE 0.030"
    empty = _calibrated({name: [] for name in BINNED})
    drawing = reliability(empty.models[0], empty.metric)
    assert "<rect" not in drawing.svg
    assert drawing.told.startswith("no samples")
