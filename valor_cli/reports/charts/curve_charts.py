"""Charts of curves: precision-recall, F1, ROC, and counts by threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from valor_cli.reports.charts.curves import COUNTS, ROC, Choice
from valor_cli.reports.charts.lines import grid, lined, listed
from valor_cli.reports.charts.plots import PLOT, Column, Drawing, path, round_step, text
from valor_cli.reports.digests.formatting import number
from valor_cli.results import CurveResult

HEADINGS = {
    "pr": "Precision and recall",
    "f1": "F1 by score threshold",
    "roc": "ROC",
    "truths": "Ground truths",
    "predictions": "Predictions",
}
"""What a chart is called, by kind."""

SIDES = {"truths": (1, 2, 3), "predictions": (1, 4, 5)}
"""The columns of `COUNTS` that are stacked: what became of the ground truths, of predictions."""

AREAS = {
    1: "true positive",
    2: "misclassification",
    3: "no prediction",
    4: "misclassification",
    5: "hallucination",
}
"""What an area is of, by its column of `COUNTS`; columns 2 and 4 share a colour."""


class Figure(Struct, frozen=True):
    """A chart of the page: kind, heading, and model if it is of counts."""

    kind: str
    title: str
    drawing: Drawing
    model: int = 0


def figures(choice: Choice, models: Sequence[str]) -> tuple[Figure, ...]:
    """All charts of a label with a line per model."""
    drawn = {kind: draw(choice, models) for kind, draw in DRAWN.items()}
    return tuple(
        Figure(kind, f"{HEADINGS[kind]}, {choice.title}", drawing)
        for kind, drawing in drawn.items()
        if drawing is not None
    )


def counted(choice: Choice, shown: Sequence[int], models: Sequence[str]) -> tuple[Figure, ...]:
    """Two charts of counts per model; empty axes if the label has none."""
    top = ceiling(choice)
    found = dict(choice.counts)
    return tuple(
        Figure(
            side,
            f"{HEADINGS[side]}, {models[model]}",
            counts_by_threshold(found.get(model), side, top),
            model,
        )
        for model in shown
        for side in SIDES
    )


def precision_recall(choice: Choice, models: Sequence[str]) -> Drawing | None:
    """Precision at each recall; None without such curves."""
    lines = [(m, path(recall, precision)) for m, (_, recall, precision, _) in choice.lines]
    told = (
        _told(models[m], _nearest(recall, 0.5, precision), "precision {1} at recall {0}")
        for m, (_, recall, precision, _) in choice.lines
    )
    return lined("pr", lines, listed(told)) if lines else None


def f1_by_threshold(choice: Choice, models: Sequence[str]) -> Drawing | None:
    """F1 at each score threshold; None where there are no thresholds."""
    known = [(m, at, f1) for m, (at, _, _, f1) in choice.lines if f1]
    lines = [(m, path(at, f1)) for m, at, f1 in known]
    told = (_told(models[m], _best(at, f1), "best F1 {1} at threshold {0}") for m, at, f1 in known)
    return lined("f1", lines, listed(told)) if lines else None


def characteristic(choice: Choice, models: Sequence[str]) -> Drawing | None:
    """The receiver operating characteristic; None without one."""
    lines = [(m, path(*(one.points[name] for name in ROC[1:]))) for m, one in choice.rocs]
    told = (
        f"{models[m]}: area under the curve {number(choice.areas[m])}"
        for m, _ in lines
        if choice.areas[m] is not None
    )
    return lined("roc", lines, listed(told)) if lines else None


DRAWN = {"pr": precision_recall, "f1": f1_by_threshold, "roc": characteristic}
"""How each kind of chart of a label is drawn."""


def counts_by_threshold(points: CurveResult | None, side: str, top: float) -> Drawing:
    """Stacked areas of the outcomes on one side of the data, by threshold.

    Args:
        points: A curve with `COUNTS`; None: the axes alone.
        side: "truths" or "predictions".
        top: Where the vertical axis ends.
    """
    areas = "" if points is None else _areas(points, side, top)
    body = f'<g class="areas">{areas}</g>'
    body += grid("threshold →", HEADINGS[side].lower(), levels=levels(top))
    body += '<g class="cursor"></g>'
    return Drawing(
        PLOT["width"],
        PLOT["height"],
        body,
        "" if points is None else _counted(points, side),
    )


def ceiling(choice: Choice) -> float:
    """The upper end of a label's count axes: a round number."""
    most = max(
        (sum(values) for _, one in choice.counts for side in SIDES for values in _rows(one, side)),
        default=1.0,
    )
    step = max(1.0, round_step(max(most, 1.0)))
    return step * -(-max(most, 1.0) // step)


def levels(top: float) -> str:
    """Horizontal gridlines of counts."""
    left, w, floor, h = PLOT["left"], PLOT["w"], PLOT["top"] + PLOT["h"], PLOT["h"]
    step = max(1.0, round_step(top))
    parts = []
    for i in range(int(top / step + 1.000001)):
        y = floor - h * i * step / top
        value = i * step
        name = f"{value:g}" if value < 10_000 else f"{value / 1000:g}k"
        parts.append(f'<path d="M{left} {y:.1f}h{w}"/>{text(name, left - 5, y + 4, anchor="end")}')
    return "".join(parts)


def _thresholds(points: CurveResult) -> list[float]:
    return [value or 0.0 for value in points.points[COUNTS[0]]]


def _areas(points: CurveResult, side: str, top: float) -> str:
    xs = _thresholds(points)
    # One threshold alone would be an area of no width.
    xs = xs if len(xs) > 1 else [xs[0] - 0.01, xs[0] + 0.01]
    below = [0.0] * len(xs)
    areas = []
    for at, column in _stacked(points, side):
        above = [base + (column[min(i, len(column) - 1)] or 0.0) for i, base in enumerate(below)]
        areas.append(f'<path class="a{at}" d="{_area(xs, above, below, top)}"/>')
        below = above
    return "".join(areas)


def _stacked(points: CurveResult, side: str) -> list[tuple[int, Column]]:
    named = [(at, points.points.get(COUNTS[at])) for at in SIDES[side]]
    return [(at, column) for at, column in named if column]


def _rows(points: CurveResult, side: str) -> Iterator[list[float]]:
    columns = [column for _, column in _stacked(points, side)]
    return ([value or 0.0 for value in row] for row in zip(*columns, strict=True))


def _area(xs: Sequence[float], above: Sequence[float], below: Sequence[float], top: float) -> str:
    left, w, floor, h = PLOT["left"], PLOT["w"], PLOT["top"] + PLOT["h"], PLOT["h"]

    def points(values: Sequence[float]) -> list[str]:
        return [
            f"{left + w * x:.1f} {floor - h * value / top:.1f}"
            for x, value in zip(xs, values, strict=True)
        ]

    return f"M{'L'.join([*points(above), *reversed(points(below))])}z"


def _counted(points: CurveResult, side: str) -> str:
    thresholds = _thresholds(points)
    index = min(range(len(thresholds)), key=lambda at: abs(thresholds[at] - 0.5), default=None)
    if index is None:
        return ""
    parts = (
        f"{AREAS[at]} {number(column[index], 'count')}" for at, column in _stacked(points, side)
    )
    return f"at threshold {number(thresholds[index])}: {', '.join(parts)}"


def _told(model: str, point: tuple[float, float] | None, words: str) -> str:
    return f"{model}: {words.format(*map(number, point))}" if point else ""


def _nearest(xs: Column, wanted: float, ys: Column) -> tuple[float, float] | None:
    known = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
    return min(known, key=lambda point: abs(point[0] - wanted), default=None)


def _best(xs: Column, ys: Column) -> tuple[float, float] | None:
    known = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
    return max(known, key=lambda point: point[1], default=None)
