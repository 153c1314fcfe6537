"""Charts of one label: what they say in words, counts stacked and worked by hand."""

from __future__ import annotations

import re

from msgspec import structs
from msgspec.structs import replace

from tests.reports.task_runs import classified
from valor_cli.reports.charts.curves import (
    COUNTS,
    Choice,
    ceiling,
    choices,
    counts_by_threshold,
    figures,
)
from valor_cli.results import CurveResult

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
    run = classified(("m",))
    line = ([0.2, 0.4, 0.6], [0.9, 0.52, 0.1], [0.5, 0.75, None], [0.6, 0.61, 0.2])
    (first, *_) = choices(run)
    shown = replace(first, lines=((0, line),))
    told = [one.told for one in figures(shown, ("m",))]
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
    assert drawn.told == (
        "at threshold 0.500: true positive 4, misclassification 1, no prediction 3"
    )
    assert sorted(
        re.findall(r'class="(a\d)"', counts_by_threshold(CURVE, "predictions", 10).svg)
    ) == ["a1", "a4"]


def test_one_threshold_alone_is_an_area_too() -> None:
    single = {name: column[1:2] for name, column in POINTS.items()}
    drawn = counts_by_threshold(structs.replace(CURVE, points=single), "truths", 10)
    (area,) = re.findall(r'<path class="a1" d="M(.*?) ', drawn.svg)
    assert float(area) < 199


def test_without_counts_there_are_axes() -> None:
    drawn = counts_by_threshold(None, "truths", 10)
    assert drawn.told == ""
    assert '<g class="areas"></g>' in drawn.svg
    assert ceiling(replace(CHOICE, counts=[])) >= 1
    assert len(COUNTS) == 6
