"""Reliability and spreads of a run in; the numbers that the HTML report draws them by out."""

from __future__ import annotations

from typing import Any

from valor_cli.reports.curves import PLOT, path
from valor_cli.reports.distribution import MARKS, distributions
from valor_cli.reports.formatting import capital, number, signed, words
from valor_cli.reports.reliability import Bin, Reliability, calibrations
from valor_cli.reports.sample_table import sample_tables
from valor_cli.results import RunResult

DRAWN = 4
"""Models with a diagram at each setting; the table has all of them."""

SETTINGS = 12
"""Settings shown; results.json has all of them."""

_HISTOGRAM = 40
_BELOW = 8
_HEIGHT = PLOT["top"] + PLOT["h"] + _BELOW + _HISTOGRAM + 36
_SHORT = {"expected_calibration_error": "ECE"}


def diagrams(result: RunResult) -> dict[str, Any]:
    """The parts of calibration.html.j2 and samples.html.j2."""
    found = calibrations(result)
    spreads = distributions(result)[:SETTINGS]
    return {
        "calibrations": [
            {
                "title": part.title,
                "drawn": [_reliability(one, part.metric) for one in part.models[:DRAWN]],
                "models": [_table(one) for one in part.models],
            }
            for part in found[:SETTINGS]
        ],
        "all_calibrations": len(found),
        "distributions": [
            {
                "title": part.title,
                "heading": capital(part.title),
                "detail": part.detail,
                "lines": [(one.model, path(one.quantiles, one.values)) for one in part.spreads],
                "marks": [name for _, name in MARKS],
                "rows": [(one.model, one.marks) for one in part.spreads],
            }
            for part in spreads
        ],
        "sample_tables": [
            {
                "title": part.title,
                "headings": [capital(name) for name in part.headings],
                "rows": part.rows,
                "left_out": f"{part.left_out:,}" if part.left_out else "",
            }
            for part in sample_tables(result)
        ],
    }


def _table(one: Reliability) -> dict[str, Any]:
    rows = [
        (
            _span(part),
            f"{part.n:,}",
            number(part.confidence),
            number(part.accuracy),
            signed(part.gap),
        )
        for part in one.bins
    ]
    return {"model": one.model, "leaning": one.leaning, "rows": rows}


def _span(part: Bin) -> str:
    return f"{part.low:.3g} to {part.high:.3g}"


def _reliability(one: Reliability, metric: str) -> dict[str, Any]:
    """Bars of accuracy, what is missing to the confidence, and the samples of each bin below."""
    most = max([part.n for part in one.bins], default=0) or 1
    name = _SHORT.get(metric, words(metric))
    return {
        "model": one.model,
        "leaning": one.leaning,
        "error": "" if one.error is None else f"{name} {number(one.error)}",
        "height": _HEIGHT,
        "bars": [_bar(part, most) for part in one.bins if part.n],
    }


def _bar(part: Bin, most: int) -> dict[str, str]:
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    confidence, accuracy = part.confidence or 0.0, part.accuracy or 0.0
    floor = top + h
    low, high = sorted((confidence, accuracy))
    # A thousand samples must not make one of them vanish.
    count = max(_HISTOGRAM * part.n / most, 0.8)
    ground = floor + _BELOW + _HISTOGRAM
    x, y = left + w * confidence, floor - h * accuracy
    told = f"{_span(part)}: {part.n:,} samples, confidence {number(confidence)}"
    return {
        "title": f"{told}, accuracy {number(accuracy)}",
        "x": f"{left + w * part.low + 0.75:.1f}",
        "width": f"{max(w * (part.high - part.low) - 1.5, 0.5):.1f}",
        "y": f"{floor - h * low:.1f}",
        "height": f"{h * low:.1f}",
        "side": "over" if confidence > accuracy else "under",
        "gap_y": f"{floor - h * high:.1f}",
        "gap": f"{h * (high - low):.1f}",
        "point": f"M{x:.1f} {y:.1f}h.01",
        "count_y": f"{ground - count:.1f}",
        "count": f"{count:.1f}",
    }
