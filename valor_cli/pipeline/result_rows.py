"""Turn the findings of a metric into result rows, and define their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.kernels.columns.grouping import nulls
from valor_cli.metric import Call, Loaded
from valor_cli.pipeline.intervals.intervals import Around
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.slices.slices import Slice
from valor_cli.results import (
    FEW,
    AgreementResult,
    CoverageResult,
    CurveResult,
    ExampleResult,
    Findings,
    InsightResult,
    MetricInsight,
    MetricResult,
    MetricValue,
    Parameters,
    ParameterValue,
    ResampledResult,
    SamplesResult,
    Scalar,
    Status,
    TableResult,
)
from valor_cli.results.identity import ValueKey, value_key


def metric_row(
    call: Call, model: str, cut: str | None, value: MetricValue, around: Around, units: int
) -> MetricResult:
    """The row of a value; `units` is the number of items drawn per resample."""
    output = call.metric.output(value.output)
    few = min(units, units if value.n is None else value.n) < FEW
    return MetricResult(
        metric=call.metric.name,
        output=value.output,
        model=model,
        label=value.label,
        slice=cut,
        parameters=_narrowed(call.parameters, value.at),
        value=value.value,
        unit=output.unit,
        direction=output.better,
        n=value.n,
        interval=None if value.value is None else around.interval,
        undefined=value.undefined,
        method=None if value.value is None else around.method,
        caution="small_n" if few and value.value is not None else None,
    )


Row = TypeVar("Row", CurveResult, TableResult, SamplesResult, AgreementResult, ExampleResult)


def row_of(kind: type[Row], call: Call, model: str, found: Struct, **more: Any) -> Row:
    """What a metric found, with everything that identifies it.

    Args:
        kind: The row, whose fields are called as those of what was found.
        call, model: Whose it is.
        found: A curve, a table, values of samples, an agreement or an example.
        more: Fields that it does not have, or that are others in the row.
    """
    shared = [name for name in kind.__struct_fields__ if name in found.__struct_fields__]
    parameters = _narrowed(call.parameters, getattr(found, "at", {}))
    told = {"metric": call.metric.name, "model": model, "parameters": parameters, **more}
    return kind(**{**{name: getattr(found, name) for name in shared}, **told})


def insight_row(call: Call, model: str, found: MetricInsight) -> InsightResult:
    """The row of a metric's remark on a model."""
    return InsightResult(
        found.kind, call.metric.name, (model,), found.sample_ids, found.value, found.message
    )


LABELS = 200
"""Labels up to which they are compared one by one."""


class LabelMeasure:
    """The one measure by which labels are compared: the first that has a value of each.

    Their resamples are kept; those of every measure of every label would be most of a run's files.
    """

    def __init__(self) -> None:
        self._key: ValueKey | None = None

    def has(self, row: MetricResult, found: Findings) -> bool:
        """Whether a label's value is of it; `found` is all that its metric found."""
        if row.label is None or row.direction is None or row.unit != "fraction":
            return False
        key = value_key(row)
        if self._key is None and sum(one.label is not None for one in found.values) <= LABELS:
            self._key = key
        return key == self._key


def resampled_row(row: MetricResult, drawn: str, column: NDArray[np.float64]) -> ResampledResult:
    """The row of resampled values, (resamples,); `drawn` is the digest of the draws."""
    return ResampledResult(
        row.metric,
        row.output,
        row.model,
        row.label,
        row.slice,
        row.parameters,
        drawn,
        nulls(column),
    )


def coverage_row(
    call: Call, model: str, cut: str | None, statuses: Mapping[Status, int]
) -> CoverageResult:
    """The row with the number of samples by status."""
    total = sum(statuses.values())
    expected = total - statuses.get("not_applicable", 0)
    share = statuses.get("ok", 0) / expected if expected else None
    counts = {str(name): count for name, count in statuses.items()}
    return CoverageResult(call.metric.name, model, cut, call.parameters, total, counts, share)


def row_order(
    plan: Plan, loaded: Loaded[Any], slices: Iterable[Slice], values: Iterable[MetricResult]
) -> Callable[[Any], tuple[object, ...]]:
    """A sort key of rows: in the order of catalogue, config and files, totals first.

    Args:
        plan, loaded: What was computed, and from what.
        slices: Of the run.
        values: All of them; their labels may be others than those of the data.
    """
    metrics = {metric.name: at for at, metric in enumerate(plan.task.metrics)}
    outputs = {
        (metric.name, output.name): at
        for metric in plan.task.metrics
        for at, output in enumerate(metric.outputs)
    }
    models = {model: at for at, model in enumerate(loaded.datasets)}
    cuts = _positions(cut.name for cut in slices)
    named = {row.label for row in values if row.label is not None}
    labels = _positions([*loaded.labels, *sorted(named.difference(loaded.labels))])

    def key(row: Any) -> tuple[object, ...]:
        # Tables have no label, values of samples no slice; examples keep the metric's order.
        output = outputs[row.metric, row.output] if isinstance(row, MetricResult) else 0
        return (
            metrics[row.metric],
            models[row.model],
            cuts[getattr(row, "slice", None)],
            labels[getattr(row, "label", None)],
            [_sortable(row.parameters[name]) for name in sorted(row.parameters)],
            output,
        )

    return key


def _positions(names: Iterable[str]) -> dict[str | None, int]:
    """Position of each name; None, which means all, comes first."""
    return dict(zip((None, *names), count(-1), strict=False))


def _narrowed(
    parameters: Parameters, at: Mapping[str, Scalar | Sequence[Scalar]]
) -> dict[str, ParameterValue]:
    """All parameters, with the lists that `at` picks an element of replaced by it."""
    kept = {name: value for name, value in parameters.items() if name.removesuffix("s") not in at}
    return {**kept, **at}


def _sortable(value: ParameterValue) -> tuple[object, ...]:
    """Values of one parameter compare, whatever their kinds: nothing, numbers, texts, lists …"""
    if value is None:
        return (0,)
    if isinstance(value, (int, float)):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, Mapping):
        return (4, tuple((name, _sortable(value[name])) for name in sorted(value)))
    return (3, tuple(map(_sortable, value)))
