"""Reliability diagrams: confidence, accuracy and sample counts by bin."""

from __future__ import annotations

from valor_cli.reports.charts.lines import grid
from valor_cli.reports.charts.plots import PLOT, Drawing, class_of, rect, text, title
from valor_cli.reports.digests.formatting import number, words
from valor_cli.reports.digests.reliability import Bin, Reliability

KEY = (("over", "overconfident"), ("under", "underconfident"))

_HISTOGRAM = 40
_BELOW = 8
_HEIGHT = PLOT["top"] + PLOT["h"] + _BELOW + _HISTOGRAM + 36
_SHORT = {"expected_calibration_error": "ECE"}


def error_of(one: Reliability, metric: str) -> str:
    """The named calibration error of the bins; empty if there is none."""
    return "" if one.error is None else f"{_SHORT.get(metric, words(metric))} {number(one.error)}"


def span(part: Bin) -> str:
    """The confidence range of a bin, in words."""
    return f"{part.low:.3g} to {part.high:.3g}"


def reliability(one: Reliability, metric: str) -> Drawing:
    """Bars of accuracy with the gap to confidence, above the samples of each bin."""
    most = max([part.n for part in one.bins], default=0) or 1
    body = grid("confidence →", "accuracy", diagonal=True, below=_BELOW + _HISTOGRAM)
    body += f'<g class="grid">{text("gray: samples", 4, _HEIGHT - 6, "axis")}</g>'
    body += "".join(_bar(part, most, one.model) for part in one.bins if part.n)
    message = ", ".join(filter(None, (one.leaning, error_of(one, metric))))
    return Drawing(
        PLOT["width"],
        _HEIGHT,
        body,
        message,
        (one.model,),
        KEY,
    )


def _bar(part: Bin, most: int, model: int) -> str:
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    confidence, accuracy = part.confidence or 0.0, part.accuracy or 0.0
    floor = top + h
    low, high = sorted((confidence, accuracy))
    # A thousand samples must not make one of them vanish.
    count = max(_HISTOGRAM * part.n / most, 0.8)
    x, width = left + w * part.low + 0.75, max(w * (part.high - part.low) - 1.5, 0.5)
    side = "over" if confidence > accuracy else "under"
    message = f"{span(part)}: {part.n:,} samples, confidence {number(confidence)}"
    dot = f"M{left + w * confidence:.1f} {floor - h * accuracy:.1f}h.01"
    return (
        f"<g>{title(f'{message}, accuracy {number(accuracy)}')}"
        + rect(f"{class_of(model)} kept", x, floor - h * low, width, h * low)
        + rect(side, x, floor - h * high, width, h * (high - low))
        + f'<path class="{class_of(model)} dot" d="{dot}"/>'
        + rect("count", x, floor + _BELOW + _HISTOGRAM - count, width, count)
        + "</g>"
    )
