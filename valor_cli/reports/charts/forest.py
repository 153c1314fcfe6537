"""Forest plot of differences with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from valor_cli.reports.charts.plots import (
    extent,
    fitted,
    listed,
    multiples,
    rect,
    round_step,
    text,
    title,
)
from valor_cli.reports.digests.formatting import clean, number, signed
from valor_cli.reports.document import Chart
from valor_cli.results import ComparisonResult

Named: TypeAlias = tuple[str, ComparisonResult]
"""What is compared, in words, and how it came out."""

KEY = (("better", "better"), ("worse", "worse"), ("cannot-tell", "cannot tell"))

_NAMES = 190
_WIDTH = 260
_STEP = 32
_TOP = 10


def forest(rows: Sequence[Named]) -> Chart:
    """A row per comparison, with a scale per unit centred on zero."""
    left = min(max((extent(name) for name, _ in rows), default=0.0), _NAMES) + 12
    pairs = [_pair(one) for _, one in rows]
    left = max(left, min(max(map(extent, pairs), default=0.0), _NAMES) + 12)
    most = _most(rows)
    values = [_value(one) for _, one in rows]
    right = max(map(extent, values), default=0.0) + 16
    floor = _TOP + _STEP * len(rows)
    parts = [_axis(most, left, floor)]
    for at, ((name, one), pair, value) in enumerate(zip(rows, pairs, values, strict=True)):
        y = _TOP + at * _STEP
        parts.append(text(fitted(name, left - 10), left - 10, y + 12, "", "end"))
        parts.append(text(fitted(pair, left - 10), left - 10, y + 23, "quiet", "end"))
        shapes = _shapes(one, left, y + 14, most[one.unit])
        message = f"{name}, {pair}: {value}, {one.verdict}"
        parts.append(f"<g>{title(message)}{shapes}</g>")
        parts.append(text(value, left + _WIDTH + 12, y + 18, limit=90))
    return Chart(
        round(left + _WIDTH + right),
        floor + 22,
        "".join(parts),
        listed(
            (
                f"{name}, {pair}: {value}"
                for (name, _), pair, value in zip(rows, pairs, values, strict=True)
            ),
            8,
        ),
        (),
        KEY,
    )


def _pair(one: ComparisonResult) -> str:
    other = f"{clean(one.other, 40)} (baseline)" if one.baseline else clean(one.other, 40)
    return f"{clean(one.model, 40)} less {other}"


def _most(rows: Sequence[Named]) -> dict[str, float]:
    """By unit the largest distance from zero that is drawn."""
    found: dict[str, float] = {}
    for _, one in rows:
        ends = [abs(end) for end in (one.difference, *(one.interval or ())) if end is not None]
        found[one.unit] = max([found.get(one.unit, 0.0), *ends])
    return {unit: most or 1.0 for unit, most in found.items()}


def _shapes(one: ComparisonResult, left: float, y: float, most: float) -> str:
    zero, size = left + _WIDTH / 2, _WIDTH / 2 / most
    kind = one.verdict if one.verdict in ("better", "worse") else "cannot-tell"
    found = ""
    if one.interval:
        a, b = (zero + end * size for end in one.interval)
        line = f"M{a:.1f} {y - 4:.1f}v8M{b:.1f} {y - 4:.1f}v8M{a:.1f} {y:.1f}H{b:.1f}"
        found += f'<path class="span {kind}" d="{line}"/>'
    if one.difference is not None:
        found += rect(f"mark {kind}", zero + one.difference * size - 3.5, y - 3.5, 7, 7)
    return found


def _axis(most: dict[str, float], left: float, floor: float) -> str:
    zero = left + _WIDTH / 2
    parts = [f'<path class="zero" d="M{zero:.1f} {_TOP - 4}V{floor}"/>']
    if len(most) == 1:
        ((unit, end),) = most.items()
        step = round_step(end, 2)
        for at in multiples(-end, end, step):
            x = zero + at / end * _WIDTH / 2
            name = signed(at, unit).replace(".000", "") if at else "0"
            name = name.rstrip("0") if "." in name else name
            parts.append(f'<path d="M{x:.1f} {_TOP - 4}V{floor}"/>')
            parts.append(text(name, x, floor + 14, anchor="middle"))
    else:
        parts.append(text("0", zero, floor + 14, anchor="middle"))
    return f'<g class="grid">{"".join(parts)}</g>'


def _value(one: ComparisonResult) -> str:
    if one.difference is None:
        return f"{clean(one.reason, 60) if one.reason else 'no difference'}"
    told = signed(one.difference, one.unit)
    if one.interval:
        told += " [" + ", ".join(signed(end, one.unit) for end in one.interval) + "]"
    p = one.p if one.p_adjusted is None else one.p_adjusted
    return told if p is None else f"{told} p {number(p)}"
