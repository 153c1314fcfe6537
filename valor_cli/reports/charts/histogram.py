"""Histograms of per-sample values, one row per model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from valor_cli.reports.charts.plots import class_of, extent, listed, rect, round_step, text, title
from valor_cli.reports.digests.formatting import number
from valor_cli.reports.document import Chart

BINS = 20

_ROW = 78
_HIGH = 48
_LEFT = 34
_WIDTH = 338


class Values(Struct, frozen=True):
    """Per-sample values of a model, without missing ones."""

    model: int
    values: Sequence[float]


class Bins(Struct, frozen=True):
    """Bin edges, and counts of each model."""

    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]


def binned(models: Sequence[Values], *, fraction: bool) -> Bins:
    """Bins of equal width, fractions from 0 to 1; the last includes its upper edge.

    Args:
        models: All models share their bins.
        fraction: Whether the values are parts of a whole.
    """
    known = [value for one in models for value in one.values]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if fraction and low >= 0 and high <= 1:
        low, high, parts = 0.0, 1.0, BINS
    else:
        step = round_step((high - low) or 1.0, BINS)
        low = math.floor(low / step) * step
        parts = max(math.ceil((high - low) / step), 1)
        high = low + parts * step
    size = (high - low) / parts
    counts = []
    for one in models:
        row = [0] * parts
        for value in one.values:
            # A value on an edge belongs to the bin that begins there, whatever rounding does.
            row[min(int((value - low) / size + 1e-9), parts - 1)] += 1
        counts.append(tuple(row))
    return Bins(tuple(low + size * i for i in range(parts + 1)), tuple(counts))


def histogram(
    shown: Sequence[Values],
    models: Sequence[str],
    *,
    name: str,
    unit: str = "fraction",
    threshold: float | None = None,
) -> Chart:
    """Bars of how many samples have which value.

    Args:
        shown: A row for each.
        models: Their names, cleaned.
        name: Of the values.
        unit: Of the values.
        threshold: The limit of the values, if any; drawn across all rows.
    """
    bins = binned(shown, fraction=unit == "fraction")
    low, high = bins.edges[0], bins.edges[-1]
    size = _WIDTH / (high - low)
    floor = _ROW * len(shown) + 6
    parts = [_axis(low, high, floor, unit, name)]
    for row, (one, counts) in enumerate(zip(shown, bins.counts, strict=True)):
        parts.append(_row(one, counts, bins.edges, models, row, unit))
    if threshold is not None and low <= threshold <= high:
        x = _LEFT + (threshold - low) * size
        parts.append(f'<path class="limit" d="M{x:.1f} 16V{floor}"/>')
        words = f"threshold {threshold:.4g}"
        side = "end" if x + extent(words) > _LEFT + _WIDTH else ""
        parts.append(text(words, x - 4 if side else x + 4, floor + 28, "quiet", side))
    return Chart(
        _LEFT + _WIDTH + 12,
        floor + 34,
        "".join(parts),
        listed((_told(one, models, unit, threshold) for one in shown), 6),
        tuple(one.model for one in shown),
    )


def _row(
    one: Values,
    counts: Sequence[int],
    edges: Sequence[float],
    models: Sequence[str],
    row: int,
    unit: str,
) -> str:
    floor = _ROW * (row + 1)
    size = _WIDTH / (edges[-1] - edges[0])
    most = max(counts, default=0) or 1
    parts = [text(models[one.model], _LEFT, floor - _HIGH - 12)]
    parts.append(text(_summary(one, unit), _LEFT + _WIDTH, floor - _HIGH - 12, "quiet", "end"))
    for at, count in enumerate(counts):
        if not count:
            continue
        x, width = _LEFT + (edges[at] - edges[0]) * size, (edges[at + 1] - edges[at]) * size
        # One sample among thousands is seen, too.
        high = max(_HIGH * count / most, 0.8)
        message = f"{number(edges[at], unit)} to {number(edges[at + 1], unit)}: {count:,}"
        bar = rect(class_of(one.model), x + 0.75, floor - high, max(width - 1.5, 0.5), high)
        parts.append(f"<g>{title(message)}{bar}</g>")
    parts.append(f'<path class="floor" d="M{_LEFT} {floor}h{_WIDTH}"/>')
    parts.append(text(f"{most:,}", _LEFT - 5, floor - _HIGH + 8, "quiet", "end"))
    return "".join(parts)


def _axis(low: float, high: float, floor: float, unit: str, name: str) -> str:
    step = round_step(high - low, 5)
    parts = []
    at = math.ceil(low / step) * step
    while at <= high + step / 1000:
        x = _LEFT + (at - low) / (high - low) * _WIDTH
        message = f"{at:.3g}" if abs(at) >= step / 1000 else "0"
        parts.append(f'<path d="M{x:.1f} 16V{floor}"/>')
        parts.append(text(message.replace("-", "−"), x, floor + 14, anchor="middle"))
        at += step
    parts.append(text(f"{name} →", _LEFT + _WIDTH, floor + 28, "axis", "end"))
    return f'<g class="grid">{"".join(parts)}</g>'


def _summary(one: Values, unit: str) -> str:
    if not one.values:
        return "no values"
    ordered = sorted(one.values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return f"n {len(ordered):,}, median {number(median, unit)}"


def _told(one: Values, models: Sequence[str], unit: str, threshold: float | None) -> str:
    message = f"{models[one.model]}: {_summary(one, unit)}"
    if threshold is None or not one.values:
        return message
    below = sum(value < threshold for value in one.values)
    return f"{message}, {below:,} below {threshold:.4g}"
