"""Labels that got worse between the last two runs of a history."""

from __future__ import annotations

from collections.abc import Sequence

from valor_cli.pipeline.history.runs import Run
from valor_cli.pipeline.history.values import Chosen, is_asked
from valor_cli.results import MetricResult
from valor_cli.results.history import LabelRegression


def regressions(runs: Sequence[Run], chosen: Chosen) -> list[LabelRegression]:
    """Labels that got worse between the last two runs, largest drop first; counts left out."""
    if len(runs) < 2:
        return []
    before, now = runs[-2:]
    primary = {tuple(name) for name in now.primary}
    found: list[LabelRegression] = []
    further: list[LabelRegression] = []
    for key, row in now.rows.items():
        other = before.rows.get(key)
        if other is None or row.label is None or row.slice is not None or row.direction is None:
            continue
        if row.value is None or other.value is None or row.unit == "count":
            continue
        if chosen.models and row.model not in chosen.models:
            continue
        if chosen.metrics and not is_asked(row, chosen, ()):
            continue
        change = row.value - other.value
        if (change < 0) == (row.direction == "higher") and change:
            # The further outputs of a metric, as recall at the threshold of the best F1, may fall
            # where nothing got worse.
            name = row.metric, row.output
            leads = bool(chosen.metrics) or row.output == "value" or name in primary
            one = _regression(row, row.label, other.value, row.value)
            (found if leads else further).append(one)
    return sorted(found or further, key=_drop, reverse=True)


def _regression(row: MetricResult, label: str, before: float, value: float) -> LabelRegression:
    return LabelRegression(
        label=label,
        metric=row.metric,
        output=row.output,
        model=row.model,
        parameters=row.parameters,
        unit=row.unit,
        direction=row.direction,
        before=before,
        value=value,
        change=value - before,
        n=row.n,
    )


def _drop(one: LabelRegression) -> float:
    """The size of a drop; of values beyond 1 as a share of the larger."""
    return abs(one.change) / max(abs(one.before), abs(one.value), 1.0)
