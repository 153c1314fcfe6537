"""Curves by label: precision and recall, F1, ROC and counts by threshold, and their charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.reports.charts.plots import PLOT, Column, grid, lined, listed, path, round_step, text
from valor_cli.reports.digests.formatting import clean, number
from valor_cli.reports.digests.naming import LABEL_KEY, Names
from valor_cli.reports.document import Chart
from valor_cli.results import CurveResult, MetricResult, RunResult
from valor_cli.results.identity import frozen

_AXES = ("recall", "precision")
"""The columns that make a curve one of precision and recall, whatever its metric is called."""

COUNTS = (
    "score_threshold",
    "tp",
    "fn_misclassifications",
    "fn_no_predictions",
    "fp_misclassifications",
    "fp_hallucinations",
)
"""The columns of counts by their reason; the last is there where things are found, not sorted."""

ROC = ("score", "false_positive_rate", "true_positive_rate")
"""The columns that make a curve a receiver operating characteristic."""

_SHARED = ("pr_curve_iou_threshold", "max_detections", LABEL_KEY)

Group = list[tuple[int, CurveResult]]
"""Curves of one label at one setting, with the position of their model."""

Line = tuple[Column, Column, Column, Column]
"""Thresholds, recall, precision and F1; empty what there is not."""


class Choice(Struct, frozen=True):
    """All curves of one label at one setting.

    Attributes:
        title: The label, and what else tells it from the others.
        label: As its rows have it; `metrics` are those that its curves are of.
        lines: Of precision and recall, by model.
        counts: Those that have `COUNTS`.
        rocs: Those that have `ROC`, and `areas` the area under each, by model.
    """

    title: str
    label: str | None
    metrics: frozenset[str]
    lines: tuple[tuple[int, Line], ...]
    counts: Group
    rocs: Group
    areas: Mapping[int, float | None]


def choices(result: RunResult) -> tuple[Choice, ...]:
    """Curves of the whole run and its labels, grouped by label."""
    groups = _choices(*(groups_of(result, needed) for needed in (_AXES, COUNTS[:-1], ROC)))
    rows = [first[0][1] for group in groups for first in [next(filter(None, group))]]
    several = len({row.metric for row in rows}) > 1 and len({row.label for row in rows}) < len(rows)
    names = Names((row.metric, row.parameters) for row in rows)
    areas = _auc(result)
    return tuple(
        Choice(
            title=_title(row, names, several),
            label=row.label,
            metrics=frozenset(one.metric for _, one in (*lines, *counts, *rocs)),
            lines=tuple((model, _line(one.points)) for model, one in lines),
            counts=counts,
            rocs=rocs,
            areas={model: areas.get(curve_of(one)) for model, one in rocs},
        )
        for (lines, counts, rocs), row in zip(groups, rows, strict=True)
    )


def _auc(result: RunResult) -> dict[object, float | None]:
    """The value of each metric that draws a receiver operating characteristic."""
    metrics = {row.metric for row in result.curves if {*ROC} <= set(row.points)}
    return {
        curve_of(row): row.value
        for row in result.metrics
        if row.metric in metrics and row.slice is None and row.output == "value"
    }


def curve_of(row: CurveResult | MetricResult) -> object:
    """What a curve shares with the value of its metric."""
    return row.metric, row.model, row.label, frozen(row.parameters)


def groups_of(result: RunResult, needed: Sequence[str]) -> list[Group]:
    """Curves of the whole run that have the columns, by metric, label and setting."""
    models = {model: index for index, model in enumerate(result.models)}
    groups: dict[tuple[object, ...], Group] = {}
    for row in result.curves:
        if row.slice is None and row.model in models and {*needed} <= set(row.points):
            key = (row.metric, row.label, frozen(row.parameters))
            groups.setdefault(key, []).append((models[row.model], row))
    return list(groups.values())


def _choices(*kinds: Sequence[Group]) -> list[tuple[Group, ...]]:
    """Curves shown together: of each kind, the next group of one label and setting.

    Choices are in the order of the first kind; those without a counterpart come last.
    """
    choices: dict[object, list[list[Group]]] = {}
    for kind, groups in enumerate(kinds):
        for group in groups:
            same = choices.setdefault(_of(group[0][1]), [])
            if all(choice[kind] for choice in same):
                same.append([[] for _ in kinds])
            next(choice for choice in same if not choice[kind])[kind] = group
    found = [tuple(choice) for same in choices.values() for choice in same]
    return sorted(found, key=lambda choice: not choice[0])


def _of(row: CurveResult) -> object:
    """What curves of different metrics must share to have one title."""
    return row.label, *map(row.parameters.get, _SHARED)


def _title(row: CurveResult, names: Names, several: bool) -> str:
    label = "all labels" if row.label is None else clean(row.label, 60)
    label = f"{clean(row.metric)}, {label}" if several else label
    detail = names.detail(row.metric, row.parameters)
    return f"{label} ({detail})" if detail else label


def _line(points: Mapping[str, Column]) -> Line:
    """Thresholds, recall, precision and F1 of either form of the curve."""
    thresholds = points.get("score_threshold") or points.get("score") or ()
    precision = points["precision"]
    if "tp" in points and "fp" in points:
        # Above the highest score nothing is predicted: a precision of 0/0 is no point of a curve.
        counts = zip(precision, points["tp"], points["fp"], strict=True)
        precision = [value if tp or fp else None for value, tp, fp in counts]
    f1 = points.get("f1", ()) if thresholds else ()  # nothing to draw it along
    return thresholds, points["recall"], precision, f1


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


def figures(choice: Choice, models: Sequence[str]) -> list[Chart]:
    """All charts of a label with a line per model."""
    drawn = ((kind, draw(choice, models)) for kind, draw in DRAWN.items())
    return [
        replace(chart, title=f"{HEADINGS[kind]}, {choice.title}", kind=kind)
        for kind, chart in drawn
        if chart is not None
    ]


def counted(choice: Choice, shown: Sequence[int], models: Sequence[str]) -> list[Chart]:
    """Two charts of counts per model; empty axes if the label has none."""
    top = ceiling(choice)
    found = dict(choice.counts)
    return [
        replace(
            counts_by_threshold(found.get(model), side, top),
            title=f"{HEADINGS[side]}, {models[model]}",
            kind=side,
            model=model,
        )
        for model in shown
        for side in SIDES
    ]


def precision_recall(choice: Choice, models: Sequence[str]) -> Chart | None:
    """Precision at each recall; None without such curves."""
    lines = [(m, path(recall, precision)) for m, (_, recall, precision, _) in choice.lines]
    told = (
        _told(models[m], _nearest(recall, 0.5, precision), "precision {1} at recall {0}")
        for m, (_, recall, precision, _) in choice.lines
    )
    return lined("pr", lines, listed(told)) if lines else None


def f1_by_threshold(choice: Choice, models: Sequence[str]) -> Chart | None:
    """F1 at each score threshold; None where there are no thresholds."""
    known = [(m, at, f1) for m, (at, _, _, f1) in choice.lines if f1]
    lines = [(m, path(at, f1)) for m, at, f1 in known]
    told = (_told(models[m], _best(at, f1), "best F1 {1} at threshold {0}") for m, at, f1 in known)
    return lined("f1", lines, listed(told)) if lines else None


def characteristic(choice: Choice, models: Sequence[str]) -> Chart | None:
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


def counts_by_threshold(points: CurveResult | None, side: str, top: float) -> Chart:
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
    return Chart(
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
