"""Chart of a value over runs: points, the band of its interval, and the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor, log10
from typing import TypeAlias

from valor_cli.reports.charts.plots import fitted, round_step, text, title
from valor_cli.reports.digests.formatting import number
from valor_cli.reports.document import Chart
from valor_cli.results.history import HistoryRow

Points: TypeAlias = Sequence[HistoryRow | None]
"""The value of each run; None where it has none."""

Ticks: TypeAlias = Sequence[tuple[str, str]]
"""Both lines of each run's name below the axis."""

Scale: TypeAlias = Callable[[float], float]
"""The height at which a value is drawn."""

WIDTH, HEIGHT = 380, 198
_LEFT, _TOP, _W, _H = 48, 8, 316, 136
_TICKS = 6
"""Runs that are named below the axis."""

_TICK = 62.0
"""Width of a name below the axis."""

_LEVELS = 4


def trend_chart(name: str, points: Points, messages: Sequence[str], ticks: Ticks) -> Chart:
    """A value over the runs, oldest first.

    Args:
        name: Of the value.
        points: The value of each run.
        messages: The same in words.
        ticks: Names of the runs.
    """
    low, high, step = _scale(points)
    xs = _places(len(ticks))
    unit = next((point.unit for point in reversed(points) if point is not None), "")

    def y(value: float) -> float:
        return _TOP + _H * (1 - (value - low) / (high - low))

    parts = [*_grid(low, high, step, y), *_axis(ticks, xs)]
    parts.append(_band(points, xs, y))
    parts += _gates(points, xs, y, unit)
    parts.append(_line(points, xs, y))
    for x, point, message in zip(xs, points, messages, strict=True):
        if point is not None and point.value is not None:
            kind = "point bad" if point.bad else "point"
            size = 4.5 if point.bad else 3.2
            mark = f'<circle class="{kind}" cx="{x:.1f}" cy="{y(point.value):.1f}" r="{size}"/>'
            parts.append(f"<g>{title(message)}{mark}</g>")
    known = [
        message
        for point, message in zip(points, messages, strict=True)
        if point is not None and point.value is not None
    ]
    told = "; ".join(known[-4:])
    return Chart(
        WIDTH,
        HEIGHT,
        "".join(parts),
        f"{name} over {len(ticks)} runs. {told}" if told else f"{name}: no value",
    )


def _scale(points: Points) -> tuple[float, float, float]:
    """Ends of the vertical axis around values, intervals and gates, and the step between levels."""
    ends = [
        end
        for point in points
        if point is not None
        for end in (
            *(point.value, point.interval_low, point.interval_high),
            *(point.gate_min, point.gate_max),
        )
        if end is not None
    ]
    least, most = min(ends, default=0.0), max(ends, default=1.0)
    if least == most:
        least, most = least - 0.5 * (abs(least) or 1.0), most + 0.5 * (abs(most) or 1.0)
    step = round_step(most - least, _LEVELS)
    return floor(least / step) * step, ceil(most / step) * step, step


def _places(count: int) -> list[float]:
    if count == 1:
        return [_LEFT + _W / 2]
    inside = 14
    return [_LEFT + inside + (_W - 2 * inside) * at / (count - 1) for at in range(count)]


def _grid(low: float, high: float, step: float, y: Scale) -> Iterator[str]:
    lines, names = [], []
    decimals = max(-floor(log10(step)), 0) if step < 1 else 0
    for at in range(round((high - low) / step) + 1):
        level = low + at * step
        lines.append(f"M{_LEFT} {y(level):.1f}h{_W}")
        name = f"{level:,.{decimals}f}".replace("-", "−")
        names.append(text(name, _LEFT - 7, y(level) + 4, anchor="end"))
    yield f'<g class="grid"><path d="{"".join(lines)}"/>{"".join(names)}</g>'


def _axis(ticks: Ticks, xs: Sequence[float]) -> Iterator[str]:
    """The names of some runs: the first, the last, and those between as far apart as possible."""
    count = min(_TICKS, len(ticks), int(_W // _TICK) + 1)
    shown = {round(at * (len(ticks) - 1) / max(count - 1, 1)) for at in range(count)}
    floor_y = _TOP + _H
    parts = []
    for at in sorted(shown):
        first, second = ticks[at]
        parts.append(f'<path d="M{xs[at]:.1f} {floor_y}v4"/>')
        parts.append(text(fitted(first, _TICK), xs[at], floor_y + 16, anchor="middle"))
        parts.append(text(fitted(second, _TICK), xs[at], floor_y + 29, anchor="middle"))
    parts.append(text("run →", _LEFT + _W, floor_y + 45, "axis", "end"))
    yield f'<g class="grid">{"".join(parts)}</g>'


def _band(points: Points, xs: Sequence[float], y: Scale) -> str:
    """The intervals of neighbouring runs as an area; of a run without neighbours as a line."""
    found = []
    for group in _groups(points, xs):
        ends = [(x, y(low), y(high)) for x, low, high in group]
        if len(ends) == 1:
            ((x, bottom, top),) = ends
            found.append(f"M{x - 3:.1f} {top:.1f}h6V{bottom:.1f}h-6Z")
            continue
        above = "L".join(f"{x:.1f} {top:.1f}" for x, _, top in ends)
        below = "L".join(f"{x:.1f} {bottom:.1f}" for x, bottom, _ in reversed(ends))
        found.append(f"M{above}L{below}Z")
    return f'<path class="band" d="{"".join(found)}"/>' if found else ""


def _groups(points: Points, xs: Sequence[float]) -> Iterator[list[tuple[float, float, float]]]:
    group: list[tuple[float, float, float]] = []
    for x, point in zip(xs, points, strict=True):
        if point is None or point.interval_low is None or point.interval_high is None:
            if group:
                yield group
            group = []
        else:
            group.append((x, point.interval_low, point.interval_high))
    if group:
        yield group


def _line(points: Points, xs: Sequence[float], y: Scale) -> str:
    parts, pen = [], "M"
    for x, point in zip(xs, points, strict=True):
        if point is None or point.value is None:
            pen = "M"
            continue
        parts.append(f"{pen}{x:.1f} {y(point.value):.1f}")
        pen = "L"
    return f'<path class="trend" d="{"".join(parts)}"/>'


def _gates(points: Points, xs: Sequence[float], y: Scale, unit: str) -> Iterator[str]:
    """The limit of each gate, run by run: it may have moved."""
    for sign, name in (("≥", "gate_min"), ("≤", "gate_max")):
        limits = [None if one is None else getattr(one, name) for one in points]
        known = [limit for limit in limits if limit is not None]
        if not known:
            continue
        half = (xs[1] - xs[0]) / 2 if len(xs) > 1 else 14.0
        steps = "".join(
            f"M{max(x - half, _LEFT):.1f} {y(limit):.1f}H{min(x + half, _LEFT + _W):.1f}"
            for x, limit in zip(xs, limits, strict=True)
            if limit is not None
        )
        yield f'<path class="limit" d="{steps}"/>'
        above = -4 if name == "gate_min" else 11
        told = f"gate {sign} {number(known[0], unit)}"
        yield text(told, _LEFT + 3, y(known[0]) + above, "gate")
