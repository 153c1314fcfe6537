"""Reliability tables: bins, which way a model errs, and its error."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from tests.reports.task_runs import classified
from valor_cli.reports.charts.plots import PLOT
from valor_cli.reports.charts.reliability import Bin, Reliability, calibrations, reliability
from valor_cli.results import CurveResult, RunResult

POINTS = {
    "confidence_low": [0.0, 0.25, 0.5, 0.75],
    "confidence_high": [0.25, 0.5, 0.75, 1.0],
    "n": [0, 10, 20, 40],
    "confidence": [None, 0.4, 0.6, 0.9],
    "accuracy": [None, 0.5, 0.6, 0.8],
}


def _run(points: dict[str, list[float | None]] | None = None) -> RunResult:
    run = classified(("m",), ("a",))
    ece = next(row for row in run.metrics if row.metric == "expected_calibration_error")
    curve = CurveResult(
        ece.metric, "m", None, None, ece.parameters, POINTS if points is None else points
    )
    return replace(run, curves=(curve,), metrics=(ece,))


def test_bins_worked_by_hand() -> None:
    (found,) = calibrations(_run())
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
    run = classified(keys=("color", "shape"))
    assert [(one.title, len(one.models)) for one in calibrations(run)] == [
        ("color", 2),
        ("shape", 2),
    ]
    night = [replace(row, slice="night") for row in run.curves]
    assert calibrations(replace(run, curves=night)) == ()


def _rects(kind: str, body: str) -> list[dict[str, float]]:
    tags = re.findall(rf'<rect class="{kind}" (.*?)/>', body)
    return [{name: float(n) for name, n in re.findall(r'(\w+)="([\d.]+)"', tag)} for tag in tags]


def test_bars_worked_by_hand() -> None:
    (found,) = calibrations(_run())
    drawing = reliability(found.models[0], found.metric)
    bars = _rects("m0 kept", drawing.svg)
    assert len(bars) == 3  # the empty bin has none
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    under, _, over = bars
    # 338 units wide and 200 high, from (30, 224) up: the bar ends where both agree
    assert (under["x"], under["width"]) == (round(left + w / 4 + 0.75, 1), w / 4 - 1.5)
    assert (under["y"], under["height"]) == (top + h * 0.6, 80.0)  # 0.4 of 200
    assert over["height"] == 160.0
    # 0.4 promised and 0.5 kept; 0.6 and 0.6; 0.9 and 0.8
    gaps = _rects("under", drawing.svg)
    assert [(gap["y"], gap["height"]) for gap in gaps] == [(top + h / 2, 20.0), (104.0, 0.0)]
    assert [gap["height"] for gap in _rects("over", drawing.svg)] == [20.0]
    assert f'd="M{left + w * 0.9:.1f} {top + h * 0.2:.1f}h.01"' in drawing.svg
    # the histogram is 40 high where most samples are
    assert [bar["height"] for bar in _rects("count", drawing.svg)] == [10.0, 20.0, 40.0]
    assert "0.75 to 1: 40 samples, confidence 0.900, accuracy 0.800</title>" in drawing.svg
    assert drawing.told == "underconfident in 1 of 3 bins, ECE 0.030"


def test_no_samples_is_an_empty_diagram() -> None:
    empty: dict[str, list[float | None]] = {name: [] for name in POINTS}
    (found,) = calibrations(_run(empty))
    drawing = reliability(found.models[0], found.metric)
    assert "<rect" not in drawing.svg
    assert drawing.told.startswith("no samples")
