"""Curve data of charts, by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from valor_cli.reports.charts.plots import PLOT, Column
from valor_cli.reports.digests.formatting import clean
from valor_cli.reports.digests.naming import LABEL_KEY, Names, frozen
from valor_cli.results import CurveResult, MetricResult, RunResult

LIMIT = 150_000
"""Numbers embedded at most, about 1 MB; the page says how many curves it left out."""

STATIC = 3
"""Charts drawn without the script."""

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

Lines = Sequence[Sequence[Sequence[int | float | None]]]

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


class Curves(Struct, frozen=True):
    """All curves of a run, by choice: those of one label.

    `data` is JSON made of numbers alone: {"plot", "columns", "curves", "counts", "rocs"}. The lists
    hold, for each title, a list by model: of curves [model, thresholds, recall, precision, f1], of
    counts [model, *`COUNTS`], of rocs [model, area or null, *`ROC`]; all but the model and the area
    are indexes into the columns, -1 for a column that there is not.

    Attributes:
        drawn: The choices that are drawn without scripts.
        counted: The models that have counts.
        reasons: Whether any counts tell hallucinations.
    """

    titles: tuple[str, ...]
    drawn: tuple[Choice, ...]
    data: str
    any_f1: bool
    any_pr: bool
    any_roc: bool
    reasons: bool
    counted: tuple[int, ...]
    total: int


def choices(result: RunResult) -> tuple[Choice, ...]:
    """Curves of the whole run and its labels, grouped by label."""
    groups = _choices(*(_groups(result, needed) for needed in (_AXES, COUNTS[:-1], ROC)))
    rows = [first[0][1] for group in groups for first in [next(filter(None, group))]]
    several = len({row.metric for row in rows}) > 1 and len({row.label for row in rows}) < len(rows)
    names = Names((row.metric, row.parameters) for row in rows)
    areas = _areas(result)
    return tuple(
        Choice(
            title=_title(row, names, several),
            label=row.label,
            metrics=frozenset(one.metric for _, one in (*lines, *counts, *rocs)),
            lines=tuple((model, _line(one.points)) for model, one in lines),
            counts=counts,
            rocs=rocs,
            areas={model: areas.get(_area(one)) for model, one in rocs},
        )
        for (lines, counts, rocs), row in zip(groups, rows, strict=True)
    )


def curves(result: RunResult) -> Curves:
    """The overall and per-label curves of all models."""
    found = choices(result)
    columns = Columns()
    drawn: list[list[list[int]]] = []
    counted: list[list[list[int]]] = []
    rocs: list[list[list[int | float | None]]] = []
    titles: list[str] = []
    for choice in found:
        if columns.size > LIMIT:
            break
        titles.append(choice.title)
        drawn.append([[model, *columns.indexes(line)] for model, line in choice.lines])
        counted.append(
            [
                [m, *columns.indexes([one.points.get(name, ()) for name in COUNTS])]
                for m, one in choice.counts
            ]
        )
        rocs.append(
            [
                [m, choice.areas[m], *columns.indexes([one.points[name] for name in ROC])]
                for m, one in choice.rocs
            ]
        )
    return Curves(
        titles=tuple(titles),
        drawn=found[: min(STATIC, len(titles))],
        data=columns.data(drawn, counted, rocs),
        any_f1=any(line[4] >= 0 for lines in drawn for line in lines),
        any_pr=any(drawn),
        any_roc=any(rocs),
        reasons=any(line[-1] >= 0 for lines in counted for line in lines),
        counted=tuple(sorted({line[0] for lines in counted for line in lines})),
        total=len(found),
    )


def _areas(result: RunResult) -> dict[object, float | None]:
    """The value of each metric that draws a receiver operating characteristic."""
    metrics = {row.metric for row in result.curves if {*ROC} <= set(row.points)}
    return {
        _area(row): row.value
        for row in result.metrics
        if row.metric in metrics and row.slice is None and row.output == "value"
    }


def _area(row: CurveResult | MetricResult) -> object:
    return row.metric, row.model, row.label, frozen(row.parameters)


def _groups(result: RunResult, needed: Sequence[str]) -> list[Group]:
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


class Columns:
    """Columns as JSON texts without duplicates, since thresholds are the same for every label."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self.size = 0

    def indexes(self, columns: Sequence[Column]) -> list[int]:
        """The index of each column; -1 for an empty one."""
        return [self._index(column) if column else -1 for column in columns]

    def _index(self, column: Column) -> int:
        text = ",".join(["null" if value is None else f"{value:.5g}" for value in column])
        if text not in self._known:
            self.size += len(column)
        return self._known.setdefault(text, len(self._known))

    def data(self, drawn: Lines, counted: Lines, rocs: Lines) -> str:
        """The JSON for the page's script."""
        listed = "],[".join(self._known)
        plot = ",".join(f'"{name}":{value}' for name, value in PLOT.items())
        kinds = zip(("curves", "counts", "rocs"), (drawn, counted, rocs), strict=True)
        lines = ",".join(
            f'"{name}":{lists}'.replace(" ", "").replace("None", "null") for name, lists in kinds
        )
        return f'{{"plot":{{{plot}}},"columns":[[{listed}]],{lines}}}'


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
