"""A run in; nothing out where all its numbers are finite, and a refusal where one is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Final

from valor_cli.results import RunResult, TableResult

_NO_FLOATS: Final = frozenset({str, int, bool, type(None)})


def refuse_nan(result: RunResult) -> None:
    """Stop at a stray NaN: orjson would write null, which says "undefined" and gives no reason.

    Raises:
        ValueError: A number is NaN or infinite; it says where.
    """
    for index, row in enumerate(result.metrics):
        numbers = (row.value, *(row.interval or ()), *row.parameters.values())
        if not finite(numbers):
            raise ValueError(f"metrics.{index} ({row.metric} {row.output}): NaN or infinity")
    _refuse_nan_of_findings(result)
    if not finite(result.settings.values()):
        raise ValueError("settings: NaN or infinity")
    for index, gate in enumerate(result.gates):
        if not finite((gate.value, gate.limit, *gate.parameters.values())):
            raise ValueError(f"gates.{index} ({gate.metric}): NaN or infinity")
    if not isfinite(result.run.duration_s):
        raise ValueError("run.duration_s: NaN or infinity")
    for index, used in enumerate(result.run.usage):
        if not finite((used.cost_usd, used.saved_usd)):
            raise ValueError(f"run.usage.{index} ({used.metric}): NaN or infinity")


def _refuse_nan_of_findings(result: RunResult) -> None:
    for index, curve in enumerate(result.curves):
        for name, column in curve.points.items():
            if not all(map(isfinite, filter(None, column))):
                raise ValueError(f"curves.{index}.points.{name} ({curve.metric}): NaN or infinity")
        if not finite(curve.parameters.values()):
            raise ValueError(f"curves.{index}.parameters ({curve.metric}): NaN or infinity")
    for index, table in enumerate(result.tables):
        if not finite((*table.parameters.values(), *map(list, _ratios(table)))):
            raise ValueError(f"tables.{index} ({table.metric}): NaN or infinity")
    for index, example in enumerate(result.examples):
        numbers = (example.value, *example.parameters.values())
        drawn = all(map(_outlined, (thing.geometry for thing in example.objects)))
        if not drawn or not finite((*numbers, *(thing.score for thing in example.objects))):
            raise ValueError(f"examples.{index} ({example.metric}): NaN or infinity")
    for index, covered in enumerate(result.coverage):
        if not finite((covered.coverage, *covered.parameters.values())):
            raise ValueError(f"coverage.{index} ({covered.metric}): NaN or infinity")
    for index, agreed in enumerate(result.agreements):
        numbers = (agreed.agreement, agreed.coefficient, agreed.spread, *agreed.values)
        if not finite((*numbers, *agreed.parameters.values())):
            raise ValueError(f"agreements.{index} ({agreed.metric}): NaN or infinity")
    for index, problem in enumerate(result.problems):
        if not finite((problem.value, problem.threshold, *problem.parameters.values())):
            raise ValueError(f"problems.{index} ({problem.kind}): NaN or infinity")
    for index, insight in enumerate(result.insights):
        if not finite((insight.value,)):
            raise ValueError(f"insights.{index} ({insight.kind}): NaN or infinity")


def _ratios(table: TableResult) -> Iterator[Iterable[float | None]]:
    """All columns of a table that hold fractions."""
    yield from table.ious or ()
    yield table.unmatched_ground_truth_ratios or ()
    yield table.unmatched_prediction_ratios or ()


def _outlined(geometry: Mapping[str, Any] | None) -> bool:
    """Whether all coordinates of a GeoJSON geometry are finite; any one spoils the sum."""
    if geometry is None:
        return True
    coordinates = geometry["coordinates"]
    parts = coordinates if geometry["type"] == "MultiPolygon" else [coordinates]
    return all(isfinite(sum(map(sum, ring))) for part in parts for ring in part)


def finite(values: Iterable[object]) -> bool:
    """Whether no number among these is NaN or infinite, in lists and mappings neither."""
    for value in values:
        # Exact types first: to ask for a mapping takes longer than all else.
        kind = type(value)
        if kind is float:
            if not isfinite(value):  # type: ignore[arg-type]
                return False
        elif kind in _NO_FLOATS:
            continue
        elif kind is dict or isinstance(value, Mapping):
            if not finite(value.values()):  # type: ignore[attr-defined]
                return False
        elif isinstance(value, list | tuple):
            if not finite(value):
                return False
        elif isinstance(value, float) and not isfinite(value):
            return False
    return True
