"""Bar charts of model values with intervals."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.charts.plots import (
    class_of,
    extent,
    fitted,
    listed,
    multiples,
    rect,
    round_step,
    text,
    title,
)
from valor_cli.reports.digests.formatting import NO_VALUE, number, span
from valor_cli.reports.digests.grids import ARROWS, Cell, Measure
from valor_cli.reports.document import Chart

NAMES = 230
"""The widest column of names, in the chart's units."""

_BARS = 300
_STEP = 15
_BAR = 10
_BETWEEN = 8
_TOP = 8


class Bar(Struct, frozen=True):
    """A model's value; None where it is undefined."""

    model: int
    value: float | None
    interval: tuple[float, float] | None = None


class Group(Struct, frozen=True):
    """A measure or slice, with a bar for each model.

    Attributes:
        name: Of the group; `detail` is shown below it.
        scale: Groups of the same scale are drawn to the same one.
    """

    name: str
    bars: tuple[Bar, ...]
    unit: str = "fraction"
    detail: str = ""
    scale: str = ""


def group_of(
    measure: Measure, cells: Sequence[Cell], shown: Sequence[int], name: str = "", detail: str = ""
) -> Group:
    """The values of some models.

    Args:
        measure: Of the values.
        cells: One for each model of the run.
        shown: Positions of the models that are shown.
        name, detail: Of the group; empty: those of the measure.
    """
    bars = [Bar(at, cells[at].value, cells[at].interval) for at in shown]
    return Group(
        name or f"{measure.name} {ARROWS[measure.direction]}".rstrip(),
        tuple(bars),
        measure.unit,
        detail if name else measure.detail,
        "fraction" if measure.unit == "fraction" else str(measure),
    )


def barred(groups: Sequence[Group], models: Sequence[str], *, whole: bool = True) -> Chart:
    """The groups one below the other.

    Args:
        groups: Each with bars.
        models: Their names, cleaned.
        whole: Whether fractions are drawn on the way from 0 to 1, not to the largest of them.
    """
    ends = _ends(groups, whole)
    left = min(1.12 * max((extent(group.name) for group in groups), default=0.0), NAMES) + 12
    values = [_value(bar, group.unit) for group in groups for bar in group.bars]
    right = max(map(extent, values), default=0.0) + 12
    y = float(_TOP)
    parts = []
    for group in groups:
        parts.append(_group(group, models, ends[group.scale], left, y))
        y += _height(group) + _BETWEEN
    scales = {group.scale for group in groups}
    if len(scales) == 1:
        (scale,) = scales
        parts.insert(0, _axis(ends[scale], left, y - _BETWEEN, groups[0].unit))
    return Chart(
        round(left + _BARS + right),
        round(y + (18 if len(scales) == 1 else 0)),
        "".join(parts),
        listed((_told(group, models) for group in groups), 8),
        tuple(dict.fromkeys(bar.model for group in groups for bar in group.bars)),
    )


def _ends(groups: Sequence[Group], whole: bool) -> dict[str, tuple[float, float]]:
    """Where each scale begins and ends, zero among them."""
    found: dict[str, tuple[float, float]] = {}
    for group in groups:
        points = [bar.value for bar in group.bars if bar.value is not None]
        points += [end for bar in group.bars for end in bar.interval or ()]
        full = 1.0 if whole and group.unit == "fraction" else 0.0
        low, high = found.get(group.scale, (0.0, full))
        found[group.scale] = min([low, *points]), max([high, *points])
    return found


def _height(group: Group) -> float:
    return max(_STEP * len(group.bars), 24 if group.detail else _STEP)


def _group(
    group: Group, models: Sequence[str], ends: tuple[float, float], left: float, top: float
) -> str:
    low, high = ends
    size = _BARS / ((high - low) or 1.0)
    zero = left - low * size
    middle = top + _height(group) / 2
    name = fitted(group.name, left - 8)
    parts = [text(name, left - 8, middle + (-2 if group.detail else 4), "", "end")]
    if group.detail:
        parts.append(text(fitted(group.detail, left - 8), left - 8, middle + 10, "quiet", "end"))
    for at, bar in enumerate(group.bars):
        y = top + at * _STEP + (_height(group) - _STEP * len(group.bars)) / 2
        message = f"{models[bar.model]}, {group.name}: {_value(bar, group.unit)}"
        shapes = rect("track", left, y, _BARS, _BAR)
        if bar.value is not None:
            x = left + (bar.value - low) * size
            shapes += rect(class_of(bar.model), min(x, zero), y, abs(x - zero), _BAR)
        if bar.interval:
            a, b = (left + (end - low) * size for end in bar.interval)
            line = f"M{a:.1f} {y + 1:.1f}v8M{b:.1f} {y + 1:.1f}v8M{a:.1f} {y + 5:.1f}H{b:.1f}"
            shapes += f'<path class="whisker" d="{line}"/>'
        shapes += text(_value(bar, group.unit), left + _BARS + 8, y + 9)
        parts.append(f"<g>{title(message)}{shapes}</g>")
    return "".join(parts)


def _axis(ends: tuple[float, float], left: float, floor: float, unit: str) -> str:
    low, high = ends
    step = round_step(high - low, 5)
    size = _BARS / ((high - low) or 1.0)
    parts = []
    for at in multiples(low, high, step):
        x = left + (at - low) * size
        name = number(at, "count") if unit == "count" else f"{at:.3g}".replace("-", "−")
        parts.append(f'<path d="M{x:.1f} {_TOP - 4}V{floor:.1f}"/>')
        parts.append(text(name, x, floor + 13, anchor="middle"))
    return f'<g class="grid">{"".join(parts)}</g>'


def _value(bar: Bar, unit: str) -> str:
    if bar.value is None:
        return NO_VALUE
    return " ".join(filter(None, (number(bar.value, unit), span(bar.interval, unit))))


def _told(group: Group, models: Sequence[str]) -> str:
    values = ", ".join(f"{models[bar.model]} {_value(bar, group.unit)}" for bar in group.bars)
    return f"{group.name}: {values}"
