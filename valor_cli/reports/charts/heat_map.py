"""Heat map of a confusion matrix, coloured by the share of the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from valor_cli.reports.charts.plots import extent, fitted, listed, rect, text, title
from valor_cli.reports.digests.confusion import Confusion, Entry, matrix, top_pairs
from valor_cli.reports.digests.formatting import number, percent, short
from valor_cli.reports.document import Chart

_NAMES = 110
_CELL = 20
_TEXTS = 16
"""Labels up to which cells are wide enough for their numbers."""


def heated(
    confusion: Confusion,
    *,
    missed: bool,
    alone: bool,
    link: Callable[[str | None, str | None], str] | None = None,
) -> Chart:
    """The matrix, ground truth in rows.

    Args:
        confusion: One table.
        missed: Whether the column of ground truths without a prediction is shown.
        alone: Whether the row of predictions without a ground truth is shown.
        link: From the labels of a cell, None for nothing on that side, to where it leads.
    """
    shown = matrix(confusion)
    columns = [*shown.labels, *(["no prediction"] if missed else [])]
    heads = [*shown.labels, *(["no ground truth"] if alone else [])]
    widest = min(max(map(extent, (*columns, *heads)), default=0.0), _NAMES)
    numbers = len(columns) <= _TEXTS
    wide = 40 if numbers else _CELL
    left, top = widest + 26, widest + 26
    parts = [
        text("ground truth", 12, top + _CELL * len(heads) / 2, "quiet turned", "middle"),
        text("predicted", left + wide * len(columns) / 2, 10, "quiet", "middle"),
    ]
    parts[0] = _turned(parts[0], 12, top + _CELL * len(heads) / 2)
    for at, name in enumerate(columns):
        x = left + wide * at + wide / 2 + 4
        parts.append(_turned(text(fitted(name, _NAMES), x, top - 6), x, top - 6))
    for row, (name, entries) in enumerate(zip(heads, shown.rows, strict=False)):
        y = top + row * _CELL
        parts.append(text(fitted(name, _NAMES), left - 6, y + 14, "", "end"))
        for column, entry in enumerate(entries if missed else entries[:-1]):
            message = f"{name} as {columns[column]}: "
            cell = _cell(entry, left + wide * column, y, wide, message, numbers, confusion)
            if link is not None and entry.count:
                href = link(*(at_label(shown.labels, at) for at in (row, column)))
                cell = f'<a tabindex="-1" href="{escape(href)}">{cell}</a>' if href else cell
            parts.append(cell)
    pairs = (
        f"{pair.ground_truth} taken for {pair.prediction} {pair.amount}"
        for pair in top_pairs(confusion, 3)
    )
    return Chart(
        round(left + wide * len(columns) + 8),
        round(top + _CELL * len(heads) + 8),
        "".join(parts),
        f"most confused: {listed(pairs)}" if confusion.total else "",
        (),
        (("right", "right"), ("wrong", "wrong")),
    )


def at_label(labels: Sequence[str], at: int) -> str | None:
    """The label of a row or column; None for the last, which has none."""
    return labels[at] if at < len(labels) else None


def _turned(label: str, x: float, y: float) -> str:
    return label.replace("<text", f'<text transform="rotate(-90 {x:.1f} {y:.1f})"', 1)


def _cell(
    entry: Entry, x: float, y: float, wide: float, told: str, numbers: bool, confusion: Confusion
) -> str:
    if not entry.count:
        return rect("cell", x, y, wide, _CELL)
    share = percent(entry.share)
    amount = f"{entry.count:,}{' px' if confusion.pixels else ''}, {share}"
    if entry.iou is not None:
        amount += f", IoU {number(entry.iou)}"
    # The root tells small parts of a row from none.
    shade = f' fill-opacity="{entry.share**0.5:.2g}"'
    ground = rect(f"cell {entry.kind}", x, y, wide, _CELL).replace("/>", f"{shade}/>", 1)
    words = share.replace("%", "") if confusion.pixels else short(entry.count)
    inside = text(words, x + wide / 2, y + 14, "", "middle") if numbers else ""
    return f"<g>{title(told + amount)}{ground}{inside}</g>"
