"""Line charts with axes from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from valor_cli.reports.charts.plots import PLOT, Drawing, class_of, text, ticks

Line = tuple[int, str]
"""A model's position, and its path."""

NAMES = {
    "pr": ("recall →", "precision"),
    "f1": ("threshold →", "F1"),
    "roc": ("false positive rate →", "true positive rate"),
}
"""Axis labels by kind of chart."""


def lined(
    kind: str, lines: Sequence[Line], told: str, names: tuple[str, str] = ("", "")
) -> Drawing:
    """One line per model; `names` labels axes that `NAMES` does not have."""
    x_name, y_name = NAMES.get(kind, names)
    paths = "".join(
        f'<path class="{class_of(model)}" data-model="{model}" d="{d}"/>' for model, d in lines
    )
    body = grid(x_name, y_name, diagonal=kind == "roc")
    body += f'<g class="lines">{paths}</g><g class="cursor"></g>'
    return Drawing(
        PLOT["width"],
        PLOT["height"],
        body,
        told,
        tuple(model for model, _ in lines),
    )


def grid(
    x_name: str,
    y_name: str,
    *,
    diagonal: bool = False,
    below: float = 0.0,
    levels: str | None = None,
) -> str:
    """Gridlines and their numbers.

    Args:
        x_name, y_name: Axis labels.
        diagonal: Whether to draw it.
        below: Additional distance of the horizontal axis labels from the axis.
        levels: Ready gridlines of another vertical axis than that from 0 to 1.
    """
    left, top, w, h = (PLOT[name] for name in ("left", "top", "w", "h"))
    floor = top + h + below
    parts = []
    for number, x, y in ticks():
        level = f"M{left} {y:.1f}h{w}" if levels is None else ""
        parts.append(f'<path d="M{x:.1f} {top}v{h}{level}"/>')
        parts.append(text(number, x, floor + 15, anchor="middle"))
        if levels is None:
            parts.append(text(number, left - 7, y + 4, anchor="end"))
    if levels is not None:
        parts.append(f'<g class="levels">{levels}</g>')
    if diagonal:
        parts.append(f'<path class="ideal" d="M{left} {top + h}L{left + w} {top}"/>')
    parts.append(text(x_name, left + w, floor + 32, "axis", "end"))
    parts.append(text(y_name, 4, 10, "axis"))
    return f'<g class="grid">{"".join(parts)}</g>'


def listed(parts: Iterable[str], most: int = 5) -> str:
    """A sentence that lists the first few models' parts."""
    known = [part for part in parts if part]
    more = f"; and {len(known) - most} more" if len(known) > most else ""
    return "; ".join(known[:most]) + more
